// Running a kernel: see drystone_host/kernels.h.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "core/kept_thread.h"
#include "core/plugin_call.h"
#include "kernels/callbacks.h"
#include "kernels/context.h"
#include "kernels/watch.h"
#include "library/crash_report.h"
#include "library/loaded.h"

using namespace drystone::host;
using namespace drystone::host::kernels;

namespace {

// A context for the time of one call; given back unless the call is given up. Outputs stay only when
// the call succeeds.
class Lease {
 public:
  Lease() : ctx_(take_context()) {}
  ~Lease() {
    if (ctx_ == nullptr) return;
    if (!succeeded_ && ctx_->outputs != nullptr) ctx_->drop_outputs();
    ctx_->outputs = nullptr;
    ctx_->end();
    if (closes_) ctx_->close();
    give_context(ctx_);
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  TF_OpKernelContext* operator->() { return ctx_; }
  TF_OpKernelContext* get() { return ctx_; }
  void abandon() { std::exchange(ctx_, nullptr)->abandon(); }
  void succeed() { succeeded_ = true; }
  // The kernel may keep the context, which must not lead it to what is gone.
  void close_at_end() { closes_ = true; }

 private:
  TF_OpKernelContext* ctx_;
  bool succeeded_ = false;
  bool closes_ = false;
};

template <class Array>
void check_count(const DS_Kernel& kernel, const char* what, int given, int needed, Array array) {
  if (given == needed && (needed == 0 || array != nullptr)) return;
  fail_at(kernel.subject(), {TF_INVALID_ARGUMENT, "it has " + std::to_string(needed) + " " + what + ", " +
                                                      std::to_string(array == nullptr ? 0 : given) + " were given"});
}

// In a handler: what a compute function threw becomes the call's failure.
[[gnu::noinline]] void fail_thrown(TF_OpKernelContext* ctx) {
  constexpr const char* kThrew = "its compute function threw a C++ exception";
  try {
    throw;
  } catch (const std::exception& error) {
    ctx->fail_call({TF_INTERNAL, std::string(kThrew) + ": " + error.what()});
  } catch (...) {
    ctx->fail_call({TF_INTERNAL, std::string(kThrew) + " of unknown type"});
  }
}

// Calls the plugin. What it throws becomes the call's failure; false then.
template <class Body>
[[gnu::always_inline]] inline bool survived(TF_OpKernelContext* ctx, Body&& body) {
  try {
    std::forward<Body>(body)();
    return true;
  } catch (...) {
    fail_thrown(ctx);
  }
  return false;
}

// One call at a time is looked at: two would each take what the other puts back for a change.
class LookingTurn {
 public:
  LookingTurn() noexcept : is_mine_(!taken_.test_and_set()) {}
  ~LookingTurn() {
    if (is_mine_) taken_.clear();
  }
  LookingTurn(const LookingTurn&) = delete;
  LookingTurn& operator=(const LookingTurn&) = delete;
  explicit operator bool() const noexcept { return is_mine_; }

 private:
  static inline std::atomic_flag taken_;
  const bool is_mine_;
};

[[gnu::always_inline]] inline void call_compute(DS_Kernel& kernel, TF_OpKernelContext* ctx) {
  survived(ctx, [&] { kernel.registered->compute(kernel.state, ctx); });
  copy_forwards();
}

// Looks at the host's state around a call. One that takes longer is not judged: what changed meanwhile
// may be the program's own doing, in another thread.
[[gnu::noinline]] void compute_looked_at(DS_Kernel& kernel, TF_OpKernelContext* ctx) {
  const KeptThread thread;
  constexpr auto kJudged = std::chrono::seconds(1);
  const LookingTurn turn;
  if (!turn) return call_compute(kernel, ctx);
  HostState host(HostState::Noting::kBesideEnvironment);
  const auto begin = std::chrono::steady_clock::now();
  call_compute(kernel, ctx);
  if (std::chrono::steady_clock::now() - begin > kJudged) {
    host.forget();
  } else if (settle_changes(kernel.registered->library, host, "while compute of a kernel ran")) {
    std::atomic_ref(kernel.registered->computes_clean).store(true);
  }
}

// Of a call that was given up.
[[noreturn]] void too_late(const DS_Kernel& kernel, std::int64_t deadline_ms) {
  const Stop* const stop = Stop::current();
  const Subject subject = kernel.subject();
  if (stop != nullptr && stop->is_set()) {
    fail_at(subject, {TF_CANCELLED, "it has not called done", {{DS_PAYLOAD_AWAITED, "done"}}});
  }
  fail_at(subject, {TF_DEADLINE_EXCEEDED, "it was not done after " + std::to_string(deadline_ms) + " ms"});
}

void wait_for_deferred(DS_Kernel& kernel, Lease& lease) {
  TF_OpKernelContext* ctx = lease.get();
  if (!ctx->has_deferred.load(std::memory_order_acquire)) return;
  const std::int64_t deadline_ms = ctx->call->deadline_ms;
  if (ctx->wait(false)) return;
  lease.abandon();
  too_late(kernel, deadline_ms);
}

void compute_async(DS_Kernel& kernel, Lease& lease) {
  TF_OpKernelContext* ctx = lease.get();
  const std::int64_t deadline_ms = ctx->call->deadline_ms;
  ctx->keep_inputs();
  ctx->callback = take_callback(ctx);
  TF_AsyncOpKernelDoneCallback* callback = ctx->callback;
  bool returned = false;
  {
    const PluginCall running(kernel.function);
    const KeptThread thread;
    returned = survived(ctx, [&] { kernel.registered->compute_async(kernel.state, ctx, callback); });
  }
  if (!returned && !ctx->is_done()) {  // it is not known what else has the context now
    Failure thrown = *ctx->failure;
    lease.abandon();
    fail_at(kernel.subject(), std::move(thrown));
  }
  if (ctx->wait(true)) return;
  lease.abandon();
  too_late(kernel, deadline_ms);
}

[[noreturn]] void report(const DS_Kernel& kernel, TF_OpKernelContext* ctx) {
  const std::lock_guard lock(ctx->mutex);
  fail_at(kernel.subject(), *ctx->failure);
}

// The value of an output that is a reference.
std::unique_ptr<TF_Tensor> referenced(TF_OpKernelContext* ctx, std::size_t i) {
  if (ctx->output_variables.empty() || ctx->output_variables[i] == nullptr) {
    fail_at(ctx->kernel().subject(), {TF_INTERNAL, "it returned without setting output " + std::to_string(i)});
  }
  return ctx->output_variables[i]->value();
}

// What a call that needs more than views does at its end.
void finish(TF_OpKernelContext* ctx, TF_Tensor** outputs) {
  const auto count = static_cast<std::size_t>(ctx->num_outputs());
  for (std::size_t i = 0; i < count; ++i) {
    if (ctx->outputs[i] == nullptr) ctx->outputs[i] = referenced(ctx, i).release();
  }
  if (DS_Variable** variables = ctx->call->output_variables) {
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_reference = !ctx->output_variables.empty() && ctx->output_variables[i];
      variables[i] = is_reference ? expose(ctx->output_variables[i]) : nullptr;
    }
  }
  if (ctx->outputs == outputs) return;
  for (std::size_t i = 0; i < count; ++i) outputs[i] = std::exchange(ctx->outputs[i], nullptr);
}

// Calls the kernel, which is looked at until one of its calls has changed nothing; all that it began is over
// then.
void call(DS_Kernel& kernel, Lease& lease) {
  TF_OpKernelContext* ctx = lease.get();
  if (kernel.registered->compute == nullptr) return compute_async(kernel, lease);
  const RunningCall running(kernel.function);
  if (std::atomic_ref(kernel.registered->computes_clean).load(std::memory_order_relaxed)) call_compute(kernel, ctx);
  else compute_looked_at(kernel, ctx);
  if (ctx->has_more) wait_for_deferred(kernel, lease);
}

[[gnu::noinline]] void call_with_care(DS_Kernel& kernel, Lease& lease) {
  if (!kernel.registered->is_watched) return call(kernel, lease);
  lease.close_at_end();
  Watch watch(*lease.get());
  const KeptThread thread;
  call(kernel, lease);
  const PluginCall running(kernel.function);
  watch.check();  // which may end the process
}

[[gnu::always_inline]] inline void call_freely(DS_Kernel& kernel, Lease& lease) {
  TF_OpKernelContext* ctx = lease.get();
  const RunningCall running(kernel.function);
  call_compute(kernel, ctx);
  if (ctx->has_more) wait_for_deferred(kernel, lease);
}

[[gnu::noinline]] void report_or_finish(DS_Kernel& kernel, TF_OpKernelContext* ctx, TF_Tensor** outputs) {
  if (ctx->failed.load(std::memory_order_acquire)) report(kernel, ctx);
  finish(ctx, outputs);
}

[[gnu::always_inline]] inline void perform(DS_Kernel& kernel, Lease& lease, TF_Tensor** outputs) {
  TF_OpKernelContext* ctx = lease.get();
  if (kernel.registered->runs_freely()) [[likely]] call_freely(kernel, lease);
  else call_with_care(kernel, lease);
  bool is_complete = !ctx->has_more;
  for (int i = 0; is_complete && i < ctx->num_outputs(); ++i) is_complete = outputs[i] != nullptr;
  if (!is_complete) report_or_finish(kernel, ctx, outputs);
  lease.succeed();
}

}  // namespace

void drystone::host::kernels::run_kernel(DS_Kernel& kernel, const DS_KernelCall& call,
                                         TF_Tensor* const* inputs, TF_Tensor** outputs,
                                         bool shares) {
  Lease lease;
  lease->begin_checked(kernel, call, inputs, outputs, shares);
  perform(kernel, lease, outputs);
}

void drystone::host::kernels::run_kernel_unchecked(DS_Kernel& kernel, const DS_KernelCall& call,
                                                   TF_Tensor* const* inputs, TF_Tensor** outputs) {
  Lease lease;
  lease->begin(kernel, call, inputs, outputs, true);
  if (call.deadline_ms > 0) lease->begin_deadline();
  perform(kernel, lease, outputs);
}

extern "C" {

void TF_RunAsyncOpKernelDoneCallback(TF_AsyncOpKernelDoneCallback* done) {
  if (done == nullptr) return;
  TF_OpKernelContext* ctx = nullptr;
  {
    const std::lock_guard lock(done->mutex);
    ctx = std::exchange(done->ctx, nullptr);
  }
  if (ctx != nullptr) ctx->settle(std::unique_lock(ctx->mutex), true);
}

void DS_RunKernel(DS_Kernel* kernel, const DS_KernelCall* call, TF_Tensor* const* inputs,
                  int num_inputs, TF_Tensor** outputs, int num_outputs, TF_Status* status) {
  if (outputs != nullptr && num_outputs > 0) std::fill_n(outputs, num_outputs, nullptr);
  guarded(status, __func__, [&] {
    require(kernel, "kernel");
    prepare_thread();
    check_count(*kernel, "inputs", num_inputs, kernel->inputs.size(), inputs);
    check_count(*kernel, "outputs", num_outputs, kernel->outputs.size(), outputs);
    const DS_KernelCall facts = facts_of(call);
    run_kernel(*kernel, facts, inputs, outputs, false);
  });
}

}  // extern "C"
