/* A kernel of the fake device: its output is the address of the stream that it runs on. */
#include "drystone/kernels.h"
#include "drystone/ops.h"

static void compute(void* kernel, TF_OpKernelContext* ctx) {
  (void)kernel;
  TF_Status* const status = TF_NewStatus();
  const SP_Stream stream = TF_GetStream(ctx, status);
  if (TF_GetCode(status) == TF_OK) {
    TF_Tensor* const output = TF_AllocateOutput(ctx, 0, TF_INT64, NULL, 0, sizeof(int64_t), status);
    if (output != NULL) *(int64_t*)TF_TensorData(output) = (int64_t)(intptr_t)stream;
    TF_DeleteTensor(output);
  }
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
}

void TF_InitKernel(void) {
  TF_Status* const status = TF_NewStatus();
  TF_OpDefinitionBuilder* const op = TF_NewOpDefinitionBuilder("StreamAddress");
  TF_OpDefinitionBuilderAddOutput(op, "address: int64");
  TF_RegisterOpDefinition(op, status);
  TF_RegisterKernelBuilder("StreamAddress",
                           TF_NewKernelBuilder("StreamAddress", "FAKE", NULL, compute, NULL),
                           status);
  TF_DeleteStatus(status);
}
