// One call of a kernel: see kernels/context.h.
#include "kernels/context.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/memory_guards.h"
#include "core/dtype_names.h"
#include "core/stored.h"
#include "kernels/callbacks.h"

using namespace drystone::host;
using namespace drystone::host::kernels;

namespace {

void check_input(const DS_Kernel& kernel, std::size_t i, const TF_Tensor* given) {
  const TF_DataType needed = kernel.inputs.types[i];
  if (given == nullptr || given->memory == nullptr) {
    fail_at(kernel.subject(), {TF_INVALID_ARGUMENT, "input " + std::to_string(i) + " has no value"});
  }
  if (given->dtype != needed) {
    fail_at(kernel.subject(), {TF_INVALID_ARGUMENT, "input " + std::to_string(i) + " has dtype " + dtype_name(given->dtype) +
                                                        ", it must be " + dtype_name(needed)});
  }
}

// Where members of DS_KernelCall end, from the last to the first.
constexpr std::size_t kEnds[] = {
    TF_OFFSET_OF_END(DS_KernelCall, rendezvous),
    TF_OFFSET_OF_END(DS_KernelCall, states),
    TF_OFFSET_OF_END(DS_KernelCall, allocate_context),
    TF_OFFSET_OF_END(DS_KernelCall, allocate),
    TF_OFFSET_OF_END(DS_KernelCall, output_variables),
    TF_OFFSET_OF_END(DS_KernelCall, input_variables),
    TF_OFFSET_OF_END(DS_KernelCall, overwritable),
    TF_OFFSET_OF_END(DS_KernelCall, stream),
    TF_OFFSET_OF_END(DS_KernelCall, container),
    TF_OFFSET_OF_END(DS_KernelCall, config),
    TF_OFFSET_OF_END(DS_KernelCall, function_library),
    TF_OFFSET_OF_END(DS_KernelCall, device_id),
    TF_OFFSET_OF_END(DS_KernelCall, graph_def_version),
    TF_OFFSET_OF_END(DS_KernelCall, deadline_ms),
    TF_OFFSET_OF_END(DS_KernelCall, iter_id),
    TF_OFFSET_OF_END(DS_KernelCall, frame_id),
    TF_OFFSET_OF_END(DS_KernelCall, step_id),
    TF_OFFSET_OF_END(DS_KernelCall, struct_size),
};

}  // namespace

DS_KernelCall drystone::host::kernels::facts_of(const DS_KernelCall* given) {
  DS_KernelCall out{};
  out.struct_size = DS_KERNEL_CALL_STRUCT_SIZE;
  if (given == nullptr) return out;
  if (given->struct_size < sizeof(std::size_t)) {
    fail(TF_INVALID_ARGUMENT, "call->struct_size must be set to DS_KERNEL_CALL_STRUCT_SIZE");
  }
  const auto* end = std::find_if(std::begin(kEnds), std::end(kEnds),
                                 [&](std::size_t at) { return at <= given->struct_size; });
  std::memcpy(&out, given, *end);
  return out;
}

namespace {

std::vector<VariablePtr> references(const DS_KernelCall& call, const Signature& inputs) {
  std::vector<VariablePtr> out;
  for (int i = 0; i < inputs.size(); ++i) {
    const DS_Variable* handle = call.input_variables[i];
    out.push_back(handle == nullptr ? nullptr : variable_of(handle));
  }
  return out;
}

void check_reference(const DS_Kernel& kernel, std::size_t i, const Variable& variable) {
  const TF_DataType needed = kernel.inputs.types[i];
  if (variable.dtype() == needed) return;
  fail_at(kernel.subject(), {TF_INVALID_ARGUMENT, "input " + std::to_string(i) + " is a reference of dtype " +
                                                      dtype_name(variable.dtype()) + ", it must be " + dtype_name(needed)});
}

}  // namespace

void TF_OpKernelContext::begin_checked(DS_Kernel& called, const DS_KernelCall& facts,
                                       TF_Tensor* const* given, TF_Tensor** wanted,
                                       bool shares_tensors) {
  begin(called, facts, given, wanted, shares_tensors);
  if (call->input_variables != nullptr) {
    has_more = true;
    input_variables = references(*call, called.inputs);
  }
  const std::size_t count = called.inputs.types.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (is_reference(i)) check_reference(called, i, *input_variables[i]);
    else check_input(called, i, given[i]);
  }
  if (call->deadline_ms > 0) begin_deadline();
}

void TF_OpKernelContext::begin_deadline() {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // so that adding it cannot overflow
  has_more = true;
  deadline = std::chrono::steady_clock::now() +
             std::chrono::milliseconds(std::min<std::int64_t>(call->deadline_ms, kMost));
}

void TF_OpKernelContext::end_more() noexcept {
  rest_callback();
  for (TF_Tensor* output : kept_outputs) drop(output);
  kept_outputs.clear();
  input_variables.clear();
  output_variables.clear();
  kept.clear();
  kept_view.clear();
  is_kept = false;
  deadline.reset();
  viewed.clear();
  if (unheard != nullptr) Stop::exchange(std::exchange(unheard, nullptr));
  for (const auto& [variable, value] : changing) variable->changed();
  changing.clear();
  locks.release();
  for (Memory* memory : scratch) release(memory);
  scratch.clear();
  if (failed.exchange(false, std::memory_order_relaxed)) {
    failure.reset();
  }
  done = false;
  deferred = 0;
  has_deferred.store(false, std::memory_order_relaxed);
  has_more = false;
}

void TF_OpKernelContext::drop_outputs() noexcept {
  for (int i = 0; i < num_outputs(); ++i) drop(std::exchange(outputs[i], nullptr));
}

void TF_OpKernelContext::keep_inputs() {
  if (is_kept) return;
  has_more = true;
  DS_Kernel& called = kernel();
  own_call = *call;
  call = &own_call;
  if (own_call.container != nullptr) own_call.container = called.keep(own_call.container).c_str();
  const std::size_t count = called.inputs.types.size();
  for (std::size_t i = 0; i < count; ++i) {
    kept.emplace_back(is_reference(i) ? nullptr : share(*inputs[i]));
    kept_view.push_back(kept.back().get());
  }
  if (own_call.overwritable != nullptr) {
    kept_flags.assign(own_call.overwritable, own_call.overwritable + count);
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_reference(i) && inputs[i]->users.load(std::memory_order_acquire) != 1) kept_flags[i] = 0;
    }
    own_call.overwritable = kept_flags.data();
  }
  kept_outputs.resize(called.outputs.types.size());
  for (std::size_t i = 0; i < kept_outputs.size(); ++i) {
    kept_outputs[i] = std::exchange(outputs[i], nullptr);
  }
  outputs = kept_outputs.data();
  inputs = kept_view.data();
  is_kept = true;
}

bool TF_OpKernelContext::wait(bool for_done) {
  std::unique_lock lock(mutex);
  constexpr std::chrono::milliseconds kLooks{50};  // between two questions whether to stop
  const auto over = [&] { return deferred == 0 && (done || !for_done); };
  Stop* const stop = Stop::current();
  while (true) {
    auto until = std::chrono::steady_clock::now() + kLooks;
    if (deadline) until = std::min(until, *deadline);
    if (changed.wait_until(lock, until, over)) return true;
    if (deadline && std::chrono::steady_clock::now() >= *deadline) return false;
    lock.unlock();
    const bool stops = stop != nullptr && stop->look();
    lock.lock();
    if (stops) return over();
  }
}

void TF_OpKernelContext::close() noexcept {
  static const DS_KernelCall no_call{};
  inputs = nullptr;
  outputs = nullptr;
  call = &no_call;
  kernel_ = &DS_Kernel::of_no_call();
}

bool TF_OpKernelContext::is_closed() const noexcept { return kernel_ == &DS_Kernel::of_no_call(); }

bool TF_OpKernelContext::is_done() {
  const std::lock_guard lock(mutex);
  return done;
}

void TF_OpKernelContext::rest_callback() noexcept {
  if (callback != nullptr) kernels::rest_callback(std::exchange(callback, nullptr));
}

void TF_OpKernelContext::abandon() {
  kernel().retain();
  if (unheard != nullptr) Stop::exchange(std::exchange(unheard, nullptr));  // of this thread
  std::unique_lock lock(mutex);
  abandoned = true;
  own_call.function_library = nullptr;
  own_call.config = nullptr;
  if (kernel().registered->compute != nullptr) done = true;  // only deferred work can be under way
  settle(std::move(lock), done);
}

void TF_OpKernelContext::settle(std::unique_lock<std::mutex> lock, bool is_done) {
  done = done || is_done;
  if (!abandoned) {
    changed.notify_all();
    return;
  }
  if (!done || deferred != 0) return;
  lock.unlock();
  DS_Kernel& mine = kernel();
  end();
  if (mine.registered->is_watched) close();  // and it stays: its kernel has been late before
  else delete this;
  mine.release();
}

std::size_t TF_OpKernelContext::input_index(int i) const {
  if (i >= 0 && i < num_inputs()) return static_cast<std::size_t>(i);
  fail(TF_OUT_OF_RANGE, "there is no input " + std::to_string(i) + ": the node has " +
                            std::to_string(num_inputs()));
}

std::size_t TF_OpKernelContext::output_index(int i) const {
  if (i >= 0 && i < num_outputs()) return static_cast<std::size_t>(i);
  fail(TF_OUT_OF_RANGE, "there is no output " + std::to_string(i) + ": the node has " +
                            std::to_string(num_outputs()));
}

VariablePtr TF_OpKernelContext::variable(std::size_t i) const {
  return input_variables.empty() ? nullptr : input_variables[i];
}

std::unique_ptr<TF_Tensor> TF_OpKernelContext::input(std::size_t i) const {
  if (const VariablePtr reference = variable(i)) return reference->initialized(lane_for(i));
  return std::unique_ptr<TF_Tensor>(share(*inputs[i]));
}

void TF_OpKernelContext::check_output_dtype(std::size_t i, TF_DataType dtype) const {
  const TF_DataType needed = kernel().outputs.types[i];
  if (dtype == needed) return;
  fail(TF_INVALID_ARGUMENT, "output " + std::to_string(i) + " must have dtype " +
                                dtype_name(needed) + ", not " +
                                dtype_name(dtype));
}

void TF_OpKernelContext::set_output(std::size_t i, std::unique_ptr<TF_Tensor> tensor) {
  check_output_dtype(i, tensor->dtype);
  if (tensor->memory == nullptr) {
    fail(TF_INVALID_ARGUMENT, "the tensor for output " + std::to_string(i) + " has no memory");
  }
  if (is_stored(*tensor)) tensor.reset(loaded(*tensor));  // who takes it may not have asked for it
  drop(std::exchange(outputs[i], tensor.release()));
  if (!output_variables.empty()) output_variables[i].reset();
}

std::unique_ptr<TF_Tensor> TF_OpKernelContext::allocate(TF_DataType dtype, const int64_t* dims,
                                                        int count, bool on_host) const {
  if (on_host || call->allocate == nullptr) {
    return std::unique_ptr<TF_Tensor>(new_tensor_that_fits(dtype, dims, count, kernel().function.guards));
  }
  TF_Status status;
  std::unique_ptr<TF_Tensor> out(
      call->allocate(call->allocate_context, dtype, dims, count, &status));
  if (status.code != TF_OK) pass_on(status);
  if (out == nullptr) fail(TF_RESOURCE_EXHAUSTED, "the device gave no memory");
  return out;
}

void TF_OpKernelContext::fail_call(Failure first) noexcept {
  const std::lock_guard lock(mutex);
  if (is_closed()) return note_misuse("a kernel failed in a call that is over");
  if (failed.load(std::memory_order_relaxed)) return;
  has_more = true;
  failure = std::move(first);
  failed.store(true, std::memory_order_release);
}

void TF_OpKernelContext::check_failed() {
  if (!failed.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex);
  throw Failure(*failure);
}

constinit thread_local TF_OpKernelContext* drystone::host::kernels::spare_context
    __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

thread_local bool is_over __attribute__((tls_model("initial-exec"))) = false;

struct End {
  ~End() {
    is_over = true;
    delete std::exchange(spare_context, nullptr);
  }
};

}  // namespace

TF_OpKernelContext* drystone::host::kernels::new_context() {
  thread_local End end;
  static_cast<void>(&end);
  return new TF_OpKernelContext();
}

void drystone::host::kernels::give_context(TF_OpKernelContext* ctx) noexcept {
  if (spare_context == nullptr && !is_over) spare_context = ctx;
  else delete ctx;
}
