// Running a plan on some of its examples at a time.
//
// A plan says of its first block that it computes each example of a batch by itself: what one example
// gives depends on no other. Values of a whole batch are too large for the caches: each layer would
// write them to memory, and the next one read them from there. In micro_batches of a few examples they stay.
#ifndef DRYSTONE_HOST_EXECUTOR_MICRO_BATCHES_H_
#define DRYSTONE_HOST_EXECUTOR_MICRO_BATCHES_H_

#include <cstdint>
#include <vector>

#include "executor/plan.h"

namespace drystone::host::executor {

class Run;

struct MicroBatches {
  std::vector<std::int32_t> feeds;    // rows along dimension 0 that one example has; 0: not its own
  std::vector<std::int32_t> fetches;  // the same
  std::int64_t bytes = 0;             // that values of one example take at once, at most
  std::int32_t least = 1;             // examples for which reading all constants again pays
  bool asks = false;                  // the embedder may have to do something
};

// Fails with INVALID_ARGUMENT unless the block's micro_batches fit its feeds and fetches. It loses them, and
// says so, where a node is not computed by a library's kernel: functions and control flow, whatever a
// plan says of them, and kernels of the embedder's, whose failures could not be taken back.
void check_micro_batches(Block& block);

// How many of so many examples to run at a time, for values of about `budget` bytes: all of them where
// less than `least` have budget.
std::int64_t micro_batch_size(const MicroBatches& micro_batches, std::int64_t examples, std::int64_t budget, std::int64_t least);

// Runs the block micro_batch by micro_batch, each thread its own where there are enough, for values of about so many
// bytes as are `wanted` (DS_SessionOptions.micro_batch_bytes), and sets `fetches` to held tensors. False, and
// nothing is set, where it must be run as a whole: the feeds are not batches of as many examples each,
// micro_batches do not pay, or something went wrong of which a whole run should tell. Throws Failure where
// time, memory or the caller ended it.
bool run_in_micro_batches(Run& run, const Block& block, TF_Tensor* const* feeds, std::int64_t wanted,
                  TF_Tensor** fetches);

}  // namespace drystone::host::executor

#endif  // DRYSTONE_HOST_EXECUTOR_MICRO_BATCHES_H_
