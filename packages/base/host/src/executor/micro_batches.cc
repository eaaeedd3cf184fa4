// See executor/micro_batches.h.
#include "executor/micro_batches.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "core/failure.h"
#include "core/stored.h"
#include "executor/root_values.h"
#include "executor/run.h"
#include "threads/pool.h"

namespace drystone::host::executor {
namespace {

constexpr std::int64_t kLeastRoom = 4 << 20;   // bytes
constexpr std::int64_t kMostRoom = 8 << 20;

// A quarter of the last cache, which other threads, packed weights and scratch memory need, too.
std::int64_t bytes_of_caches() {
  static const std::int64_t budget = [] {
#ifdef _SC_LEVEL3_CACHE_SIZE
    const std::int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (cache > 0) return std::clamp(cache / 4, kLeastRoom, kMostRoom);
#endif
    return kMostRoom;
  }();
  return budget;
}

// Whether it is an array of so many rows for each of the examples.
bool is_batch(const TF_Tensor& tensor, std::int64_t rows, std::int64_t examples) {
  return tensor.memory != nullptr && !tensor.memory->opaque && !is_stored(tensor) &&
         !has_objects(tensor.dtype) && tensor.dims.rank() > 0 && tensor.dims[0] == rows * examples;
}

// How many examples the feeds hold; 0 where they are no batches, or of different sizes.
std::int64_t examples_in(const MicroBatches& micro_batches, TF_Tensor* const* feeds) {
  std::int64_t examples = -1;
  for (std::size_t k = 0; k < micro_batches.feeds.size(); ++k) {
    const std::int64_t rows = micro_batches.feeds[k];
    if (rows == 0) continue;
    if (feeds[k]->dims.rank() == 0) return 0;
    if (examples < 0) examples = feeds[k]->dims[0] / rows;
    if (!is_batch(*feeds[k], rows, examples)) return 0;
  }
  return std::max<std::int64_t>(examples, 0);
}

// The fetches of a batch, which micro_batches fill one after another.
class Fetched {
 public:
  Fetched(Stack& stack, const MicroBatches& micro_batches, std::int64_t examples)
      : micro_batches_(micro_batches), examples_(examples), all_(stack, micro_batches.fetches.size()) {}

  // Takes what a micro_batch gave for examples from `first` on; false where it is no batch of them.
  bool take(Values& found, std::int64_t first, std::int64_t count) {
    for (std::size_t k = 0; k < micro_batches_.fetches.size(); ++k) {
      const std::int64_t rows = micro_batches_.fetches[k];
      if (rows == 0) {
        if (all_[k] == nullptr) all_[k] = std::exchange(found[k], nullptr);
      } else if (!is_batch(*found[k], rows, count) || !copy(*found[k], k, first * rows)) {
        return false;
      }
    }
    return true;
  }

  void give(TF_Tensor** fetches) {
    for (std::size_t k = 0; k < micro_batches_.fetches.size(); ++k) fetches[k] = std::exchange(all_[k], nullptr);
  }

 private:
  bool copy(const TF_Tensor& part, std::size_t k, std::int64_t row) {
    if (all_[k] == nullptr) all_[k] = whole(part, micro_batches_.fetches[k] * examples_);
    const TF_Tensor& to = *all_[k];
    const int rank = part.dims.rank();
    if (to.dtype != part.dtype || rank != to.dims.rank() ||
        !std::equal(part.dims.data() + 1, part.dims.data() + rank, to.dims.data() + 1)) {
      return false;
    }
    const std::size_t bytes = static_cast<std::size_t>(part.count()) * stored_size(part.dtype);
    if (bytes == 0) return true;
    const std::size_t before = bytes / static_cast<std::size_t>(part.dims[0]) * static_cast<std::size_t>(row);
    std::memcpy(static_cast<char*>(to.memory->data) + before, part.memory->data, bytes);
    return true;
  }

  static TF_Tensor* whole(const TF_Tensor& part, std::int64_t rows) {
    std::vector<std::int64_t> dims(part.dims.data(), part.dims.data() + part.dims.rank());
    dims[0] = rows;
    return new_tensor_that_fits(part.dtype, dims.data(), part.dims.rank());
  }

  const MicroBatches& micro_batches_;
  std::int64_t examples_;
  Values all_;
};

// The feeds of one micro_batch: rows of what is batches, and the rest as it is.
class MicroBatchFeeds {
 public:
  MicroBatchFeeds(const MicroBatches& micro_batches, TF_Tensor* const* feeds, std::int64_t first, std::int64_t count)
      : micro_batches_(micro_batches), all_(feeds, feeds + micro_batches.feeds.size()) {
    for (std::size_t k = 0; k < all_.size(); ++k) {
      const std::int64_t rows = micro_batches.feeds[k];
      if (rows == 0) continue;
      made_ = k + 1;
      all_[k] = nullptr;
      all_[k] = rows_of(*feeds[k], first * rows, count * rows);
    }
  }
  ~MicroBatchFeeds() {
    for (std::size_t k = 0; k < made_; ++k) {
      if (micro_batches_.feeds[k] != 0) drop(all_[k]);
    }
  }
  MicroBatchFeeds(const MicroBatchFeeds&) = delete;
  MicroBatchFeeds& operator=(const MicroBatchFeeds&) = delete;
  TF_Tensor* const* data() const { return all_.data(); }

 private:
  const MicroBatches& micro_batches_;
  std::vector<TF_Tensor*> all_;
  std::size_t made_ = 0;
};

bool ends_the_run(TF_Code code) {
  return code == TF_CANCELLED || code == TF_DEADLINE_EXCEEDED || code == TF_RESOURCE_EXHAUSTED;
}

// One batch, whose micro_batches threads take one after another.
class MicroBatchRun {
 public:
  MicroBatchRun(Run& run, const Block& block, TF_Tensor* const* feeds, std::int64_t examples)
      : run_(run), block_(block), feeds_(feeds), examples_(examples),
        fetched_(run.stack, *block.micro_batches, examples) {}

  // False where the batch must be run as a whole. Throws Failure where that would not help.
  bool go(std::int64_t micro_batch, int threads, TF_Tensor** fetches) {
    tile_ = micro_batch;
    if (threads > 1) {
      model_ = run_.for_another_thread();
      DS_ParallelForGrain(threads, 1, [](void* self, std::int64_t, std::int64_t) {
        static_cast<MicroBatchRun*>(self)->work();
      }, this);
    } else {
      work();
    }
    if (error_ != nullptr) std::rethrow_exception(error_);
    if (fails_) return false;
    fetched_.give(fetches);
    return true;
  }

 private:
  void work() noexcept {
    try {
      std::unique_ptr<Run> own;
      if (!run_.is_on_its_thread()) own = model_->for_another_thread();
      while (!fails_) {
        const std::int64_t first = next_.fetch_add(tile_);
        if (first >= examples_) return;
        if (!compute(own == nullptr ? run_ : *own, first)) fails_ = true;
      }
    } catch (const Failure& failure) {
      // The whole run fails as well, and names the shapes that its caller knows.
      keep(ends_the_run(failure.code) ? std::current_exception() : nullptr);
    } catch (...) {
      keep(std::current_exception());
    }
  }

  bool compute(Run& run, std::int64_t first) {
    const std::int64_t count = std::min(tile_, examples_ - first);
    const MicroBatchFeeds own(*block_.micro_batches, feeds_, first, count);
    Values found(run.stack, block_.fetches.size());
    RootValues values(run.stack, block_, own.data());
    run.run(block_, values.data(), found.data());
    const std::lock_guard lock(mutex_);
    return fetched_.take(found, first, count);
  }

  void keep(std::exception_ptr error) noexcept {
    const std::lock_guard lock(mutex_);
    if (error_ == nullptr) error_ = std::move(error);
    fails_ = true;
  }

  Run& run_;
  std::unique_ptr<Run> model_;
  const Block& block_;
  TF_Tensor* const* feeds_;
  const std::int64_t examples_;
  std::int64_t tile_ = 0;
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> fails_{false};
  std::mutex mutex_;
  Fetched fetched_;           // this and what follows: under the mutex
  std::exception_ptr error_;
};

// How many threads may each take micro_batches of their own: none while a run is recorded, whose notes are in
// order, nor where only the embedder's thread could do something.
int threads_for(const Run& run, const Block& block, TF_Tensor* const* feeds) {
  if (block.micro_batches->asks || std::any_of(feeds, feeds + block.feeds, is_opaque) || run.trace() != nullptr) return 1;
  return std::min(run.threads_in_parallel(), DS_NumThreads());
}

// Whether so many micro_batches keep nearly all threads busy until the end.
bool shares_well(std::int64_t micro_batches, int threads) {
  constexpr std::int64_t kOfFive = 4;
  const std::int64_t rounds = (micro_batches + threads - 1) / threads;
  return micro_batches * 5 >= rounds * threads * kOfFive;
}

bool fits(const std::vector<std::int32_t>& rows, std::size_t count) {
  return rows.size() == count &&
         std::all_of(rows.begin(), rows.end(), [](std::int32_t r) { return r >= 0; }) &&
         std::any_of(rows.begin(), rows.end(), [](std::int32_t r) { return r > 0; });
}

// Whether it gives values and does nothing else, by a library's kernel or without any. What is constant in a session is
// kept by the session: it is computed once.
bool is_value(const Instruction& in) {
  switch (in.kind) {
    case Kind::kernel: return in.callback < 0;
    case Kind::forward: case Kind::session_constant: case Kind::constant: case Kind::nothing: return true;
    default: return false;
  }
}

// Whether the embedder may have to do something, on its thread.
bool may_ask(const Block& block) {
  const auto& all = block.instructions;
  const bool computes = std::any_of(all.begin(), all.end(), [](const Instruction& in) {
    return in.callback >= 0 || in.fallback >= 0;
  });
  return computes || std::any_of(block.initial.begin(), block.initial.end(), [](const TF_Tensor* value) {
    return value != nullptr && is_opaque(value);
  });
}

}  // namespace

void check_micro_batches(Block& block) {
  const MicroBatches& micro_batches = *block.micro_batches;
  const bool holds = fits(micro_batches.feeds, static_cast<std::size_t>(block.feeds)) &&
                     fits(micro_batches.fetches, block.fetches.size()) && micro_batches.bytes > 0 && micro_batches.least > 0;
  if (!holds) fail(TF_INVALID_ARGUMENT, "the plan is malformed: its micro-batches do not fit its first block");
  const auto& all = block.instructions;
  const auto odd = std::find_if_not(all.begin(), all.end(), is_value);
  if (odd == all.end()) {
    block.micro_batches->asks = may_ask(block);
    return;
  }
  block.whole_because = odd->node + " (" + odd->op + ") has no kernel of a library";
  block.micro_batches.reset();
}

std::int64_t micro_batch_size(const MicroBatches& micro_batches, std::int64_t examples, std::int64_t budget, std::int64_t least) {
  const std::int64_t most = std::max<std::int64_t>(budget / micro_batches.bytes, 1);
  if (most >= examples || most < least) return examples;
  for (std::int64_t micro_batch = most; 2 * micro_batch >= most && micro_batch >= least; --micro_batch) {
    if (examples % micro_batch == 0) return micro_batch;  // kernels keep weights for each shape that they meet
  }
  const std::int64_t count = (examples + most - 1) / most;
  return (examples + count - 1) / count;
}

bool run_in_micro_batches(Run& run, const Block& block, TF_Tensor* const* feeds, std::int64_t wanted,
                  TF_Tensor** fetches) {
  const MicroBatches& micro_batches = *block.micro_batches;
  const std::int64_t examples = wanted < 0 ? 0 : examples_in(micro_batches, feeds);
  const std::int64_t budget = wanted > 0 ? wanted : bytes_of_caches();
  const std::int64_t least = wanted > 0 ? 1 : micro_batches.least;  // a caller that asks for micro-batches gets them
  if (examples <= 1 || examples <= budget / micro_batches.bytes) return false;
  int threads = threads_for(run, block, feeds);
  std::int64_t micro_batch = micro_batch_size(micro_batches, examples, budget / threads, least);
  if (!shares_well((examples + micro_batch - 1) / micro_batch, threads)) {
    threads = 1;
    micro_batch = micro_batch_size(micro_batches, examples, budget, least);
  }
  return micro_batch < examples && MicroBatchRun(run, block, feeds, examples).go(micro_batch, threads, fetches);
}

}  // namespace drystone::host::executor
