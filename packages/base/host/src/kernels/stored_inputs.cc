// Inputs that stay in a file: see drystone/kernel_stored.h.
#include "drystone/kernel_stored.h"

#include <cstring>
#include <memory>

#include "core/stored.h"
#include "kernels/construction.h"
#include "kernels/context.h"
#include "kernels/views.h"

using namespace drystone::host;
using namespace drystone::host::kernels;

extern "C" {

void DS_TakeStored(TF_OpKernelConstruction* ctx, int i) {
  if (ctx == nullptr || ctx->takes_stored == nullptr || i < 0) return;
  const auto k = static_cast<std::size_t>(i);
  if (k < ctx->takes_stored->size()) (*ctx->takes_stored)[k] = 1;
}

TF_Bool DS_ReadInput(TF_OpKernelContext* ctx, int i, size_t offset, size_t bytes, void* into) {
  return tried(ctx, [&] {
    const TF_Tensor& input = *ctx->inputs[ctx->input_index(i)];
    if (is_stored(input)) return read_stored(input, offset, bytes, into);
    const std::size_t size = TF_TensorByteSize(&input);
    if (offset > size || bytes > size - offset) fail(TF_OUT_OF_RANGE, "an input has fewer bytes");
    if (bytes != 0) std::memcpy(into, static_cast<const char*>(data_of(input)) + offset, bytes);
  });
}

const void* DS_LoadInput(TF_OpKernelContext* ctx, int i) {
  const void* out = nullptr;
  tried(ctx, [&] {
    const TF_Tensor& input = *ctx->inputs[ctx->input_index(i)];
    out = data_of(input);
    if (out != nullptr) return;
    const std::unique_ptr<TF_Tensor> whole(loaded(input));  // whose memory the input keeps
    out = data_of(*whole);
  });
  return out;
}

}  // extern "C"
