// Over the network come the bits of Predictor::score(), whatever the batch, the place in it and the number of threads.
#include "refused.h"

namespace voxridge_test {

namespace {

void expect_parity(ModelKind kind, int64_t p, int64_t t, int n_threads) {
  ModelSpec spec;
  spec.kind = kind;
  spec.p = p;
  spec.t = t;
  spec.seed = static_cast<uint64_t>(100 * p + t);
  if (kind == ModelKind::logistic && t > 1) spec.shifts = random_rows(t, 1, 3);
  const std::shared_ptr<const ServedModel> model = make_model(spec);
  ServerOptions options;
  options.n_threads = n_threads;
  options.limits.max_body_bytes = int64_t{16} << 20;
  Server server(options, model);
  Client one(server.port()), two(server.port());
  const int64_t n = p < 100 ? 1700 : 300;
  const std::vector<double> rows = random_rows(n, p, spec.seed + 7);
  const bool logits = kind == ModelKind::logistic;
  const std::string json = logits ? "/v1/predict?logits=true" : "/v1/predict";
  int64_t batch = 1;
  for (int64_t first = 0; first < n; first += batch, batch = std::min<int64_t>(batch * 3 % 397 + 1, n - first)) {
    SCOPED_TRACE(first);
    const std::vector<double> some(rows.begin() + first * p, rows.begin() + (first + batch) * p);
    ASSERT_EQ(json_difference(*model, some, one.ask(post(json, "application/json", json_rows(some, p))), logits), "");
    ASSERT_EQ(binary_difference(*model, some, two.ask(predict_binary(binary_rows(some)))), "");
    if (logits) {
      const std::string request =
          post("/v1/predict_binary?output=logits", "application/octet-stream", binary_rows(some));
      ASSERT_EQ(binary_difference(*model, some, one.ask(request), true), "");
    }
  }
}

}  // namespace

TEST(HttpParity, OneTarget) {
  for (const int64_t p : {1, 7, 8, 9, 63, 1000}) expect_parity(ModelKind::logistic, p, 1, 1);
}

TEST(HttpParity, FiveTargets) {
  for (const int64_t p : {1, 7, 8, 9, 63, 1000}) expect_parity(ModelKind::logistic, p, 5, 2);
}

TEST(HttpParity, RidgeFits) {
  expect_parity(ModelKind::ridge, 9, 1, 1);
  expect_parity(ModelKind::ridge, 63, 64, 2);
}

// Scores of every size: probabilities of 0, of 1 and between; and features of every size.
TEST(HttpParity, ExtremeNumbers) {
  ModelSpec spec;
  spec.p = 1;
  spec.coefs = {1};
  const std::shared_ptr<const ServedModel> model = make_model(spec);
  Server server({}, model);
  Client client(server.port());
  std::vector<double> rows;
  for (double x = 5e-324; x < 1e308; x *= x < 1e-300 ? 1.7 : 3.3) rows.insert(rows.end(), {x, -x});
  for (double x = 30; x < 40; x += 0.1) rows.insert(rows.end(), {x, -x});
  for (double x = 700; x < 760; x += 1) rows.insert(rows.end(), {x, -x});
  for (size_t first = 0; first < rows.size(); first += 500) {
    const std::vector<double> some(rows.begin() + static_cast<int64_t>(first),
                                   rows.begin() + static_cast<int64_t>(std::min(first + 500, rows.size())));
    const std::string request = post("/v1/predict?logits=true", "application/json", json_rows(some, 1));
    ASSERT_EQ(json_difference(*model, some, client.ask(request), true), "");
    ASSERT_EQ(binary_difference(*model, some, client.ask(predict_binary(binary_rows(some)))), "");
  }
}

}  // namespace voxridge_test
