// See executor/tiles.h.
#include "executor/tiles.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/failure.h"
#include "core/stored.h"
#include "executor/root_values.h"
#include "executor/run.h"

namespace drystone::host::executor {
namespace {

constexpr std::int64_t kLeastRoom = 4 << 20;   // bytes
constexpr std::int64_t kMostRoom = 16 << 20;

// Half of the last cache, which other threads and the weights need, too.
std::int64_t room_of_machine() {
  static const std::int64_t room = [] {
#ifdef _SC_LEVEL3_CACHE_SIZE
    const std::int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (cache > 0) return std::clamp(cache / 2, kLeastRoom, kMostRoom);
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
  std::int64_t examples = 0;
  for (std::size_t k = 0; k < tiles.feeds.size(); ++k) {
    const std::int64_t rows = tiles.feeds[k];
    if (rows == 0) continue;
    if (examples == 0 && feeds[k]->dims.rank() > 0) examples = feeds[k]->dims[0] / rows;
    if (!is_batch(*feeds[k], rows, examples)) return 0;
  }
  return examples;
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
    return new_tensor(part.dtype, dims.data(), part.dims.rank());
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

}  // namespace

void check_tiles(Block& block) {
  const Tiles& tiles = *block.tiles;
  const auto fits = [](const std::vector<std::int32_t>& rows, std::size_t count) {
    return rows.size() == count &&
           std::all_of(rows.begin(), rows.end(), [](std::int32_t r) { return r >= 0; }) &&
           std::any_of(rows.begin(), rows.end(), [](std::int32_t r) { return r > 0; });
  };
  const bool holds = fits(tiles.feeds, static_cast<std::size_t>(block.feeds)) &&
                     fits(tiles.fetches, block.fetches.size()) && tiles.bytes > 0 &&
                     tiles.least > 0 && !block.has_frames;
  if (!holds) fail(TF_INVALID_ARGUMENT, "the plan is malformed: its tiles do not fit its first block");
  const auto asks = std::find_if(
      block.instructions.begin(), block.instructions.end(),
      [](const Instruction& in) { return in.kind == Kind::kernel && in.callback >= 0; });
  if (asks == block.instructions.end()) return;
  block.whole_because = asks->node + " (" + asks->op + ") has no kernel of a library";
  block.tiles.reset();
}

std::int64_t tile_of(const Tiles& tiles, std::int64_t examples, std::int64_t room) {
  const std::int64_t bytes = room > 0 ? room : room_of_machine();
  const std::int64_t least = room > 0 ? 1 : tiles.least;
  const std::int64_t most = std::max<std::int64_t>(bytes / tiles.bytes, 1);
  if (most >= examples || most < least) return examples;
  for (std::int64_t tile = most; 2 * tile >= most && tile >= least; --tile) {
    if (examples % tile == 0) return tile;  // kernels keep weights for each shape that they meet
  }
  const std::int64_t count = (examples + most - 1) / most;
  return (examples + count - 1) / count;
}

bool run_in_tiles(Run& run, const Block& block, TF_Tensor* const* feeds, std::int64_t room,
                  TF_Tensor** fetches) {
  const Tiles& tiles = *block.tiles;
  const std::int64_t examples = examples_in(tiles, feeds);
  if (room < 0 || examples <= 1) return false;
  const std::int64_t tile = tile_of(tiles, examples, room);
  if (tile >= examples) return false;
  Fetched fetched(run.stack, tiles, examples);
  try {
    for (std::int64_t first = 0; first < examples; first += tile) {
      const std::int64_t count = std::min(tile, examples - first);
      const TileFeeds own(tiles, feeds, first, count);
      Values found(run.stack, block.fetches.size());
      RootValues values(run.stack, block, own.data());
      run.run(block, values.data(), found.data());
      if (!fetched.take(found, first, count)) return false;
    }
  } catch (const Failure& failure) {
    if (ends_the_run(failure.code)) throw;
    return false;  // the whole run fails as well, and names the shapes that its caller knows
  }
  fetched.give(fetches);
  return true;
}

}  // namespace drystone::host::executor
