#include "bootstrap_draws.h"

#include <algorithm>
#include <utility>

#include "philox.h"

namespace voxridge {

namespace {

constexpr uint64_t kBootstrap = 2;  // the stream

// floor((high 2^32 + low) units / 2^64), for units below 2^32.
int64_t unit_of(uint32_t high, uint32_t low, uint64_t units) {
  return static_cast<int64_t>((high * units + (low * units >> 32)) >> 32);
}

}  // namespace

Resamples::Resamples(ResamplePlan plan) : plan_(std::move(plan)) {
  if (plan_.block.empty()) return;
  members_.resize(1 + *std::max_element(plan_.block.begin(), plan_.block.end()));
  for (int64_t i = 0; i < plan_.n; ++i) members_[plan_.block[i]].push_back(i);
}

RowList Resamples::drawn(int64_t b) const {
  if (b == 0) return row_range(0, plan_.n);
  RowList out;
  out.reserve(plan_.n);
  if (plan_.given.data != nullptr) {
    for (int64_t i = 0; i < plan_.n; ++i) out.push_back(plan_.given.col(i)[b - 1] - 1);
    return out;
  }
  const int64_t units = members_.empty() ? plan_.n : static_cast<int64_t>(members_.size());
  Philox::Block words = {};
  for (int64_t i = 0; i < units; ++i) {
    if (i % 2 == 0) {
      words = Philox(plan_.seed, kBootstrap << 32 | static_cast<uint64_t>(i / 2)).block(static_cast<uint64_t>(b));
    }
    const size_t high = 2 * (i % 2);
    const int64_t unit = unit_of(words[high], words[high + 1], static_cast<uint64_t>(units));
    if (members_.empty()) {
      out.push_back(unit);
    } else {
      out.insert(out.end(), members_[unit].begin(), members_[unit].end());
    }
  }
  return out;
}

Resample Resamples::operator()(int64_t b) const {
  std::vector<double> counts(plan_.n, 0.0);
  for (const int64_t row : drawn(b)) ++counts[row];
  Resample out;
  for (int64_t i = 0; i < plan_.n; ++i) {
    if (counts[i] == 0) continue;
    out.rows.push_back(i);
    out.counts.push_back(counts[i]);
    out.size += counts[i];
  }
  return out;
}

}  // namespace voxridge
