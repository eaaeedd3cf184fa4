// See executor/tiles.h.
#include "executor/tiles.h"

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
std::int64_t room_of_machine() {
  static const std::int64_t room = [] {
#ifdef _SC_LEVEL3_CACHE_SIZE
    const std::int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (cache > 0) return std::clamp(cache / 4, kLeastRoom, kMostRoom);
#endif
    return kMostRoom;
  }();
  return room;
}

// Whether it is an array of so many rows for each of the examples.
bool is_batch(const TF_Tensor& tensor, std::int64_t rows, std::int64_t examples) {
  return tensor.memory != nullptr && !tensor.memory->opaque && !is_stored(tensor) &&
         !has_objects(tensor.dtype) && tensor.dims.rank() > 0 && tensor.dims[0] == rows * examples;
}

// How many examples the feeds hold; 0 where they are no batches, or of different sizes.
std::int64_t examples_in(const Tiles& tiles, TF_Tensor* const* feeds) {
  std::int64_t examples = -1;
  for (std::size_t k = 0; k < tiles.feeds.size(); ++k) {
    const std::int64_t rows = tiles.feeds[k];
    if (rows == 0) continue;
    if (feeds[k]->dims.rank() == 0) return 0;
    if (examples < 0) examples = feeds[k]->dims[0] / rows;
    if (!is_batch(*feeds[k], rows, examples)) return 0;
  }
  return std::max<std::int64_t>(examples, 0);
}

// The fetches of a batch, which tiles fill one after another.
class Fetched {
 public:
  Fetched(Stack& stack, const Tiles& tiles, std::int64_t examples)
      : tiles_(tiles), examples_(examples), all_(stack, tiles.fetches.size()) {}

  // Takes what a tile gave for examples from `first` on; false where it is no batch of them.
  bool take(Values& found, std::int64_t first, std::int64_t count) {
    for (std::size_t k = 0; k < tiles_.fetches.size(); ++k) {
      const std::int64_t rows = tiles_.fetches[k];
      if (rows == 0) {
        if (all_[k] == nullptr) all_[k] = std::exchange(found[k], nullptr);
      } else if (!is_batch(*found[k], rows, count) || !copy(*found[k], k, first * rows)) {
        return false;
      }
    }
    return true;
  }

  void give(TF_Tensor** fetches) {
    for (std::size_t k = 0; k < tiles_.fetches.size(); ++k) fetches[k] = std::exchange(all_[k], nullptr);
  }

 private:
  bool copy(const TF_Tensor& part, std::size_t k, std::int64_t row) {
    if (all_[k] == nullptr) all_[k] = whole(part, tiles_.fetches[k] * examples_);
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

  const Tiles& tiles_;
  std::int64_t examples_;
  Values all_;
};

// The feeds of one tile: rows of what is batches, and the rest as it is.
class TileFeeds {
 public:
  TileFeeds(const Tiles& tiles, TF_Tensor* const* feeds, std::int64_t first, std::int64_t count)
      : tiles_(tiles), all_(feeds, feeds + tiles.feeds.size()) {
    for (std::size_t k = 0; k < all_.size(); ++k) {
      const std::int64_t rows = tiles.feeds[k];
      if (rows == 0) continue;
      made_ = k + 1;
      all_[k] = nullptr;
      all_[k] = rows_of(*feeds[k], first * rows, count * rows);
    }
  }
  ~TileFeeds() {
    for (std::size_t k = 0; k < made_; ++k) {
      if (tiles_.feeds[k] != 0) drop(all_[k]);
    }
  }
  TileFeeds(const TileFeeds&) = delete;
  TileFeeds& operator=(const TileFeeds&) = delete;
  TF_Tensor* const* data() const { return all_.data(); }

 private:
  const Tiles& tiles_;
  std::vector<TF_Tensor*> all_;
  std::size_t made_ = 0;
};

bool ends_the_run(TF_Code code) {
  return code == TF_CANCELLED || code == TF_DEADLINE_EXCEEDED || code == TF_RESOURCE_EXHAUSTED;
}

// One batch, whose tiles threads take one after another.
class TileRun {
 public:
  TileRun(Run& run, const Block& block, TF_Tensor* const* feeds, std::int64_t examples)
      : run_(run), block_(block), feeds_(feeds), examples_(examples),
        fetched_(run.stack, *block.tiles, examples) {}

  // False where the batch must be run as a whole. Throws Failure where that would not help.
  bool go(std::int64_t tile, int threads, TF_Tensor** fetches) {
    tile_ = tile;
    if (threads > 1) {
      model_ = run_.for_another_thread();
      DS_ParallelForGrain(threads, 1, [](void* self, std::int64_t, std::int64_t) {
        static_cast<TileRun*>(self)->work();
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
    const TileFeeds own(*block_.tiles, feeds_, first, count);
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

// How many threads may each take tiles of their own: none while a run is recorded, whose notes are in
// order, nor where only the embedder's thread could do something.
int threads_for(const Run& run, const Block& block, TF_Tensor* const* feeds) {
  const bool is_opaque = std::any_of(feeds, feeds + block.feeds, [](const TF_Tensor* feed) {
    return feed->memory->opaque;
  });
  if (block.tiles->asks || is_opaque || run.trace() != nullptr) return 1;
  return std::min(run.threads_together(), DS_NumThreads());
}

// Whether so many tiles keep nearly all threads busy until the end.
bool shares_well(std::int64_t tiles, int threads) {
  constexpr std::int64_t kOfFive = 4;
  const std::int64_t rounds = (tiles + threads - 1) / threads;
  return tiles * 5 >= rounds * threads * kOfFive;
}

bool fits(const std::vector<std::int32_t>& rows, std::size_t count) {
  return rows.size() == count &&
         std::all_of(rows.begin(), rows.end(), [](std::int32_t r) { return r >= 0; }) &&
         std::any_of(rows.begin(), rows.end(), [](std::int32_t r) { return r > 0; });
}

// Whether it gives values and does nothing else, by a library's kernel or without any. What is steady is
// kept by the session: whoever computes it, does so once.
bool is_value(const Instruction& in) {
  switch (in.kind) {
    case Kind::kernel: return in.callback < 0;
    case Kind::forward: case Kind::steady: case Kind::constant: case Kind::nothing: return true;
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
    return value != nullptr && value->memory != nullptr && value->memory->opaque;
  });
}

}  // namespace

void check_tiles(Block& block) {
  const Tiles& tiles = *block.tiles;
  const bool holds = fits(tiles.feeds, static_cast<std::size_t>(block.feeds)) &&
                     fits(tiles.fetches, block.fetches.size()) && tiles.bytes > 0 && tiles.least > 0;
  if (!holds) fail(TF_INVALID_ARGUMENT, "the plan is malformed: its tiles do not fit its first block");
  const auto& all = block.instructions;
  const auto odd = std::find_if_not(all.begin(), all.end(), is_value);
  if (odd == all.end()) {
    block.tiles->asks = may_ask(block);
    return;
  }
  block.whole_because = odd->node + " (" + odd->op + ") has no kernel of a library";
  block.tiles.reset();
}

std::int64_t tile_of(const Tiles& tiles, std::int64_t examples, std::int64_t room, std::int64_t least) {
  const std::int64_t most = std::max<std::int64_t>(room / tiles.bytes, 1);
  if (most >= examples || most < least) return examples;
  for (std::int64_t tile = most; 2 * tile >= most && tile >= least; --tile) {
    if (examples % tile == 0) return tile;  // kernels keep weights for each shape that they meet
  }
  const std::int64_t count = (examples + most - 1) / most;
  return (examples + count - 1) / count;
}

bool run_in_tiles(Run& run, const Block& block, TF_Tensor* const* feeds, std::int64_t wanted,
                  TF_Tensor** fetches) {
  const Tiles& tiles = *block.tiles;
  const std::int64_t examples = wanted < 0 ? 0 : examples_in(tiles, feeds);
  const std::int64_t room = wanted > 0 ? wanted : room_of_machine();
  const std::int64_t least = wanted > 0 ? 1 : tiles.least;  // whoever asks for tiles gets them
  if (examples <= 1 || examples <= room / tiles.bytes) return false;
  int threads = threads_for(run, block, feeds);
  std::int64_t tile = tile_of(tiles, examples, room / threads, least);
  if (!shares_well((examples + tile - 1) / tile, threads)) {
    threads = 1;
    tile = tile_of(tiles, examples, room, least);
  }
  return tile < examples && TileRun(run, block, feeds, examples).go(tile, threads, fetches);
}

}  // namespace drystone::host::executor
