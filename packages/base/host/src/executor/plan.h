// A plan as the executor runs it: flat arrays, indices instead of names.
#ifndef DRYSTONE_HOST_EXECUTOR_PLAN_H_
#define DRYSTONE_HOST_EXECUTOR_PLAN_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.h"
#include "drystone_host/device.h"
#include "kernels/kernel.h"
#include "subgraph/operator.h"

namespace drystone::host::executor {

// PlanKind of plan.proto.
enum class Kind : std::uint8_t {
  kernel, switch_, merge, enter, exit, next_iteration, trigger, nothing, forward, constant, call,
  if_, case_, while_, session_constant, loop, transfer, copy, count
};

// Whether an instruction runs blocks.
inline bool is_call(Kind kind) {
  return (kind >= Kind::call && kind <= Kind::while_) || kind == Kind::loop;
}

struct ReleaseKernel {
  void operator()(DS_Kernel* kernel) const noexcept { kernel->release(); }
};
using KernelPtr = std::unique_ptr<DS_Kernel, ReleaseKernel>;

// A range of one of a block's arrays.
struct Slice {
  std::int32_t start = 0;
  std::int32_t count = 0;

  template <class T>
  std::span<const T> of(const std::vector<T>& all) const {
    return {all.data() + start, static_cast<std::size_t>(count)};
  }
  template <class T>
  std::span<T> of(std::vector<T>& all) const {
    return {all.data() + start, static_cast<std::size_t>(count)};
  }
};

struct Instruction {
  Kind kind = Kind::kernel;
  bool has_refs = false;      // a kernel of a library takes or gives references
  bool is_plain = false;      // a kernel of a library that is called at the least cost
  bool gives_up = false;      // an input's memory may become an output's
  bool is_constant = false;   // of enter; else: reads a variable that the plan does not change
  bool waits = false;         // of copy: what it fills is read before the run ends
  std::int16_t device = 0;    // 1 + its place in Program::devices; 0: the host
  std::int32_t callback = -1; // the embedder's kernel, where `kernel` is NULL
  std::int32_t fallback = -1; // the embedder's kernel for what `kernel` says is UNIMPLEMENTED
  Slice inputs;               // of Block::inputs
  Slice outputs;              // values
  Slice controls;             // of Block::controls
  Slice dead_after;           // of Block::dead_after: values that nothing needs after it
  Slice deref;                // of Block::deref: inputs that are read where they are references
  std::int32_t frame = -1;    // of enter: number of its name in the block
  std::int32_t session_constant = -1;  // number of its kept outputs in the session's plan
  KernelPtr kernel;
  bool reads_version = false;              // the executor reads a variable with its version
  bool reads_there = false;                // the executor reads a variable on the device
  TF_DataType value_type = TF_FLOAT;       // the variable's
  subgraph::OperatorPtr compiled;          // the executor calls what a backend compiled
  std::vector<std::int32_t> blocks;
  std::string node;
  std::string op;
};

struct Frames;
struct MicroBatches;
struct ParallelSchedule;

struct Block {
  Block();
  ~Block();
  Block(Block&&) noexcept;
  Block& operator=(Block&&) noexcept;

  std::string name;
  std::string whole_because;               // why batches do not run in micro-batches; for people
  std::int32_t feeds = 0;
  bool has_frames = false;                 // v1 control flow: the dataflow engine runs it
  std::int32_t lent_from = 0;              // feeds from this one on: the caller keeps and drops them
  std::vector<Instruction> instructions;
  std::vector<std::int32_t> inputs;        // values
  std::vector<TF_Bool> given_up;           // beside inputs: this is the last use of the value
  std::vector<std::int32_t> controls;      // instructions
  std::vector<std::int32_t> dead_after;    // values
  std::vector<std::int32_t> deref;         // inputs of an instruction
  std::vector<std::int32_t> fetches;       // values
  std::vector<bool> feed_is_used;          // of a block without frames
  std::vector<bool> feed_goes_to_devices;  // of a first block without frames: nothing of the host reads the feed
  std::vector<bool> fetch_moves;           // a fetch that takes the value, which no other needs
  std::vector<TF_Tensor*> initial;         // one per value: a constant, or NULL
  std::vector<std::string> frames;         // names
  std::vector<std::string> feed_names;
  std::vector<std::string> fetch_names;
  std::vector<TF_DataType> feed_types;
  std::unique_ptr<Frames> layout;          // of a block with frames
  std::unique_ptr<ParallelSchedule> parallel_schedule;      // of a block whose instructions may run at once
  std::unique_ptr<MicroBatches> micro_batches;            // of a first block that computes each example by itself

  std::int32_t values() const { return static_cast<std::int32_t>(initial.size()); }
  std::span<const std::int32_t> inputs_of(const Instruction& in) const {
    return in.inputs.of(inputs);
  }
};

// A device of a plugin that a program runs on.
struct ProgramDevice {
  std::string name;
  std::string type;
  DS_Device* device = nullptr;
};

// Everything of a PlanDef. Constants are held by it.
struct Program {
  Program() = default;
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  std::int32_t graph_def_version = 0;
  std::vector<Block> blocks;
  std::int32_t session_constants = 0;      // how many instructions keep their outputs
  std::vector<TF_Tensor*> held;
  std::vector<ProgramDevice> devices;      // of plugins, in the order in which instructions number them
  std::vector<std::string> plugins;        // untrusted files whose kernels it calls
};

// Reads a PlanDef. Fails with INVALID_ARGUMENT for bytes that are none, with numbers out of range
// or an order in which a block cannot run; UNIMPLEMENTED for a node without a kernel.
std::unique_ptr<Program> load(std::string_view bytes, std::span<TF_Tensor* const> constants,
                              bool has_callbacks);

// Works out where values die, for blocks without frames.
void plan_lifetimes(Block& block);

}  // namespace drystone::host::executor

#endif  // DRYSTONE_HOST_EXECUTOR_PLAN_H_
