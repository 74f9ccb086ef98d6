// Passes over the items of a collection, on threads that keep to the order of the items.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include "collection.h"
#include "threads.h"

namespace voxridge {

namespace {

constexpr std::chrono::milliseconds kLook(50);  // between two looks at the stop flag while waiting

// The pass has ended for this item: one before it has failed.
struct Ended {};

// Whose turn it is at every place. An item waits for the one before it only, and items start in order: whoever waits,
// waits for an item that is being read.
class Turns {
 public:
  Turns(int64_t n_items, int64_t n_rows) : next_(static_cast<size_t>(n_rows), 0), last_(n_items - 1) {}

  bool has_ended(int64_t turn) const {
    const std::lock_guard<std::mutex> guard(lock_);
    return turn > last_;
  }

  void wait(int64_t turn, const std::vector<int64_t>& places, const Control& control) {
    std::unique_lock<std::mutex> guard(lock_);
    const auto is_turn = [&](int64_t place) { return next_[place] == turn; };
    while (turn <= last_ && !std::all_of(places.begin(), places.end(), is_turn)) {
      changed_.wait_for(guard, kLook);
      control.check_stop();
    }
    if (turn > last_) throw Ended();
  }

  void pass_on(const std::vector<int64_t>& places) {
    {
      const std::lock_guard<std::mutex> guard(lock_);
      for (const int64_t place : places) ++next_[place];
    }
    changed_.notify_all();
  }

  // Items after this one end.
  void end_after(int64_t turn) {
    {
      const std::lock_guard<std::mutex> guard(lock_);
      last_ = std::min(last_, turn);
    }
    changed_.notify_all();
  }

 private:
  std::vector<int64_t> next_;  // by place: the turn that may use it
  int64_t last_;
  mutable std::mutex lock_;
  std::condition_variable changed_;
};

class Pass {
 public:
  Pass(const Collection& collection, std::vector<int64_t> order, VoxelRange voxels, const PassOptions& options,
       const UseItemRows& use, const Control& control)
      : collection_(collection),
        order_(std::move(order)),
        voxels_(voxels),
        options_(options),
        use_(use),
        control_(control),
        turns_(static_cast<int64_t>(order_.size()), most_rows()) {
    const int64_t n = std::clamp<int64_t>(control_.n_threads, 1, std::max<int64_t>(1, order_.size()));
    for (int64_t k = 0; k < n; ++k) readers_.emplace_back(collection_);
  }

  PassOutcome run() {
    parallel_for(static_cast<int64_t>(order_.size()), control_.n_threads, [&](int64_t turn, int worker) {
      if (turns_.has_ended(turn)) return;
      try {
        read(turn, readers_[static_cast<size_t>(worker)]);
      } catch (const Ended&) {
      } catch (...) {  // stopped, or out of memory: nobody goes on
        turns_.end_after(-1);
        throw;
      }
    });
    PassOutcome out;
    out.spoilt = spoilt_;
    for (const auto& [turn, error] : failed_) {
      out.failed.push_back({order_[turn], error});
      if (!options_.skip_failed) break;
    }
    return out;
  }

 private:
  int64_t rows_of(int64_t item) const {
    return options_.rows.within == Within::none ? collection_.items[item].n_rows() : 1;
  }

  int64_t most_rows() const {
    int64_t most = 0;
    for (const int64_t item : order_) most = std::max(most, rows_of(item));
    return most;
  }

  void read(int64_t turn, ItemReader& reader) {
    const int64_t item = order_[turn];
    std::vector<char> used(static_cast<size_t>(rows_of(item)), 0);
    try {
      const auto use = [&](const double* rows, const std::vector<int64_t>& places) {
        if (options_.in_order) turns_.wait(turn, places, control_);
        use_(item, rows, places);
        for (const int64_t place : places) used[place] = 1;
        if (options_.in_order) turns_.pass_on(places);
      };
      reader.read(item, voxels_, options_.rows, use, control_);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::file) throw;
      fail(turn, error, used);
    }
  }

  void fail(int64_t turn, const Error& error, const std::vector<char>& used) {
    {
      const std::lock_guard<std::mutex> guard(lock_);
      failed_.emplace(turn, error);
      spoilt_ = spoilt_ || std::find(used.begin(), used.end(), 1) != used.end();
    }
    if (!options_.skip_failed) {
      turns_.end_after(turn);
      return;
    }
    if (!options_.in_order) return;
    for (size_t place = 0; place < used.size(); ++place) {  // the items after it wait for its turns
      if (used[place]) continue;
      turns_.wait(turn, {static_cast<int64_t>(place)}, control_);
      turns_.pass_on({static_cast<int64_t>(place)});
    }
  }

  const Collection& collection_;
  const std::vector<int64_t> order_;
  const VoxelRange voxels_;
  const PassOptions& options_;
  const UseItemRows& use_;
  const Control& control_;
  Turns turns_;
  std::deque<ItemReader> readers_;  // one per thread
  std::mutex lock_;
  std::map<int64_t, Error> failed_;  // by turn
  bool spoilt_ = false;
};

}  // namespace

PassOutcome pass_over(const Collection& collection, const std::vector<char>& excluded, VoxelRange voxels,
                      const PassOptions& options, const UseItemRows& use, const Control& control) {
  std::vector<int64_t> order;
  for (size_t item = 0; item < collection.items.size(); ++item) {
    if (excluded.empty() || !excluded[item]) order.push_back(static_cast<int64_t>(item));
  }
  return Pass(collection, std::move(order), voxels, options, use, control).run();
}

}  // namespace voxridge
