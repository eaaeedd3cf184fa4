// What a plugin's compute function works with: one call of a kernel.
#ifndef DRYSTONE_HOST_KERNELS_CONTEXT_H_
#define DRYSTONE_HOST_KERNELS_CONTEXT_H_

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/failure.h"
#include "core/tensor.h"
#include "drystone/kernels_experimental.h"
#include "drystone_host/kernels.h"
#include "kernels/kernel.h"
#include "kernels/locks.h"
#include "kernels/variable.h"
#include "threads/stop.h"

// Objects are used again for later calls on the same thread, so that a call allocates nothing but its
// outputs. A call that is given up at its deadline keeps its own until the plugin is done with it.
struct TF_OpKernelContext {
  TF_OpKernelContext() = default;
  ~TF_OpKernelContext() { rest_callback(); }
  TF_OpKernelContext(const TF_OpKernelContext&) = delete;
  TF_OpKernelContext& operator=(const TF_OpKernelContext&) = delete;

  // ---- the host's side ----
  // Start a call of inputs that fit the node; outputs are put into `wanted`, which holds none.
  // `shares_tensors`: the caller's tensors may be held as a whole (see hold()).
  void begin(DS_Kernel& called, const DS_KernelCall& facts, TF_Tensor* const* given,
             TF_Tensor** wanted, bool shares_tensors) {
    kernel_ = &called;
    call = &facts;
    inputs = given;
    outputs = wanted;
    shares = shares_tensors;
  }
  // The same with what is rare; fails with INVALID_ARGUMENT unless inputs fit the node.
  void begin_checked(DS_Kernel& called, const DS_KernelCall& facts, TF_Tensor* const* given,
                     TF_Tensor** wanted, bool shares_tensors);
  void begin_deadline();
  // Forget the call.
  void end() noexcept {
    if (has_more) end_more();
  }
  void end_more() noexcept;
  // From now on, and until the next call, it is one of a node without inputs and outputs: a plugin may have
  // kept it.
  void close() noexcept;
  bool is_closed() const noexcept;
  // Give up outputs that are set.
  void drop_outputs() noexcept;
  // Hold what the caller lent, and keep outputs: the caller may go before the plugin is done.
  void keep_inputs();
  // Wait until an asynchronous kernel is done and deferred work is over; false at the deadline, or when the
  // run is to stop.
  bool wait(bool for_done);
  // Whether an asynchronous kernel has called back.
  bool is_done();
  // The caller goes on without this call. From now on the context ends itself.
  void abandon();
  // The callback has been called.
  void rest_callback() noexcept;
  // One more reason to end is there: done, or no deferred work any more.
  void settle(std::unique_lock<std::mutex> lock, bool is_done);

  // ---- both sides ----
  DS_Kernel& kernel() const { return *kernel_; }
  int num_inputs() const { return kernel_->inputs.size(); }
  int num_outputs() const { return kernel_->outputs.size(); }
  // Fail with OUT_OF_RANGE for a bad index.
  std::size_t input_index(int i) const;
  std::size_t output_index(int i) const;
  bool is_reference(std::size_t i) const {
    return !input_variables.empty() && input_variables[i] != nullptr;
  }
  // The variable that input `i` is a reference to, or NULL.
  drystone::host::kernels::VariablePtr variable(std::size_t i) const;
  // Where the kernel has the value of input `i`, a reference: on the call's device; NULL: in host memory.
  drystone::host::Lane* lane_for(std::size_t i) const {
    return kernel_->input_on_host[i] != 0 ? nullptr : drystone::host::lane_of(*call);
  }
  // A new handle of an input.
  std::unique_ptr<TF_Tensor> input(std::size_t i) const;
  // Make it output `i`; fails with INVALID_ARGUMENT for another dtype than expected.
  void set_output(std::size_t i, std::unique_ptr<TF_Tensor> tensor);
  void check_output_dtype(std::size_t i, TF_DataType dtype) const;
  // Fresh memory, on the device unless `on_host`.
  std::unique_ptr<TF_Tensor> allocate(TF_DataType dtype, const int64_t* dims, int count,
                                      bool on_host) const;
  // Remember the first failure.
  void fail_call(drystone::host::Failure first) noexcept;
  // Fails with what fail_call() was given, if anything: a callback of the plugin has run.
  void check_failed();

  TF_Tensor* const* inputs = nullptr;
  TF_Tensor** outputs = nullptr;
  DS_Kernel* kernel_ = nullptr;
  const DS_KernelCall* call = nullptr;  // the caller's, or the context's own
  bool shares = false;

  // Whether anything below is in use: most calls need none of it.
  bool has_more = false;
  bool is_kept = false;
  std::vector<std::unique_ptr<TF_Tensor>> kept;
  std::vector<TF_Tensor*> kept_view;
  DS_KernelCall own_call{};  // of a call whose caller may go
  std::vector<TF_Bool> kept_flags;
  std::vector<TF_Tensor*> kept_outputs;
  std::vector<drystone::host::kernels::VariablePtr> input_variables;   // empty: no references
  std::vector<drystone::host::kernels::VariablePtr> output_variables;  // empty: no references
  drystone::host::kernels::Deadline deadline;
  std::atomic<bool> failed{false};
  std::optional<drystone::host::Failure> failure;  // the first
  TF_AsyncOpKernelDoneCallback* callback = nullptr;  // of an asynchronous kernel
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  bool abandoned = false;
  int deferred = 0;
  std::atomic<bool> has_deferred{false};
  std::vector<std::unique_ptr<TF_Tensor>> viewed;                 // values of variables in views
  drystone::host::kernels::Locks locks;                           // until the end
  // By DS_ChangeVariable: a variable, and its value.
  std::vector<std::pair<drystone::host::kernels::Variable*, std::unique_ptr<TF_Tensor>>> changing;
  // What would tell the kernel to stop, while it may not: a variable that it changes must not stay half
  // changed.
  drystone::host::Stop* unheard = nullptr;
  std::vector<drystone::host::Memory*> scratch;
};

namespace drystone::host::kernels {

// The members that the caller's struct is long enough to have, never a part of one; all zero for
// NULL. Fails with INVALID_ARGUMENT without a size.
DS_KernelCall facts_of(const DS_KernelCall* given);

// A thread's context between its calls. One pointer, so that it fits where access is one instruction even
// though the library is opened late.
extern constinit thread_local TF_OpKernelContext* spare_context __attribute__((tls_model("initial-exec")));

// A context for one call on this thread.
TF_OpKernelContext* new_context();
inline TF_OpKernelContext* take_context() {
  return spare_context != nullptr ? std::exchange(spare_context, nullptr) : new_context();
}
// Back with it, its call over.
void give_context(TF_OpKernelContext* ctx) noexcept;

}  // namespace drystone::host::kernels

#endif  // DRYSTONE_HOST_KERNELS_CONTEXT_H_
