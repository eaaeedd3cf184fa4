/* What the hostile kernels share: a node with the attribute `how: int` of an op `(x: float) -> y: float`, and
 * a call that has its input copied to its output. */
#ifndef HOSTILE_KERNELS_H_
#define HOSTILE_KERNELS_H_

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "drystone/kernels.h"
#include "drystone/ops.h"

struct Node {
  int64_t how;
};

static void* create(TF_OpKernelConstruction* ctx) {
  TF_Status* status = TF_NewStatus();
  struct Node* node = calloc(1, sizeof *node);
  TF_OpKernelConstruction_GetAttrInt64(ctx, "how", &node->how, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelConstruction_Failure(ctx, status);
  TF_DeleteStatus(status);
  return node;
}

static void destroy(void* state) { free(state); }

/* x, a fresh output of its shape with the same numbers, and how many bytes that is. */
struct Call {
  TF_Tensor *x, *y;
  float* in;
  float* out;
  size_t bytes;
};

static struct Call begin(TF_OpKernelContext* ctx) {
  struct Call call = {0};
  TF_Status* status = TF_NewStatus();
  TF_GetInput(ctx, 0, &call.x, status);
  const int64_t dims[1] = {TF_TensorElementCount(call.x)};
  call.bytes = TF_TensorByteSize(call.x);
  call.y = TF_AllocateOutput(ctx, 0, TF_FLOAT, dims, 1, call.bytes, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
  call.in = TF_TensorData(call.x);
  call.out = TF_TensorData(call.y);
  memcpy(call.out, call.in, call.bytes);
  return call;
}

static void end(struct Call call) {
  TF_DeleteTensor(call.x);
  TF_DeleteTensor(call.y);
}

#endif  /* HOSTILE_KERNELS_H_ */
