// Kernels of variables and references: see drystone/kernels_experimental.h.
#include <algorithm>
#include <cstring>

#include "core/live.h"
#include "drystone/tstring.h"
#include "kernels/context.h"

using namespace drystone::host;
using namespace drystone::host::kernels;

using CopyFunc = void (*)(TF_OpKernelContext*, TF_Tensor*, TF_Tensor*);

struct TF_VariableInputLockHolder {
  TF_VariableInputLockHolder() { born(Kind::handle); }
  ~TF_VariableInputLockHolder() {
    for (const VariablePtr& variable : locked) variable->unlock();
    died(Kind::handle);
  }
  TF_VariableInputLockHolder(const TF_VariableInputLockHolder&) = delete;
  TF_VariableInputLockHolder& operator=(const TF_VariableInputLockHolder&) = delete;

  std::vector<VariablePtr> locked;
};

namespace {

// Holds a variable for a scope, unless the call has locked it ahead of need.
class CallScope {
 public:
  CallScope(Variable& variable, const TF_OpKernelContext* ctx)
      : variable_(ctx->locks.is_spare(variable) ? nullptr : &variable) {
    if (variable_ != nullptr) variable_->lock(ctx, ctx->deadline);
  }
  ~CallScope() {
    if (variable_ != nullptr) variable_->unlock();
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  Variable* variable_;
};

// The variable at an input, by resource or by reference.
VariablePtr variable_input(const TF_OpKernelContext* ctx, int index) {
  const std::size_t i = ctx->input_index(index);
  if (VariablePtr reference = ctx->variable(i)) return reference;
  return variable_at(*ctx->inputs[i], 0);
}

VariablePtr reference_input(const TF_OpKernelContext* ctx, int index) {
  VariablePtr reference = ctx->variable(ctx->input_index(index));
  if (reference == nullptr) {
    fail(TF_INVALID_ARGUMENT, "input " + std::to_string(index) + " is no reference");
  }
  return reference;
}

bool same_shape(const TF_Tensor& a, const TF_Tensor& b) {
  return a.dims.rank() == b.dims.rank() &&
         std::equal(a.dims.data(), a.dims.data() + a.dims.rank(), b.dims.data());
}

void check_shape(const Variable& variable, const TF_Tensor& value) {
  const auto before = variable.value();
  if (before == nullptr || same_shape(*before, value)) return;
  fail(TF_INVALID_ARGUMENT,
       "the value has another shape than variable '" + variable.name() + "' has");
}

void copy_on_host(const TF_Tensor& from, TF_Tensor* to) {
  if (from.dtype == TF_RESOURCE || from.dtype == TF_VARIANT) {
    assign(to, from);  // handles stand for what they stand for: share them
  } else if (from.dtype == TF_STRING) {
    const auto* source = static_cast<const TF_TString*>(from.memory->data);
    auto* dest = static_cast<TF_TString*>(to->memory->data);
    for (std::int64_t k = 0; k < from.count(); ++k) {
      TF_TString_Copy(&dest[k], TF_TString_GetDataPointer(&source[k]),
                      TF_TString_GetSize(&source[k]));
    }
  } else if (TF_TensorByteSize(&from) != 0) {
    std::memcpy(to->memory->data, from.memory->data, TF_TensorByteSize(&from));
  }
}

// Copies by the plugin's function, or without one as the host does where the value lies.
void copy(TF_OpKernelContext* ctx, CopyFunc copy_func, const TF_Tensor& from, TF_Tensor* to) {
  if (copy_func == nullptr) {
    Lane* const lane = lane_of(*to);
    if (lane == nullptr) copy_on_host(from, to);
    else if (lane_of(from) == nullptr) copy(ctx, copy_func, *lane->copy_of(from), to);
    else lane->copy_on(from, *to);
    return;
  }
  std::unique_ptr<TF_Tensor> source(share(from));
  std::unique_ptr<TF_Tensor> dest(share(*to));
  copy_func(ctx, source.release(), dest.release());
  ctx->check_failed();
}

std::unique_ptr<TF_Tensor> copy_of(TF_OpKernelContext* ctx, CopyFunc copy_func,
                                   const TF_Tensor& value) {
  auto fresh =
      ctx->allocate(value.dtype, value.dims.data(), value.dims.rank(), ctx->kernel().on_cpu());
  copy(ctx, copy_func, value, fresh.get());
  return fresh;
}

// The variable's value where the call finds it, copied first if others have its memory.
std::unique_ptr<TF_Tensor> writable(TF_OpKernelContext* ctx, Variable& variable,
                                    CopyFunc copy_func) {
  Lane* const lane = lane_of(*ctx->call);
  variable.move_to(lane);
  if (!variable.exclusive(lane)) {
    const auto fresh = copy_of(ctx, copy_func, *variable.initialized(lane));
    variable.set(fresh.get());
  }
  return variable.initialized(lane);
}

void set_reference(TF_OpKernelContext* ctx, std::size_t output, VariablePtr variable) {
  ctx->check_output_dtype(output, variable->dtype());
  ctx->has_more = true;
  if (ctx->output_variables.empty()) ctx->output_variables.resize(ctx->kernel().outputs.types.size());
  ctx->output_variables[output] = std::move(variable);
  drop(std::exchange(ctx->outputs[output], nullptr));
}

std::string text_of(const TF_StringView* view) {
  require(view, "var_name");
  if (view->len != 0) require(view->data, "var_name->data");
  return {view->len == 0 ? "" : view->data, view->len};
}

// The variables at `inputs`, each once, in an order that all calls share.
std::vector<VariablePtr> in_order(const TF_OpKernelContext* ctx, const int* inputs,
                                  std::size_t count) {
  std::vector<VariablePtr> out;
  for (std::size_t k = 0; k < count; ++k) out.push_back(variable_input(ctx, inputs[k]));
  const auto number = [](const VariablePtr& variable) { return variable->number(); };
  std::ranges::sort(out, {}, number);
  const auto repeats = std::ranges::unique(out, {}, number);
  out.erase(repeats.begin(), repeats.end());
  return out;
}

}  // namespace

extern "C" {

void TF_AssignVariable(TF_OpKernelContext* ctx, int input_index, int value_index,
                       bool validate_shape, CopyFunc, TF_Status* status) {
  guarded(status, __func__, [&] {
    require(ctx, "ctx");
    const VariablePtr variable = variable_input(ctx, input_index);
    const auto value = ctx->input(ctx->input_index(value_index));
    const CallScope scope(*variable, ctx);
    if (validate_shape) check_shape(*variable, *value);
    variable->set(value.get());
  });
}

void TF_AssignRefVariable(TF_OpKernelContext* ctx, int input_ref_index, int output_ref_index,
                          int value_index, bool use_locking, bool validate_shape,
                          CopyFunc copyFunc, TF_Status* status) {
  guarded(status, __func__, [&] {
    require(ctx, "ctx");
    const VariablePtr variable = reference_input(ctx, input_ref_index);
    const std::size_t output = ctx->output_index(output_ref_index);
    const auto value = ctx->input(ctx->input_index(value_index));
    std::unique_ptr<CallScope> scope;
    if (use_locking) scope = std::make_unique<CallScope>(*variable, ctx);
    if (validate_shape) check_shape(*variable, *value);
    if (value->dtype != variable->dtype()) {
      fail(TF_INVALID_ARGUMENT, "value and reference have two dtypes");
    }
    const auto fresh = copy_of(ctx, copyFunc, *value);
    variable->set(fresh.get());
    set_reference(ctx, output, variable);
  });
}

void TF_AssignUpdateVariable(TF_OpKernelContext* ctx, int input_index, int value_index, int Op,
                             int isVariantType, CopyFunc copyFunc,
                             void (*updateFunc)(TF_OpKernelContext*, TF_Tensor*, TF_Tensor*, int),
                             TF_Status* status) {
  guarded(status, __func__, [&] {
    require(ctx, "ctx");
    require(reinterpret_cast<const void*>(updateFunc), "updateFunc");
    const VariablePtr variable = variable_input(ctx, input_index);
    auto value = ctx->input(ctx->input_index(value_index));
    const CallScope scope(*variable, ctx);
    variable->check_value();
    if (isVariantType == 0) check_shape(*variable, *value);
    if (value->dtype != variable->dtype()) {
      fail(TF_INVALID_ARGUMENT, "value and variable have two dtypes");
    }
    auto target = writable(ctx, *variable, copyFunc);
    updateFunc(ctx, target.release(), value.release(), Op);
    variable->changed();
    ctx->check_failed();
  });
}

void TF_TemporaryVariable(TF_OpKernelContext* ctx, TF_DataType dtype, const int64_t* dims,
                          int num_dims, TF_StringView* var_name,
                          void (*plugin_allocator)(TF_OpKernelContext*, TF_Tensor*, TF_DataType,
                                                   const int64_t*, int, TF_Status*),
                          TF_Status* tf_status) {
  guarded(tf_status, __func__, [&] {
    require(ctx, "ctx");
    const std::size_t output = ctx->output_index(0);
    const std::string name = text_of(var_name);
    std::unique_ptr<TF_Tensor> value;
    if (plugin_allocator == nullptr) {
      value = ctx->allocate(dtype, dims, num_dims, ctx->kernel().on_cpu());
    } else {
      value = std::make_unique<TF_Tensor>();
      value->dtype = dtype;
      TF_Status status;
      plugin_allocator(ctx, value.get(), dtype, dims, num_dims, &status);
      if (status.code != TF_OK) pass_on(status);
      if (value->memory == nullptr || elements(dims, num_dims) != value->count()) {
        fail(TF_INTERNAL, "plugin_allocator gave the tensor no memory, or not as much as asked");
      }
    }
    const VariablePtr variable =
        Variable::make(name, "temporary", dtype, value.get());
    ctx->check_output_dtype(output, dtype);
    add_temporary(ctx->call->step_id, variable);
    set_reference(ctx, output, variable);
  });
}

void TF_DestroyTemporaryVariable(TF_OpKernelContext* ctx, const int index, TF_StringView* var_name,
                                 TF_Status* tf_status) {
  guarded(tf_status, __func__, [&] {
    require(ctx, "ctx");
    const VariablePtr variable = reference_input(ctx, index);
    const std::size_t output = ctx->output_index(0);
    const std::string name = text_of(var_name);
    auto value = variable->initialized(lane_of(*ctx->call));
    ctx->check_output_dtype(output, value->dtype);
    take_temporary(ctx->call->step_id, name);
    ctx->set_output(output, std::move(value));
  });
}

void TF_MaybeLockVariableInputMutexesInOrder(TF_OpKernelContext* ctx, bool do_lock, bool sparse,
                                             const int* const inputs, size_t len,
                                             CopyFunc copyFunc,
                                             TF_VariableInputLockHolder** lockHolder,
                                             TF_Status* status) {
  guarded(status, __func__, [&] {
    require(ctx, "ctx");
    require(lockHolder, "lockHolder");
    if (len != 0) require(inputs, "inputs");
    auto holder = std::make_unique<TF_VariableInputLockHolder>();
    for (const VariablePtr& variable : in_order(ctx, inputs, len)) {
      if (do_lock) {
        holder->locked.reserve(holder->locked.size() + 1);
        variable->lock(ctx, ctx->deadline);
        holder->locked.push_back(variable);
      }
      if (sparse) writable(ctx, *variable, copyFunc);
    }
    *lockHolder = holder.release();
  });
}

void TF_ReleaseVariableInputLockHolder(TF_VariableInputLockHolder* lockHolder) {
  delete lockHolder;
}

void TF_GetInputTensorFromVariable(TF_OpKernelContext* ctx, int input, bool lock_held, bool, bool,
                                   CopyFunc copyFunc, TF_Tensor** out, TF_Status* status) {
  guarded(status, __func__, [&] {
    require(ctx, "ctx");
    require(out, "out");
    const VariablePtr variable = variable_input(ctx, input);
    std::unique_ptr<CallScope> scope;
    if (!lock_held) scope = std::make_unique<CallScope>(*variable, ctx);
    *out = writable(ctx, *variable, copyFunc).release();
    variable->changed();  // it is about to be
  });
}

void TF_OpKernelContext_ForwardRefInputToRefOutput(TF_OpKernelContext* ctx, int32_t input_index,
                                                   int32_t output_index) {
  if (ctx == nullptr) return;
  TF_Status status;
  guarded(&status, __func__, [&] {
    const VariablePtr variable = reference_input(ctx, input_index);
    set_reference(ctx, ctx->output_index(output_index), variable);
  });
  if (status.code != TF_OK) ctx->fail_call(failure_in(status));
}

}  // extern "C"
