// Inputs of a call: see drystone/kernels.h.
#include "kernels/context.h"

using namespace drystone::host;
using namespace drystone::host::kernels;

namespace {

TF_DataType with_mark(TF_DataType dtype, bool is_ref) {
  constexpr int kReference = 100;
  return static_cast<TF_DataType>(static_cast<int>(dtype) + (is_ref ? kReference : 0));
}

const Range& range_of(const TF_OpKernelContext* ctx, const char* name) {
  require(ctx, "ctx");
  require(name, "the argument's name");
  const Range* range = ctx->kernel().inputs.range(name);
  if (range == nullptr) {
    fail(TF_INVALID_ARGUMENT, "op '" + std::string(ctx->kernel().node.op()) +
                                  "' has no input argument '" + name + "'");
  }
  return *range;
}

}  // namespace

extern "C" {

int TF_NumInputs(TF_OpKernelContext* ctx) { return ctx == nullptr ? 0 : ctx->num_inputs(); }

int TF_NumOutputs(TF_OpKernelContext* ctx) { return ctx == nullptr ? 0 : ctx->num_outputs(); }

void TF_GetInput(TF_OpKernelContext* ctx, int i, TF_Tensor** tensor, TF_Status* status) {
  guarded(status, __func__, [&] {
    require(ctx, "ctx");
    require(tensor, "tensor");
    *tensor = ctx->input(ctx->input_index(i)).release();
  });
}

void TF_GetInputByName(TF_OpKernelContext* ctx, const char* inputName, TF_Tensor** tensor,
                       TF_Status* status) {
  guarded(status, __func__, [&] {
    const Range& range = range_of(ctx, inputName);
    require(tensor, "tensor");
    if (range.stop - range.start != 1) {
      fail(TF_INVALID_ARGUMENT, "input argument '" + range.name + "' stands for " +
                                    std::to_string(range.stop - range.start) +
                                    " inputs: ask TF_InputRange");
    }
    *tensor = ctx->input(static_cast<std::size_t>(range.start)).release();
  });
}

void TF_InputRange(TF_OpKernelContext* ctx, const char* name, TF_InputRange_Args* args) {
  if (args == nullptr || args->struct_size < TF_InputRange_Args_STRUCT_SIZE) return;
  guarded(args->status, __func__, [&] {
    const Range& range = range_of(ctx, name);
    args->start = range.start;
    args->stop = range.stop;
  });
}

TF_DataType TF_InputDatatype(TF_OpKernelContext* ctx, int index) {
  return answered(static_cast<TF_DataType>(0), [&] {
    require(ctx, "ctx");
    const std::size_t i = ctx->input_index(index);
    return with_mark(ctx->kernel().inputs.types[i], ctx->variable(i) != nullptr);
  });
}

TF_DataType TF_ExpectedOutputDataType(TF_OpKernelContext* ctx, int i) {
  return answered(static_cast<TF_DataType>(0), [&] {
    require(ctx, "ctx");
    const std::size_t k = ctx->output_index(i);
    return with_mark(ctx->kernel().outputs.types[k], ctx->kernel().outputs.is_ref[k] != 0);
  });
}

bool TF_IsRefInput(TF_OpKernelContext* ctx, int i, TF_Status* status) {
  bool is_ref = false;
  guarded(status, __func__, [&] {
    require(ctx, "ctx");
    is_ref = ctx->variable(ctx->input_index(i)) != nullptr;
  });
  return is_ref;
}

bool TF_IsHostMemoryInput(TF_OpKernelContext* ctx, int i, TF_Status* status) {
  bool on_host = false;
  guarded(status, __func__, [&] {
    require(ctx, "ctx");
    on_host = ctx->kernel().input_on_host[ctx->input_index(i)] != 0;
  });
  return on_host;
}

bool TF_IsHostMemoryOutput(TF_OpKernelContext* ctx, int i, TF_Status* status) {
  bool on_host = false;
  guarded(status, __func__, [&] {
    require(ctx, "ctx");
    on_host = ctx->kernel().output_on_host[ctx->output_index(i)] != 0;
  });
  return on_host;
}

}  // extern "C"
