// Running instructions of one block at once, where two measured runs say that it pays.
//
// A block without frames and without kernels of the embedder's is measured in its first runs: each
// instruction with all threads inside its kernel, and with one. From that a few segments of the block
// are chosen in which it is quicker to run several kernels at once, each on one thread, than one after
// another on all of them. All else goes on in order, and so does the whole block unless a few runs of
// both kinds show that the choice was right.
#ifndef DRYSTONE_HOST_EXECUTOR_PARALLEL_SCHEDULE_H_
#define DRYSTONE_HOST_EXECUTOR_PARALLEL_SCHEDULE_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "executor/plan.h"

namespace drystone::host::executor {

// Instructions [begin, end) of a block as a graph; numbers in it count from `begin`.
struct Segment {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  std::vector<std::int32_t> missing;   // per instruction: how many others it waits for
  std::vector<Slice> next_of;          // per instruction, of `next`: those that wait for it
  std::vector<std::int32_t> next;
  std::vector<std::int64_t> cost;      // nanoseconds on one thread
  std::vector<std::int64_t> priority;  // the same with all that must follow
  std::vector<TF_Bool> given_up;       // of the block's inputs from the first instruction's on
  std::vector<std::int32_t> dying;     // values that nothing needs after it
  std::vector<std::int32_t> uses;      // beside `dying`: instructions that take or make them
  std::vector<Slice> dying_of;         // per instruction, of `touched`
  std::vector<std::int32_t> touched;   // positions in `dying`
};

struct ParallelSchedule {
  enum class State : std::uint8_t { measuring, trying, in_order, chosen };
  std::atomic<State> state{State::measuring};
  std::vector<std::int32_t> maker;     // per value: the instruction, -1 for a feed
  std::vector<std::vector<std::int32_t>> waits_for;  // per instruction: others, before it
  std::mutex mutex;                    // the rest, while it is measured
  std::int32_t runs = 0;
  std::vector<std::int64_t> shared;    // nanoseconds with all threads inside kernels, the least seen
  std::vector<std::int64_t> alone;     // with one
  std::vector<Segment> segments;      // set before `trying`
  std::int64_t least_in_order = INT64_MAX;  // nanoseconds of the whole block, in runs that compare
  std::int64_t least_in_parallel = INT64_MAX;
};

// Gives blocks that may run so their ParallelSchedule.
void find_parallel_schedules(Program& program);

// The segments that pay with so many threads, from what was measured.
std::vector<Segment> choose_segments(const Block& block, const ParallelSchedule& measured, int threads);

}  // namespace drystone::host::executor

#endif  // DRYSTONE_HOST_EXECUTOR_PARALLEL_SCHEDULE_H_
