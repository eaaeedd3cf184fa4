// Inputs and outputs as plain pointers: see drystone/kernel_views.h.
#include "drystone/kernel_views.h"

#include <cstring>
#include <utility>

#include "core/memory_limit.h"
#include "core/stored.h"
#include "kernels/context.h"
#include "kernels/views.h"

using namespace drystone::host;
using namespace drystone::host::kernels;

namespace {

alignas(kAlignment) unsigned char nothing[kAlignment];
constexpr std::int64_t kNoDims[1] = {0};

}  // namespace

namespace drystone::host::kernels {

void* data_of(const TF_Tensor& tensor) {
  if (tensor.memory->data != nullptr) return tensor.memory->data;
  return tensor.memory->stored ? nullptr : nothing;
}

void show(const TF_Tensor& tensor, DS_View* view) {
  if (view == nullptr) return;
  DS_View part;
  DS_View& out = view->struct_size >= DS_VIEW_STRUCT_SIZE ? *view : part;
  out.data = data_of(tensor);
  out.dims = tensor.dims.rank() == 0 ? kNoDims : tensor.dims.data();
  out.count = tensor.count();
  out.rank = tensor.dims.rank();
  out.dtype = tensor.dtype;
  if (&out == view || view->struct_size <= sizeof(std::size_t)) return;
  part.struct_size = view->struct_size;
  std::memcpy(view, &part, view->struct_size);
}

bool is_given_up(const TF_OpKernelContext& ctx, std::size_t in) {
  if (ctx.call->overwritable == nullptr || ctx.call->overwritable[in] == 0) return false;
  if (ctx.is_reference(in)) return false;
  const TF_Tensor& input = *ctx.inputs[in];
  const int handles = ctx.is_kept ? 2 : 1;  // the caller's, and the context's own
  if (input.users.load(std::memory_order_acquire) != 1) return false;
  if (input.memory->references.load(std::memory_order_acquire) != handles) return false;
  for (std::size_t k = 0; k < ctx.kernel().inputs.types.size(); ++k) {
    if (k != in && !ctx.is_reference(k) && ctx.inputs[k]->memory == input.memory) return false;
  }
  return true;
}

}  // namespace drystone::host::kernels

namespace {

bool may_overwrite(const TF_OpKernelContext& ctx, std::size_t in, TF_DataType dtype,
                   const int64_t* dims, int rank) {
  if (!is_given_up(ctx, in) || !ctx.inputs[in]->memory->ours) return false;
  const TF_Tensor& input = *ctx.inputs[in];
  const auto count = elements(dims, rank);
  return count.has_value() && *count == input.count() &&
         stored_size(dtype) == stored_size(input.dtype) && has_objects(dtype) == has_objects(input.dtype) &&
         !has_objects(dtype);
}

TF_Tensor* reused(const TF_Tensor& input, TF_DataType dtype, const int64_t* dims, int rank) {
  std::unique_ptr<TF_Tensor> out(share(input));
  out->dims.assign(dims, rank);
  out->dtype = dtype;
  out->memory->dtype = dtype;
  return out.release();
}

// The input as it is, held, where the output would be no different: nothing is made then. NULL where it
// is not so. One user of the only handle means that the memory is nowhere else.
TF_Tensor* same_as_input(const TF_OpKernelContext& ctx, int in, TF_DataType dtype,
                         const int64_t* dims, int rank) {
  if (in < 0 || !ctx.shares || ctx.call->overwritable == nullptr) return nullptr;
  if (in >= ctx.num_inputs() || ctx.call->overwritable[in] == 0 || ctx.has_more) return nullptr;
  TF_Tensor* input = ctx.inputs[in];
  if (input->dtype != dtype || !is_exclusive(*input) || !input->dims.equal(dims, rank)) return nullptr;
  return has_objects(dtype) ? nullptr : hold_own(input);
}

// The variable that input `i` refers to, by reference or by handle.
VariablePtr variable_of_input(const TF_OpKernelContext& ctx, int i) {
  const std::size_t k = ctx.input_index(i);
  if (VariablePtr reference = ctx.variable(k)) return reference;
  return variable_at(*ctx.inputs[k], 0);
}

// The same, or NULL for an input that refers to none.
VariablePtr any_variable_of_input(const TF_OpKernelContext& ctx, std::size_t k) {
  if (VariablePtr reference = ctx.variable(k)) return reference;
  const TF_Tensor& input = *ctx.inputs[k];
  if (input.dtype != TF_RESOURCE || input.count() == 0) return nullptr;
  return find_variable(input, 0);
}

void lock_for_change(TF_OpKernelContext* ctx, const Variable& variable) {
  ctx->has_more = true;
  if (ctx->unheard == nullptr) ctx->unheard = Stop::exchange(nullptr);
  if (ctx->locks.ask(variable)) return;
  std::vector<VariablePtr> all;
  for (int k = 0; k < ctx->num_inputs(); ++k) {
    all.push_back(any_variable_of_input(*ctx, static_cast<std::size_t>(k)));
  }
  ctx->locks.lock_all(std::move(all), ctx, ctx->deadline);
  ctx->locks.ask(variable);
}

void keep_in_view(TF_OpKernelContext* ctx, std::unique_ptr<TF_Tensor> value, DS_View* view) {
  show(*value, view);
  ctx->has_more = true;
  ctx->viewed.push_back(std::move(value));
}

}  // namespace

extern "C" {

TF_Bool DS_ViewInput(TF_OpKernelContext* ctx, int i, DS_View* view) {
  if (ctx == nullptr) return 0;
  if (static_cast<unsigned>(i) < ctx->kernel().inputs.types.size() && ctx->input_variables.empty()) {
    show(*ctx->inputs[i], view);
    return 1;
  }
  return tried(ctx, [&] {
    const std::size_t k = ctx->input_index(i);
    if (!ctx->is_reference(k)) show(*ctx->inputs[k], view);
    else keep_in_view(ctx, ctx->variable(k)->initialized(ctx->lane_for(k)), view);
  });
}

TF_Bool DS_NewOutput(TF_OpKernelContext* ctx, int i, const int64_t* dims, int rank,
                     int forward_from, DS_View* view) {
  return tried(ctx, [&] {
    const std::size_t k = ctx->output_index(i);
    const TF_DataType dtype = ctx->kernel().outputs.types[k];
    TF_Tensor* made = same_as_input(*ctx, forward_from, dtype, dims, rank);
    if (made == nullptr) {
      const bool forwards = forward_from >= 0 && forward_from < ctx->num_inputs() &&
                            may_overwrite(*ctx, static_cast<std::size_t>(forward_from), dtype, dims, rank);
      made = forwards ? reused(*ctx->inputs[forward_from], dtype, dims, rank)
                      : ctx->allocate(dtype, dims, rank, ctx->kernel().output_on_host[k] != 0).release();
    }
    show(*made, view);
    drop(std::exchange(ctx->outputs[k], made));
    if (!ctx->output_variables.empty()) ctx->output_variables[k].reset();
  });
}

TF_Bool DS_ShareInput(TF_OpKernelContext* ctx, int i, int input, const int64_t* dims, int rank) {
  return tried(ctx, [&] {
    const std::size_t in = ctx->input_index(input);
    const std::size_t out = ctx->output_index(i);
    TF_Tensor* const given = ctx->inputs[in];
    if (ctx->shares && !ctx->has_more && given->dims.equal(dims, rank) && !is_stored(*given)) {
      ctx->check_output_dtype(out, given->dtype);
      drop(std::exchange(ctx->outputs[out], hold(given)));
      return;
    }
    auto shared = ctx->input(in);
    if (elements(dims, rank) != shared->count()) {
      fail(TF_INVALID_ARGUMENT, "the output must have as many elements as the input");
    }
    shared->dims.assign(dims, rank);
    ctx->set_output(out, std::move(shared));
  });
}

TF_Bool DS_ViewVariable(TF_OpKernelContext* ctx, int i, DS_View* view) {
  return tried(ctx, [&] { keep_in_view(ctx, variable_of_input(*ctx, i)->initialized(lane_of(*ctx->call)), view); });
}

TF_Bool DS_ChangeVariable(TF_OpKernelContext* ctx, int i, DS_View* view) {
  return tried(ctx, [&] {
    const VariablePtr variable = variable_of_input(*ctx, i);
    lock_for_change(ctx, *variable);
    for (const auto& [known, value] : ctx->changing) {
      if (known == variable.get()) return show(*value, view);
    }
    ctx->changing.emplace_back(variable.get(), variable->changeable(lane_of(*ctx->call)));
    show(*ctx->changing.back().second, view);
  });
}

TF_Bool DS_AssignVariable(TF_OpKernelContext* ctx, int i, int value) {
  return tried(ctx, [&] {
    const VariablePtr variable = variable_of_input(*ctx, i);
    lock_for_change(ctx, *variable);
    variable->take(ctx->input(ctx->input_index(value)));
  });
}

TF_Bool DS_ShareVariableValue(TF_OpKernelContext* ctx, int i, int input) {
  return tried(ctx, [&] {
    const std::size_t out = ctx->output_index(i);
    ctx->set_output(out, variable_of_input(*ctx, input)->initialized(lane_of(*ctx->call)));
  });
}

int DS_VariableHasValue(TF_OpKernelContext* ctx, int i) {
  int out = -1;
  tried(ctx, [&] { out = variable_of_input(*ctx, i)->value() != nullptr ? 1 : 0; });
  return out;
}

TF_Bool DS_InputIsConstant(TF_OpKernelContext* ctx, int i) {
  if (ctx == nullptr || i < 0 || i >= ctx->num_inputs()) return 0;
  const auto k = static_cast<std::size_t>(i);
  if (!ctx->input_variables.empty() && ctx->variable(k) != nullptr) return 0;
  const TF_Tensor& input = *ctx->inputs[k];
  return input.memory != nullptr && (input.memory->constant || input.is_session_constant) ? 1 : 0;
}

TF_Bool DS_InputIdentity(TF_OpKernelContext* ctx, int i, uint64_t* identity) {
  if (identity == nullptr || DS_InputIsConstant(ctx, i) == 0) return 0;
  const Memory& memory = *ctx->inputs[static_cast<std::size_t>(i)]->memory;
  if (memory.stored) {
    const auto& stored = *static_cast<const Stored*>(memory.argument);
    if (!stored.factors.empty() || stored.argument == nullptr) return 0;
    identity[0] = reinterpret_cast<std::uintptr_t>(stored.argument);  // what keeps the file open
    identity[1] = static_cast<std::uint64_t>(stored.offset);
    return 1;
  }
  if (memory.opaque || memory.data == nullptr) return 0;
  identity[0] = reinterpret_cast<std::uintptr_t>(memory.data);
  identity[1] = ~std::uint64_t{0};
  return 1;
}

void* DS_Scratch(TF_OpKernelContext* ctx, size_t bytes) {
  void* out = nullptr;
  tried(ctx, [&] {
    check_fits(bytes, [] { return std::string("memory that the kernel works with: "); });
    ctx->has_more = true;
    ctx->scratch.reserve(ctx->scratch.size() + 1);
    ctx->scratch.push_back(allocate(TF_UINT8, bytes, ctx->kernel().registered->guards()));
    out = ctx->scratch.back()->data;
  });
  return out;
}

void DS_Fail(TF_OpKernelContext* ctx, TF_Code code, const char* message) {
  if (ctx == nullptr) return;
  answered(0, [&] {
    ctx->fail_call({code == TF_OK ? TF_INTERNAL : code, message == nullptr ? "" : message});
    return 0;
  });
}

}  // extern "C"
