#include "permutation_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "philox.h"

namespace voxridge {

namespace {

constexpr uint64_t kFlips = 0;

// The four words of a word block of row r.
Philox::Block words(uint64_t seed, uint64_t stream, uint64_t word_block, int64_t r) {
  return Philox(seed, stream << 32 | word_block).block(static_cast<uint64_t>(r) + 1);
}

double factorial(int64_t n) {
  double out = 1;
  for (int64_t k = 2; k <= n; ++k) out *= static_cast<double>(k);
  return out;
}

// Takes the digit of a mixed radix number.
int64_t next_digit(int64_t& rank, double radix) {
  const int64_t size = static_cast<int64_t>(radix);
  const int64_t digit = rank % size;
  rank /= size;
  return digit;
}

// Order number `rank` of the units.
void unrank_order(int64_t rank, std::vector<int> units, int* to) {
  const int64_t n = static_cast<int64_t>(units.size());
  std::vector<int64_t> digits(n);
  for (int64_t k = 1; k <= n; ++k) {
    digits[n - k] = rank % k;
    rank /= k;
  }
  for (int64_t i = 0; i < n; ++i) {
    to[i] = units[digits[i]];
    units.erase(units.begin() + digits[i]);
  }
}

// Subset number `rank` of `k` out of `n` places.
void unrank_subset(int64_t rank, int64_t n, int64_t k, char* in) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t with = k > 0 ? static_cast<int64_t>(choose(n - i - 1, k - 1)) : 0;
    in[i] = rank < with;
    if (in[i]) {
      --k;
    } else {
      rank -= with;
    }
  }
}

}  // namespace

double choose(int64_t n, int64_t k) {
  if (k < 0 || k > n) return 0;
  k = std::min(k, n - k);
  double out = 1;
  for (int64_t i = 1; i <= k; ++i) out = std::round(out * static_cast<double>(n - k + i) / static_cast<double>(i));
  return out;
}

PermutationRows::PermutationRows(RowPlan plan) : plan_(std::move(plan)) {
  const auto& block = plan_.block;
  const int n_blocks = block.empty() ? 1 : 1 + *std::max_element(block.begin(), block.end());
  members_.resize(n_blocks);
  for (int64_t i = 0; i < plan_.n; ++i) members_[block.empty() ? 0 : block[i]].push_back(static_cast<int>(i));
  if (plan_.kind == Rearrangement::labels) {
    uniform_ = true;
    for (const auto& samples : members_) {
      unit_first_.push_back(plan_.first[samples[0]]);
      for (const int i : samples) uniform_ = uniform_ && plan_.first[i] == plan_.first[samples[0]];
    }
  }
  const auto count = [](const std::vector<char>& flags) { return std::count(flags.begin(), flags.end(), 1); };
  if (plan_.kind == Rearrangement::flips) {
    possible_ = std::exp2(static_cast<double>(plan_.whole ? n_blocks : plan_.n));
  } else if (labels_by_unit()) {
    possible_ = choose(n_blocks, count(unit_first_));
  } else if (plan_.whole) {
    possible_ = factorial(n_blocks);
  } else {
    for (const auto& samples : members_) {
      const int64_t size = static_cast<int64_t>(samples.size());
      int64_t in_first = 0;
      for (const int i : samples) in_first += !plan_.first.empty() && plan_.first[i];
      possible_ *= plan_.kind == Rearrangement::labels ? choose(size, in_first) : factorial(size);
    }
  }
}

void PermutationRows::flips(int64_t r, char* minus) const {
  const int64_t n = plan_.n;
  if (plan_.given.data != nullptr) {
    for (int64_t i = 0; i < n; ++i) minus[i] = plan_.given.col(i)[r] < 0;
    return;
  }
  if (plan_.exact) {
    for (int64_t i = 0; i < n; ++i) minus[i] = r >> (plan_.whole ? plan_.block[i] : i) & 1;
    return;
  }
  Philox::Block now = {};
  uint64_t at = UINT64_MAX;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t unit = plan_.whole ? plan_.block[i] : i;
    if (unit / 128 != at) now = words(plan_.seed, kFlips, at = unit / 128, r);
    minus[i] = now[unit % 128 / 32] >> (unit % 32) & 1;
  }
}

void PermutationRows::random_order(int64_t r, const std::vector<int>& units, int* to) const {
  thread_local std::vector<std::pair<uint64_t, int>> keys;
  keys.clear();
  Philox::Block now = {};
  int at = -1;
  for (const int unit : units) {
    if (unit / 2 != at) now = words(plan_.seed, plan_.stream, static_cast<uint64_t>(at = unit / 2), r);
    const int word = 2 * (unit % 2);
    keys.emplace_back(uint64_t{now[word]} << 32 | now[word + 1], unit);
  }
  std::sort(keys.begin(), keys.end());
  for (size_t k = 0; k < keys.size(); ++k) to[k] = keys[k].second;
}

// Order of whole blocks.
void PermutationRows::unit_order(int64_t r, int* to) const {
  std::vector<int> units(members_.size());
  std::iota(units.begin(), units.end(), 0);
  if (plan_.exact) {
    unrank_order(r, units, to);
  } else {
    random_order(r, units, to);
  }
}

void PermutationRows::order(int64_t r, int* from) const {
  if (plan_.given.data != nullptr) {
    for (int64_t i = 0; i < plan_.n; ++i) from[i] = plan_.given.col(i)[r] - 1;
    return;
  }
  std::vector<int> local;
  if (plan_.whole) {
    local.resize(members_.size());
    unit_order(r, local.data());
    for (size_t b = 0; b < members_.size(); ++b) {
      for (size_t k = 0; k < members_[b].size(); ++k) from[members_[b][k]] = members_[local[b]][k];
    }
    return;
  }
  int64_t rank = r;
  for (const auto& samples : members_) {
    local.resize(samples.size());
    if (plan_.exact) {
      unrank_order(next_digit(rank, factorial(static_cast<int64_t>(samples.size()))), samples, local.data());
    } else {
      random_order(r, samples, local.data());
    }
    for (size_t k = 0; k < samples.size(); ++k) from[samples[k]] = local[k];
  }
}

void PermutationRows::enumerated_labels(int64_t r, char* first) const {
  std::vector<char> in;
  if (labels_by_unit()) {
    const int64_t n = static_cast<int64_t>(unit_first_.size());
    in.resize(n);
    unrank_subset(r, n, std::count(unit_first_.begin(), unit_first_.end(), 1), in.data());
    for (int64_t i = 0; i < plan_.n; ++i) first[i] = in[plan_.block[i]];
    return;
  }
  int64_t rank = r;
  for (const auto& samples : members_) {
    const int64_t size = static_cast<int64_t>(samples.size());
    int64_t k = 0;
    for (const int i : samples) k += plan_.first[i];
    in.resize(size);
    unrank_subset(next_digit(rank, choose(size, k)), size, k, in.data());
    for (int64_t i = 0; i < size; ++i) first[samples[i]] = in[i];
  }
}

void PermutationRows::labels(int64_t r, char* first) const {
  const bool by_order = plan_.given.data != nullptr || !plan_.exact || (plan_.whole && !uniform_);
  if (!by_order) return enumerated_labels(r, first);
  thread_local std::vector<int> from;
  from.resize(plan_.n);
  order(r, from.data());
  for (int64_t i = 0; i < plan_.n; ++i) first[from[i]] = plan_.first[i];
}

}  // namespace voxridge
