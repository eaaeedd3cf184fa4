// One run of a plan, and what the engines share.
#ifndef DRYSTONE_HOST_EXECUTOR_RUN_H_
#define DRYSTONE_HOST_EXECUTOR_RUN_H_

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/status.h"
#include "drystone/session.h"
#include "executor/plan.h"
#include "executor/value.h"

struct DS_Cancellation {
  std::atomic<bool> is_set{false};
};

struct DS_Session {
  DS_Callbacks callbacks{};
  std::int32_t threads = 0;
  std::atomic<std::uint64_t> generation{1};  // of what plans keep; a reset begins a new one
};

struct DS_Plan {
  DS_Session& session;
  std::unique_ptr<drystone::host::executor::Program> program;
  std::mutex mutex;
  std::uint64_t generation = 0;                     // of `kept`; this and kept: under the mutex
  std::vector<std::vector<TF_Tensor*>> kept;        // outputs of steady instructions

  DS_Plan(DS_Session& session_, std::unique_ptr<drystone::host::executor::Program> program_)
      : session(session_), program(std::move(program_)) {}
  ~DS_Plan() { forget(); }
  DS_Plan(const DS_Plan&) = delete;
  DS_Plan& operator=(const DS_Plan&) = delete;
  void forget() noexcept;
};

namespace drystone::host::executor {

class Trace;

// Room for values of calls: taken and given back in the order of a stack.
class Stack {
 public:
  Stack() = default;
  ~Stack();
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  TF_Tensor** take(std::size_t count);
  void give(std::size_t count) noexcept;

 private:
  struct Page {
    TF_Tensor** values;
    std::size_t size;
    std::size_t used;
  };
  std::vector<Page> pages_;
  std::size_t current_ = 0;
  TF_Tensor* first_[256];
};

// A run of a plan: facts that every kernel call needs. Belongs to one thread.
class Run {
 public:
  // `trace`, unless NULL, takes a note of every instruction.
  Run(DS_Plan& plan, const DS_RunOptions* options, Trace* trace = nullptr);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Run a block. `values` are the block's, of which the feeds are set; they are used up. Sets
  // `fetches` to held tensors. Throws Failure; then nothing is held.
  void run(const Block& block, TF_Tensor** values, TF_Tensor** fetches);
  // The same for a call: `arguments` are moved into the callee.
  void call(const Instruction& in, std::int32_t block, TF_Tensor** arguments, std::int32_t count,
            TF_Tensor** results);

  // Compute an instruction of any kind but frames: `inputs` are borrowed, `outputs` set to held
  // tensors. `given_up`: per input, whether the caller drops it right after; NULL: none.
  void compute(const Block& block, const Instruction& in, TF_Tensor** inputs,
               const TF_Bool* given_up, TF_Tensor** outputs);

  // Fails with CANCELLED or DEADLINE_EXCEEDED when it is time. `in` is about to run.
  void check_time(const Instruction& in) {
    if (ticks_ != nullptr && ticks_->load(std::memory_order_relaxed) != tick_) poll(in);
    if (has_limits_) check_limits(in);
  }
  bool watches_time() const { return ticks_ != nullptr || has_limits_; }
  bool is_watched() const { return watches_time() || trace_ != nullptr; }
  Trace* trace() const { return trace_; }

  Stack stack;

 private:
  friend class DataflowRun;
  void run_in_order(const Block& block, TF_Tensor** values, TF_Tensor** fetches);
  void record_in_order(const Block& block, TF_Tensor** values);
  void advance(const Block& block, const Instruction& in, TF_Tensor** values);
  void kernel(const Instruction& in, TF_Tensor** inputs, const TF_Bool* given_up,
              TF_Tensor** outputs);
  void library_kernel(const Instruction& in, TF_Tensor** inputs, const TF_Bool* given_up,
                      TF_Tensor** outputs);
  void kernel_with_references(const Instruction& in, TF_Tensor** inputs, TF_Tensor** outputs);
  void callback(const Instruction& in, TF_Tensor** inputs, TF_Tensor** outputs);
  void steady(const Instruction& in, TF_Tensor** inputs, TF_Tensor** outputs);
  void choose(const Instruction& in, TF_Tensor** inputs, TF_Tensor** outputs);
  void loop(const Instruction& in, TF_Tensor** inputs, TF_Tensor** outputs);
  TF_Tensor* adapted(const Instruction& in, std::size_t k, const TF_Tensor* opaque,
                     TF_DataType dtype);
  void read_variables(const Block& block, const Instruction& in, TF_Tensor** inputs,
                      std::vector<TF_Tensor*>* read);
  TF_Tensor* adapted_variable(const TF_Tensor* opaque);
  // Whether a condition holds; `k` is its place among the inputs. Fails for a value that is none.
  bool holds(const Instruction& in, std::size_t k, const TF_Tensor* condition);
  std::int64_t remaining_ms() const;
  void poll(const Instruction& in);
  void check_limits(const Instruction& in);

  DS_Plan& plan_;
  const DS_Callbacks& callbacks_;
  void* run_context_ = nullptr;
  DS_KernelCall facts_{};
  bool has_limits_ = false;  // a cancellation or a deadline
  const std::atomic<std::uint32_t>* ticks_ = nullptr;  // where there is someone to ask
  std::uint32_t tick_ = 0;
  std::int32_t (*poll_)(void*) = nullptr;
  DS_Cancellation* cancellation_ = nullptr;
  Trace* trace_ = nullptr;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  int depth_ = 0;
  TF_Status status_;
};

// Drops the values that nobody needs after an instruction.
inline void drop_dead(const Block& block, const Instruction& in, TF_Tensor** values) noexcept {
  for (std::int32_t k = 0; k < in.dead_after.count; ++k) {
    const std::int32_t v = block.dead_after[static_cast<std::size_t>(in.dead_after.start + k)];
    drop(std::exchange(values[v], nullptr));
  }
}

// Whether a number or string chooses the true branch: TensorFlow's rule for If and While.
bool truth(const TF_Tensor& value);

// Runs blocks with frames (v1 control flow).
void run_dataflow(Run& run, const Block& block, TF_Tensor** values, TF_Tensor** fetches);

}  // namespace drystone::host::executor

#endif  // DRYSTONE_HOST_EXECUTOR_RUN_H_
