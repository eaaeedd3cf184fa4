// One run of a plan, and what the engines share.
#ifndef DRYSTONE_HOST_EXECUTOR_RUN_H_
#define DRYSTONE_HOST_EXECUTOR_RUN_H_

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/status.h"
#include "drystone/session.h"
#include "executor/devices.h"
#include "executor/plan.h"
#include "executor/run_stop.h"
#include "executor/stuck.h"
#include "executor/value.h"
#include "kernels/variable.h"

struct DS_Cancellation {
  std::atomic<bool> is_set{false};

  // By its owner and by runs on threads of their own, which may be left.
  void retain() noexcept { users_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  std::atomic<int> users_{1};
};

struct DS_Session {
  DS_Callbacks callbacks{};
  std::int32_t threads = 0;           // inside a kernel; 0: all
  std::int32_t inter_op_threads = 0;  // kernels at once; 0: as many as there are threads
  std::int64_t micro_batch_bytes = 0;        // of values of a micro-batch; 0: what caches hold; below: none
  std::atomic<std::uint64_t> generation{1};  // of what plans keep; a reset begins a new one
  DS_NodeStates states;                      // of kernels
  drystone::host::executor::IdleLanes lanes;
  drystone::host::executor::Stuck stuck;

  // By its owner and by its plans, which may outlive it in a run that was left.
  void retain() noexcept { users_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  std::atomic<int> users_{1};
};

struct DS_Plan {
  DS_Session& session;
  std::unique_ptr<drystone::host::executor::Program> program;
  std::mutex mutex;
  std::uint64_t generation = 0;                     // of `kept`; this and kept: under the mutex
  std::vector<std::vector<TF_Tensor*>> kept;        // outputs of session constants
  bool asks = false;                                // the embedder computes some of it
  std::atomic<std::int64_t> brief{-1};              // bytes of feeds with which a run was brief

  DS_Plan(DS_Session& session_, std::unique_ptr<drystone::host::executor::Program> program_);
  ~DS_Plan();
  DS_Plan(const DS_Plan&) = delete;
  DS_Plan& operator=(const DS_Plan&) = delete;
  void forget() noexcept;
  // By its owner and by runs that were left.
  void retain() noexcept { users_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  std::atomic<int> users_{1};
};

namespace drystone::host::executor {

class Recording;
class Trace;

// Room for values of calls: taken and given back in the order of a stack. What is not taken holds
// NULL. Belongs to a thread.
class Stack {
 public:
  Stack();
  ~Stack();
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  static Stack& of_thread();
  TF_Tensor** take(std::size_t count) {
    Page& page = pages_[current_];
    if (page.size - page.used < count) return take_elsewhere(count);
    TF_Tensor** out = page.values + page.used;
    page.used += count;
    return out;
  }
  // The last that were taken; they hold NULL.
  void give(std::size_t count) noexcept {
    while (pages_[current_].used == 0 && current_ > 0) --current_;
    pages_[current_].used -= count;
  }

 private:
  struct Page {
    TF_Tensor** values;
    std::size_t size;
    std::size_t used;
  };
  TF_Tensor** take_elsewhere(std::size_t count);
  std::vector<Page> pages_;
  std::size_t current_ = 0;
};

// Values for a scope: what is still in them is dropped.
class Values {
 public:
  Values(Stack& stack, std::size_t count) : stack_(stack), count_(count), at_(stack.take(count)) {}
  ~Values() {
    for (std::size_t k = 0; k < count_; ++k) {
      if (at_[k] != nullptr) drop(std::exchange(at_[k], nullptr));
    }
    stack_.give(count_);
  }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  TF_Tensor** data() { return at_; }
  TF_Tensor*& operator[](std::size_t k) { return at_[k]; }

 private:
  Stack& stack_;
  std::size_t count_;
  TF_Tensor** at_;
};

// A run of a plan: facts that every kernel call needs. Belongs to one thread.
class Run {
 public:
  // `trace`, unless NULL, takes a note of every instruction. `stop`: what may end it from elsewhere; NULL:
  // what ends the run that it is part of, if any.
  Run(DS_Plan& plan, const DS_RunOptions* options, Trace* trace = nullptr, RunStop* stop = nullptr);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Run a block. `values` are the block's, of which the feeds are set; what is left in them is the
  // caller's to drop. Sets `fetches` to held tensors. Throws Failure; then `fetches` hold nothing.
  void run(const Block& block, TF_Tensor** values, TF_Tensor** fetches);

  // Compute an instruction of any kind but frames: `inputs` are borrowed, `outputs` set to held
  // tensors. `given_up`: per input, whether the caller drops it right after; NULL: none. One that is
  // given up may be taken: its place holds NULL then.
  void compute(const Block& block, const Instruction& in, TF_Tensor** inputs,
               const TF_Bool* given_up, TF_Tensor** outputs);

  // Until devices have done what was put on their streams; fetches are whole then. Throws Failure.
  void wait_for_devices();

  // Fails with CANCELLED or DEADLINE_EXCEEDED when it is time. `in` is about to run.
  void check_time(const Instruction& in) {
    now_->store(&in, std::memory_order_relaxed);
    if (ticks_ != nullptr && ticks_->load(std::memory_order_relaxed) != tick_) poll(in);
    if (has_limits_) check_limits(in);
  }
  bool watches_time() const { return ticks_ != nullptr || has_limits_; }
  // What kernels may ask; NULL where nothing ends the run.
  RunStop* stop() { return watches_time() ? stop_ : nullptr; }
  bool is_watched() const { return watches_time() || trace_ != nullptr; }
  Trace* trace() const { return trace_; }

  // A thread that helps with this run needs facts of its own.
  bool is_on_its_thread() const { return thread_ == std::this_thread::get_id(); }
  std::unique_ptr<Run> for_another_thread() const;
  int threads_in_parallel() const;

  // Says how a plan runs that is part of this run.
  void lend(DS_RunOptions* options) const;

  Stack& stack;

 private:
  friend class DataflowRun;
  friend class Recording;
  class Depth;
  void run_in_order(const Block& block, TF_Tensor** values, TF_Tensor** fetches);
  void run_range(const Block& block, std::int32_t begin, std::int32_t end, TF_Tensor** values,
                 Recording* recording);
  bool run_in_parallel(const Block& block, TF_Tensor** values);
  void run_segments(const Block& block, TF_Tensor** values, int threads);
  bool try_in_parallel(const Block& block, TF_Tensor** values, int threads);
  bool measure(const Block& block, TF_Tensor** values, int threads);
  void advance(const Block& block, const Instruction& in, TF_Tensor** values);
  void compute_step(const Block& block, const Instruction& in, TF_Tensor** values);
  bool plain_kernel(const Block& block, const Instruction& in, TF_Tensor** values);
  void call(const Instruction& in, std::int32_t block, TF_Tensor** inputs, const TF_Bool* given_up,
            TF_Tensor** results);
  void kernel(const Instruction& in, TF_Tensor** inputs, const TF_Bool* given_up,
              TF_Tensor** outputs);
  bool compiled(const Instruction& in, TF_Tensor** inputs, TF_Tensor** outputs);
  bool computed(const Instruction& in, TF_Tensor* const* inputs, TF_Tensor** outputs);
  bool versioned(const Instruction& in, TF_Tensor** inputs, TF_Tensor** outputs);
  void read_there(const Instruction& in, TF_Tensor** inputs, TF_Tensor** outputs);
  kernels::VariablePtr variable_to_read(const Instruction& in, const TF_Tensor* handle);
  void library_kernel(const Instruction& in, TF_Tensor** inputs, const TF_Bool* given_up,
                      TF_Tensor** outputs);
  void copy(const Instruction& in, TF_Tensor** inputs, TF_Tensor** outputs);
  void device_kernel(const Instruction& in, TF_Tensor** inputs, const DS_KernelCall& facts, TF_Tensor** outputs);
  void put_there(const Instruction& in, TF_Tensor** outputs);
  void kernel_with_references(const Instruction& in, TF_Tensor** inputs, TF_Tensor** outputs);
  void kernel_or_callback(const Instruction& in, TF_Tensor** inputs, const TF_Bool* given_up,
                          TF_Tensor** outputs);
  void callback(const Instruction& in, std::int32_t number, TF_Tensor** inputs,
                TF_Tensor** outputs);
  void session_constant(const Instruction& in, TF_Tensor** inputs, TF_Tensor** outputs);
  void choose(const Instruction& in, TF_Tensor** inputs, const TF_Bool* given_up,
              TF_Tensor** outputs);
  void loop(const Instruction& in, TF_Tensor** inputs, const TF_Bool* given_up,
            TF_Tensor** outputs);
  bool goes_on(const Instruction& in, const Block*& running, TF_Tensor** variables,
               TF_Tensor** values);
  TF_Tensor* adapted(const Instruction& in, std::size_t k, const TF_Tensor* opaque,
                     TF_DataType dtype);
  void read_variables(const Block& block, const Instruction& in, TF_Tensor** inputs,
                      std::vector<TF_Tensor*>* read);
  TF_Tensor* adapted_variable(const TF_Tensor* opaque);
  // Whether a condition holds; `k` is its place among the inputs. Fails for a value that is none.
  bool holds(const Instruction& in, std::size_t k, const TF_Tensor* condition);
  // The same for one element of any rank, which v1 control flow asks for.
  bool chooses(const Instruction& in, std::size_t k, const TF_Tensor* condition);
  std::int64_t remaining_ms() const;
  void poll(const Instruction& in);
  void check_limits(const Instruction& in);
  RunStop::Why asked();
  bool is_time_to_ask();

  DS_Plan& plan_;
  const std::thread::id thread_ = std::this_thread::get_id();
  const DS_Callbacks& callbacks_;
  void* run_context_ = nullptr;
  DS_KernelCall facts_{};
  bool has_limits_ = false;  // a cancellation or a deadline, or another thread may end it
  const std::atomic<std::uint32_t>* ticks_ = nullptr;  // where there is someone to ask
  std::uint32_t tick_ = 0;
  std::int32_t (*poll_)(void*) = nullptr;
  DS_Cancellation* cancellation_ = nullptr;
  Trace* trace_ = nullptr;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  RunStop own_stop_;
  RunStop* stop_ = &own_stop_;
  std::chrono::steady_clock::time_point ask_again_;
  // Of stop_; its own where the plan may be gone before the run is over that it is a part of.
  RunStop::Now* now_ = &own_stop_.place_of_now();
  int depth_ = 0;
  int most_in_parallel_;  // kernels at once, as the run has it that this is a part of
  TF_Status status_;
  std::shared_ptr<RunDevices> devices_;  // NULL: the program runs on the host alone
};

// For a scope, plans that this thread runs are part of a run. `asks`: the embedder may be asked in them
// whether to go on, which it may not be while it runs itself.
class Within {
 public:
  struct Of {
    const Run* run = nullptr;
    bool asks = false;
  };
  Within(const Run& run, bool asks);
  ~Within();
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;

 private:
  Of before_;
};

// Whether this thread runs a plan, or the embedder's part of one.
bool is_within_run();
// What may end that run, or NULL.
RunStop* stop_within();
// The options of a plan that this thread runs as part of a run; zero outside of one.
DS_RunOptions options_within();
// How many of its kernels may run at once, as that run has it.
int threads_within();

// Drops the values that nothing needs after an instruction.
inline void drop_dead(const Block& block, const Instruction& in, TF_Tensor** values) noexcept {
  TF_Tensor* const made = in.outputs.count != 0 ? values[in.outputs.start] : nullptr;
  for (const std::int32_t v : in.dead_after.of(block.dead_after)) {
    TF_Tensor* value = std::exchange(values[v], nullptr);
    // An input that has become the output: both of its users are this block.
    if (value != nullptr && value == made && value->users.load(std::memory_order_acquire) == 2) {
      value->users.store(1, std::memory_order_relaxed);
    } else {
      drop(value);
    }
  }
}

// Whether a number or string chooses the true branch: TensorFlow's rule for If and While.
bool truth(const TF_Tensor& value);
// The rule for a single element.
bool element_truth(const TF_Tensor& value);

// Runs blocks with frames (v1 control flow).
void run_dataflow(Run& run, const Block& block, TF_Tensor** values, TF_Tensor** fetches);

}  // namespace drystone::host::executor

#endif  // DRYSTONE_HOST_EXECUTOR_RUN_H_
