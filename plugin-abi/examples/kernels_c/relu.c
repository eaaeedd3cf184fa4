/* Another kernel for an op that the host has: Relu of float.
 *
 * The type constraint leaves all other dtypes to the host. The default priority, 0, is above that of
 * the host's own kernels, -1, so this one is chosen; `drystone plugins explain Relu` says so. */
#include "drystone/kernels.h"
#include "kernels.h"

static void compute(void* kernel, TF_OpKernelContext* call) {
  static const int candidates[] = {0};
  TF_Status* status = TF_NewStatus();
  TF_Tensor* x = NULL;
  TF_Tensor* y = NULL;
  int64_t dims[32];
  int forwarded = -1;
  int k;
  (void)kernel;
  TF_GetInput(call, 0, &x, status);
  if (TF_GetCode(status) == TF_OK && TF_NumDims(x) > 32) {
    TF_SetStatus(status, TF_UNIMPLEMENTED, "this Relu takes at most 32 dimensions");
  }
  if (TF_GetCode(status) == TF_OK) {
    for (k = 0; k < TF_NumDims(x); ++k) dims[k] = TF_Dim(x, k);
    y = TF_ForwardInputOrAllocateOutput(call, candidates, 1, 0, dims, TF_NumDims(x), &forwarded,
                                        status);
  }
  if (TF_GetCode(status) == TF_OK) {
    const float* from = (const float*)TF_TensorData(x);
    float* to = (float*)TF_TensorData(y);
    const int64_t count = TF_TensorElementCount(x);
    int64_t i;
    for (i = 0; i < count; ++i) to[i] = from[i] < 0 ? 0 : from[i]; /* NaN stays NaN */
  } else {
    TF_OpKernelContext_Failure(call, status);
  }
  TF_DeleteTensor(x);
  TF_DeleteTensor(y);
  TF_DeleteStatus(status);
}

void register_relu(TF_Status* status) {
  TF_KernelBuilder* kernel = TF_NewKernelBuilder("Relu", "CPU", NULL, compute, NULL);
  TF_KernelBuilder_TypeConstraint(kernel, "T", TF_FLOAT, status);
  if (TF_GetCode(status) != TF_OK) {
    TF_DeleteKernelBuilder(kernel);
    return;
  }
  TF_RegisterKernelBuilder("ExampleRelu", kernel, status);
}
