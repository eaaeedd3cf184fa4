// Where the instructions of a block with v1 control flow run: its frames, worked out once.
#ifndef DRYSTONE_HOST_EXECUTOR_FRAMES_H_
#define DRYSTONE_HOST_EXECUTOR_FRAMES_H_

#include <cstdint>
#include <vector>

#include "executor/plan.h"

namespace drystone::host::executor {

// A value goes to an input of an instruction, or becomes a fetch: consumer -1 - k.
struct Edge {
  std::int32_t output = 0;
  std::int32_t consumer = 0;
  std::int32_t slot = 0;
};

// What has arrived for an instruction in an iteration.
struct Arrivals {
  std::int32_t missing = 0;
  std::int32_t dead = 0;
  std::int32_t live = -1;  // of a merge: the input that came first
  std::int32_t has_run = 0;
};

struct FrameShape {
  std::int32_t parent = -1;
  std::int32_t name = -1;
  std::int32_t enters = 0;
  std::int32_t slots = 0;              // inputs of its instructions
  std::vector<Arrivals> initial;       // by place of an instruction in the frame
};

// A block's edges by producer, and its frames.
struct Frames {
  explicit Frames(const Block& block);

  std::vector<Slice> edges_of;          // per instruction, of `edges`
  std::vector<Edge> edges;              // sorted by output
  std::vector<Slice> control_edges_of;  // per instruction, of `control_edges`
  std::vector<std::int32_t> control_edges;
  std::vector<std::vector<Edge>> feed_edges;
  std::vector<std::int32_t> sources;
  std::vector<FrameShape> shapes;       // 0: the root
  std::vector<std::int32_t> frame_of;   // per instruction
  std::vector<std::int32_t> place;      // per instruction, in its frame
  std::vector<std::int32_t> slot;       // per instruction, of its first input in its frame
  std::vector<std::int32_t> child;      // per enter: the frame that it leads to

 private:
  void connect(const Block& block);
  void find_frames(const Block& block);
  std::int32_t child_of(std::int32_t parent, std::int32_t name);
};

}  // namespace drystone::host::executor

#endif  // DRYSTONE_HOST_EXECUTOR_FRAMES_H_
