// Running a plan on some of its examples at a time.
//
// A plan says of its first block that it computes each example of a batch by itself: what one example
// gives depends on no other. Values of a whole batch are too large for the caches: each layer would
// write them to memory, and the next one read them from there. In tiles of a few examples they stay.
#ifndef DRYSTONE_HOST_EXECUTOR_TILES_H_
#define DRYSTONE_HOST_EXECUTOR_TILES_H_

#include <cstdint>
#include <vector>

#include "executor/plan.h"

namespace drystone::host::executor {

class Run;

struct Tiles {
  std::vector<std::int32_t> feeds;    // rows along dimension 0 that one example has; 0: not its own
  std::vector<std::int32_t> fetches;  // the same
  std::int64_t bytes = 0;             // that values of one example take at once, at most
  std::int32_t least = 1;             // examples for which reading all constants again pays
  bool asks = false;                  // the embedder may have to do something
};

// Fails with INVALID_ARGUMENT unless the block's tiles fit its feeds and fetches. It loses them, and
// says so, where a node is not computed by a library's kernel: functions and control flow, whatever a
// plan says of them, and kernels of the embedder's, whose failures could not be taken back.
void check_tiles(Block& block);

// How many of so many examples to run at a time, for values of about `room` bytes: all of them where
// less than `least` have room.
std::int64_t tile_of(const Tiles& tiles, std::int64_t examples, std::int64_t room, std::int64_t least);

// Runs the block tile by tile, each thread its own where there are enough, for values of about so many
// bytes as are `wanted` (DS_SessionOptions.tile_bytes), and sets `fetches` to held tensors. False, and
// nothing is set, where it must be run as a whole: the feeds are not batches of as many examples each,
// tiles do not pay, or something went wrong of which a whole run should tell. Throws Failure where
// time, memory or the caller ended it.
bool run_in_tiles(Run& run, const Block& block, TF_Tensor* const* feeds, std::int64_t wanted,
                  TF_Tensor** fetches);

}  // namespace drystone::host::executor

#endif  // DRYSTONE_HOST_EXECUTOR_TILES_H_
