// Factors in files: what is written is read, damage is noticed, and calls that read them have the bits of others.
#include "core/factor_files.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "common.h"

namespace voxridge_test {

namespace {

std::string new_folder(const char* name) {
  const std::string path = testing::TempDir() + "voxridge_factors_" + name;
  std::filesystem::remove_all(path);
  std::filesystem::create_directory(path);
  return path;
}

void expect_equal(const FoldFactor& a, const FoldFactor& b) {
  EXPECT_TRUE(same_bits(a.vectors, b.vectors));
  EXPECT_TRUE(same_bits(a.values, b.values));
  EXPECT_TRUE(same_bits(a.samples, b.samples));
  EXPECT_TRUE(same_bits(a.right, b.right));
  EXPECT_TRUE(same_bits(a.left, b.left));
  EXPECT_EQ(a.train_mean, b.train_mean);
  EXPECT_EQ(a.direct, b.direct);
  EXPECT_EQ(a.spans_samples, b.spans_samples);
  EXPECT_EQ(a.constant_value, b.constant_value);
}

FoldFactor some_factor() {
  FoldFactor factor;
  factor.vectors = normal_matrix(7, 3, 1);
  factor.values = arma::vec{3, 2, 0};
  factor.samples = normal_matrix(9, 3, 2);
  factor.right = normal_matrix(5, 3, 3);
  factor.left = normal_matrix(4, 3, 4);
  factor.train_mean = {1.5, -2, 1e300};
  factor.direct = true;
  factor.constant_value = 0.25;
  return factor;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

struct Answers {
  std::vector<int> chosen;
  arma::mat scores, coefs;
};

Answers answers_of(RidgePreparation& preparation, const Problem& problem, CvKind cv, Score score) {
  const Control control;
  RidgeCvOptions options;
  options.alphas = problem.alphas;
  options.cv = cv;
  options.score = score;
  Targets targets;
  targets.y = view_of(problem.y);
  targets.center = problem.intercept;
  Answers out;
  out.chosen.resize(problem.y.n_cols);
  out.scores.set_size(problem.alphas.size(), problem.y.n_cols);
  out.coefs.set_size(problem.x.n_cols, problem.y.n_cols);
  RidgeCvOutputs outputs;
  outputs.alpha_index = out.chosen.data();
  outputs.mean_scores = out.scores.memptr();
  outputs.coefs.kind = Coefs::primal;
  outputs.coefs.coefs = span_of(out.coefs);
  std::vector<double> intercept(problem.y.n_cols);
  if (problem.intercept) outputs.coefs.intercept = intercept.data();
  ridge_cv<double>(preparation, targets, options, outputs, control);
  return out;
}

}  // namespace

TEST(FactorFiles, WhatIsWrittenIsRead) {
  const std::string folder = new_folder("plain"), path = folder + "/one.factor";
  const FoldFactor factor = some_factor();
  write_factor(path, factor);
  expect_equal(read_factor(path), factor);
  write_factor(path, static_cast<const Factor&>(factor));
  FoldFactor without = factor;
  without.left.reset();
  without.train_mean.clear();
  without.direct = false;
  expect_equal(read_factor(path), without);
}

TEST(FactorFiles, EveryDamagedByteIsNoticed) {
  const std::string path = new_folder("damaged") + "/one.factor";
  write_factor(path, some_factor());
  const std::string bytes = bytes_of(path);
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    put_bytes(path, damaged);
    EXPECT_THROW(read_factor(path), Error) << i;
    if (i % 7 == 0) {
      put_bytes(path, bytes.substr(0, i));
      EXPECT_THROW(read_factor(path), Error) << i;
    }
  }
}

TEST(FactorFiles, SharedFactorsGiveTheBitsOfOnesOwn) {
  const Control control;
  int number = 0;
  for (const int64_t p : {6, 50}) {
    for (const bool intercept : {false, true}) {
      for (const double smallest : {0.0, 0.1}) {
        Problem problem = make_problem(30, p, 20, 5 + static_cast<uint64_t>(p));
        problem.folds = contiguous_folds(30, 4);
        problem.intercept = intercept;
        problem.alphas = {smallest, 1, 10};
        for (const CvKind cv : {CvKind::kfold, CvKind::loo}) {
          for (const Score score : {Score::r2, Score::correlation}) {
            const auto arranged = [&] {
              return cv == CvKind::kfold ? arrange_folds(30, problem.folds, true) : no_folds(30);
            };
            RidgePreparation own(view_of(problem.x), arranged(), intercept, control);
            const Answers want = answers_of(own, problem, cv, score);

            const std::string folder = new_folder(std::to_string(number++).c_str());
            const FactorDemand demand{cv, score, Coefs::primal, smallest};
            FactorKind kind;
            std::vector<int64_t> which;
            for (int64_t share = 0; share < 3; ++share) {  // by three processes
              RidgePreparation maker(view_of(problem.x), arranged(), intercept, control);
              which = maker.write_factors(demand, folder, share, 3, 1, kind, control);
            }
            RidgePreparation reader(view_of(problem.x), arranged(), intercept, control);
            reader.read_factors(kind, which, folder);
            for (int again = 0; again < 2; ++again) {  // the second call finds what the first has left
              const Answers got = answers_of(reader, problem, cv, score);
              EXPECT_EQ(got.chosen, want.chosen);
              EXPECT_TRUE(same_bits(got.scores, want.scores));
              EXPECT_TRUE(same_bits(got.coefs, want.coefs));
            }
          }
        }
      }
    }
  }
}

TEST(FactorFiles, AFactorThatWasNotMadeIsAnError) {
  const Control control;
  const Problem problem = make_problem(30, 6, 4, 1);
  const std::string folder = new_folder("missing");
  RidgePreparation reader(view_of(problem.x), arrange_folds(30, contiguous_folds(30, 3), true), false, control);
  EXPECT_THROW(reader.read_factors({}, {kAllRows}, folder), Error);
  Problem with_alphas = problem;
  with_alphas.alphas = {1};
  reader.read_factors({Form::primal, Route::eigen, 1.0}, {}, folder);
  EXPECT_THROW(answers_of(reader, with_alphas, CvKind::kfold, Score::r2), Error);
}

}  // namespace voxridge_test
