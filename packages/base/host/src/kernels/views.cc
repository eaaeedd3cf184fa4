// Inputs and outputs as plain pointers: see drystone/kernel_views.h.
#include "drystone/kernel_views.h"

#include <algorithm>
#include <cstring>

#include "kernels/context.h"

using namespace drystone::host;
using namespace drystone::host::kernels;

namespace {

alignas(kAlignment) unsigned char nothing[kAlignment];
constexpr std::int64_t kNoDims[1] = {0};

void show(const TF_Tensor& tensor, DS_View* view) {
  if (view == nullptr) return;
  DS_View out;
  out.struct_size = view->struct_size;
  out.data = tensor.memory->data != nullptr ? tensor.memory->data : nothing;
  out.dims = tensor.dims.rank() == 0 ? kNoDims : tensor.dims.data();
  out.count = tensor.count();
  out.rank = tensor.dims.rank();
  out.dtype = tensor.dtype;
  if (view->struct_size >= DS_VIEW_STRUCT_SIZE) {
    *view = out;
    return;
  }
  if (view->struct_size > sizeof(std::size_t)) std::memcpy(view, &out, view->struct_size);
}

// Runs the body; what it throws becomes the call's failure.
template <class Body>
TF_Bool tried(TF_OpKernelContext* ctx, Body&& body) noexcept {
  if (ctx == nullptr) return 0;
  try {
    body();
    return 1;
  } catch (const Failure& failure) {
    ctx->fail_call(failure.code, failure.message);
  } catch (const std::bad_alloc&) {
    ctx->fail_call(TF_RESOURCE_EXHAUSTED, "out of memory");
  } catch (...) {
    ctx->fail_call(TF_INTERNAL, "an exception of unknown type was thrown");
  }
  return 0;
}

bool may_overwrite(const TF_OpKernelContext& ctx, std::size_t in, TF_DataType dtype,
                   const int64_t* dims, int rank) {
  if (ctx.call.overwritable == nullptr || ctx.call.overwritable[in] == 0) return false;
  if (ctx.variable(in) != nullptr) return false;
  const TF_Tensor& input = *ctx.inputs[in];
  const Memory& memory = *input.memory;
  const int handles = ctx.is_kept ? 2 : 1;
  if (memory.references.load(std::memory_order_acquire) != handles || !memory.ours) return false;
  for (std::size_t k = 0; k < ctx.kernel.inputs.types.size(); ++k) {
    if (k != in && ctx.variable(k) == nullptr && ctx.inputs[k]->memory == &memory) return false;
  }
  const auto count = elements(dims, rank);
  return count.has_value() && *count == input.count() &&
         stored_size(dtype) == stored_size(input.dtype) && has_objects(dtype) == has_objects(input.dtype) &&
         !has_objects(dtype);
}

std::unique_ptr<TF_Tensor> reused(const TF_Tensor& input, TF_DataType dtype, const int64_t* dims, int rank) {
  std::unique_ptr<TF_Tensor> out(share(input));
  out->dims.assign(dims, rank);
  out->dtype = dtype;
  out->memory->dtype = dtype;
  return out;
}

// The variable that input `i` refers to, by reference or by handle.
VariablePtr variable_of_input(const TF_OpKernelContext& ctx, int i) {
  const std::size_t k = ctx.input_index(i);
  if (VariablePtr reference = ctx.variable(k)) return reference;
  return variable_at(*ctx.inputs[k], 0);
}

void lock_once(TF_OpKernelContext* ctx, const VariablePtr& variable) {
  if (std::find(ctx->locked.begin(), ctx->locked.end(), variable) != ctx->locked.end()) return;
  ctx->locked.reserve(ctx->locked.size() + 1);
  variable->lock(ctx, ctx->deadline);
  ctx->locked.push_back(variable);
}

void keep_in_view(TF_OpKernelContext* ctx, std::unique_ptr<TF_Tensor> value, DS_View* view) {
  show(*value, view);
  ctx->viewed.push_back(std::move(value));
}

}  // namespace

extern "C" {

TF_Bool DS_ViewInput(TF_OpKernelContext* ctx, int i, DS_View* view) {
  if (ctx == nullptr) return 0;
  if (static_cast<unsigned>(i) < ctx->kernel.inputs.types.size() && ctx->input_variables.empty()) {
    show(*ctx->inputs[i], view);
    return 1;
  }
  return tried(ctx, [&] {
    const std::size_t k = ctx->input_index(i);
    if (ctx->variable(k) == nullptr) show(*ctx->inputs[k], view);
    else keep_in_view(ctx, ctx->variable(k)->initialized(), view);
  });
}

TF_Bool DS_NewOutput(TF_OpKernelContext* ctx, int i, const int64_t* dims, int rank,
                     int forward_from, DS_View* view) {
  return tried(ctx, [&] {
    const std::size_t k = ctx->output_index(i);
    const TF_DataType dtype = ctx->kernel.outputs.types[k];
    const bool forwards = forward_from >= 0 && forward_from < ctx->num_inputs() &&
                          may_overwrite(*ctx, static_cast<std::size_t>(forward_from), dtype, dims, rank);
    auto made = forwards ? reused(*ctx->inputs[forward_from], dtype, dims, rank)
                         : ctx->allocate(dtype, dims, rank, ctx->kernel.output_on_host[k] != 0);
    show(*made, view);
    ctx->outputs[k] = std::move(made);
    if (!ctx->output_variables.empty()) ctx->output_variables[k].reset();
  });
}

TF_Bool DS_ShareInput(TF_OpKernelContext* ctx, int i, int input, const int64_t* dims, int rank) {
  return tried(ctx, [&] {
    const std::size_t in = ctx->input_index(input);
    const std::size_t out = ctx->output_index(i);
    auto shared = ctx->input(in);
    if (elements(dims, rank) != shared->count()) {
      fail(TF_INVALID_ARGUMENT, "the output must have as many elements as the input");
    }
    shared->dims.assign(dims, rank);
    ctx->set_output(out, std::move(shared));
  });
}

TF_Bool DS_ViewVariable(TF_OpKernelContext* ctx, int i, DS_View* view) {
  return tried(ctx, [&] { keep_in_view(ctx, variable_of_input(*ctx, i)->initialized(), view); });
}

TF_Bool DS_ChangeVariable(TF_OpKernelContext* ctx, int i, DS_View* view) {
  return tried(ctx, [&] {
    const VariablePtr variable = variable_of_input(*ctx, i);
    lock_once(ctx, variable);
    for (const auto& [known, value] : ctx->changing) {
      if (known == variable.get()) return show(*value, view);
    }
    ctx->changing.emplace_back(variable.get(), variable->changeable());
    show(*ctx->changing.back().second, view);
  });
}

TF_Bool DS_AssignVariable(TF_OpKernelContext* ctx, int i, int value) {
  return tried(ctx, [&] {
    const VariablePtr variable = variable_of_input(*ctx, i);
    lock_once(ctx, variable);
    variable->take(ctx->input(ctx->input_index(value)));
  });
}

TF_Bool DS_ShareVariableValue(TF_OpKernelContext* ctx, int i, int input) {
  return tried(ctx, [&] {
    const std::size_t out = ctx->output_index(i);
    ctx->set_output(out, variable_of_input(*ctx, input)->initialized());
  });
}

TF_Bool DS_InputIsConstant(TF_OpKernelContext* ctx, int i) {
  if (ctx == nullptr || i < 0 || i >= ctx->num_inputs()) return 0;
  const auto k = static_cast<std::size_t>(i);
  if (!ctx->input_variables.empty() && ctx->variable(k) != nullptr) return 0;
  const Memory* memory = ctx->inputs[k]->memory;
  return memory != nullptr && memory->constant ? 1 : 0;
}

void* DS_Scratch(TF_OpKernelContext* ctx, size_t bytes) {
  void* out = nullptr;
  tried(ctx, [&] {
    ctx->scratch.reserve(ctx->scratch.size() + 1);
    ctx->scratch.push_back(allocate(TF_UINT8, bytes));
    out = ctx->scratch.back()->data;
  });
  return out;
}

void DS_Fail(TF_OpKernelContext* ctx, TF_Code code, const char* message) {
  if (ctx == nullptr) return;
  answered(0, [&] {
    ctx->fail_call(code == TF_OK ? TF_INTERNAL : code, message == nullptr ? "" : message);
    return 0;
  });
}

}  // extern "C"
