// Outputs and temporary memory of a call: see drystone/kernels.h.
#include <algorithm>

#include "kernels/context.h"
#include "kernels/views.h"

using namespace drystone::host;
using namespace drystone::host::kernels;

namespace {

// Memory for an output, kept as such; a new handle of it.
TF_Tensor* allocate_output(TF_OpKernelContext* ctx, std::size_t i, const int64_t* dims, int count) {
  const bool on_host = ctx->kernel().output_on_host[i] != 0;
  auto own = ctx->allocate(ctx->kernel().outputs.types[i], dims, count, on_host);
  std::unique_ptr<TF_Tensor> theirs(share(*own));
  ctx->set_output(i, std::move(own));
  return theirs.release();
}

bool fits(const TF_OpKernelContext& ctx, std::size_t in, std::size_t out, std::int64_t count) {
  return ctx.kernel().inputs.types[in] == ctx.kernel().outputs.types[out] &&
         ctx.kernel().input_on_host[in] == ctx.kernel().output_on_host[out] && is_given_up(ctx, in) &&
         (ctx.inputs[in]->memory->ours || ctx.inputs[in]->memory->device != 0) &&
         ctx.inputs[in]->count() == count;
}

// The input's memory as output `out`; a new handle of it.
TF_Tensor* forward(TF_OpKernelContext* ctx, std::size_t in, std::size_t out, const int64_t* dims,
                   int count) {
  std::unique_ptr<TF_Tensor> own(share(*ctx->inputs[in]));
  own->dims.assign(dims, count);
  std::unique_ptr<TF_Tensor> theirs(share(*own));
  ctx->set_output(out, std::move(own));
  return theirs.release();
}

}  // namespace

extern "C" {

TF_Tensor* TF_AllocateOutput(TF_OpKernelContext* context, int index, TF_DataType dtype,
                             const int64_t* dims, int num_dims, size_t, TF_Status* status) {
  TF_Tensor* out = nullptr;
  guarded(status, __func__, [&] {
    require(context, "context");
    const std::size_t i = context->output_index(index);
    context->check_output_dtype(i, dtype);
    out = allocate_output(context, i, dims, num_dims);
  });
  return out;
}

TF_Tensor* TF_ForwardInputOrAllocateOutput(TF_OpKernelContext* context,
                                           const int* candidate_input_indices,
                                           int num_candidate_input_indices, int output_index,
                                           const int64_t* output_dims, int output_num_dims,
                                           int* forwarded_input, TF_Status* status) {
  TF_Tensor* out = nullptr;
  guarded(status, __func__, [&] {
    require(context, "context");
    if (forwarded_input != nullptr) *forwarded_input = -1;
    const int candidates = std::max(num_candidate_input_indices, 0);
    if (candidates != 0) require(candidate_input_indices, "candidate_input_indices");
    const std::size_t i = context->output_index(output_index);
    const auto count = elements(output_dims, output_num_dims);
    if (!count) fail(TF_INVALID_ARGUMENT, "no tensor has those dimensions");
    for (int k = 0; k < candidates; ++k) context->input_index(candidate_input_indices[k]);
    for (int k = 0; k < candidates && out == nullptr; ++k) {
      const auto in = static_cast<std::size_t>(candidate_input_indices[k]);
      if (!fits(*context, in, i, *count)) continue;
      out = forward(context, in, i, output_dims, output_num_dims);
      if (forwarded_input != nullptr) *forwarded_input = candidate_input_indices[k];
    }
    if (out == nullptr) out = allocate_output(context, i, output_dims, output_num_dims);
  });
  return out;
}

void TF_SetOutput(TF_OpKernelContext* ctx, int i, const TF_Tensor* tensor, TF_Status* status) {
  guarded(status, __func__, [&] {
    require(ctx, "ctx");
    const std::size_t k = ctx->output_index(i);
    require(tensor, "tensor");
    ctx->set_output(k, std::unique_ptr<TF_Tensor>(share(*tensor)));
  });
}

TF_Tensor* TF_GetMutableOutput(TF_OpKernelContext* ctx, int i, TF_Status* status) {
  TF_Tensor* out = nullptr;
  guarded(status, __func__, [&] {
    require(ctx, "ctx");
    const TF_Tensor* now = ctx->outputs[ctx->output_index(i)];
    if (now == nullptr) {
      fail(TF_FAILED_PRECONDITION, "output " + std::to_string(i) + " is not set yet");
    }
    out = share(*now);
  });
  return out;
}

TF_Tensor* TF_AllocateTemp(TF_OpKernelContext* context, TF_DataType dtype, const int64_t* dims,
                           int num_dims, TF_AllocatorAttributes* alloc_attrs, TF_Status* status) {
  TF_Tensor* out = nullptr;
  guarded(status, __func__, [&] {
    require(context, "context");
    bool on_host = context->kernel().on_cpu();
    if (alloc_attrs != nullptr) {
      if (!DRYSTONE_HAS_MEMBER(TF_AllocatorAttributes, alloc_attrs, on_host)) {
        fail(TF_INVALID_ARGUMENT,
             "alloc_attrs->struct_size must be set to TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE");
      }
      on_host = on_host || alloc_attrs->on_host != 0;
    }
    out = context->allocate(dtype, dims, num_dims, on_host).release();
  });
  return out;
}

void TF_OpKernelContext_Failure(TF_OpKernelContext* ctx, TF_Status* status) {
  if (ctx == nullptr || (status != nullptr && status->code == TF_OK)) return;
  answered(0, [&] {
    if (status == nullptr) ctx->fail_call({TF_INTERNAL, "it failed and gave no status"});
    else ctx->fail_call(failure_in(*status));
    return 0;
  });
}

}  // extern "C"
