/* Kernels of an op `Scale(x: T, shift: T) -> y: T, rank: int32` with attribute `factor: float`:
 *   CPU, T = float                       y = x * factor + shift
 *   CPU, T = float, label "later"        the same, on another thread
 *   CPU, T = double, int64 (two kernels) always a failure that says why
 * and, with -DTWICE, the first of them a second time. -DPRIORITY=N and -DNAME="..." change them. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>

#include "drystone/kernels_experimental.h"
#include "drystone/ops.h"

#ifndef PRIORITY
#define PRIORITY 0
#endif
#ifndef NAME
#define NAME "Scale"
#endif

TF_CAPI_EXPORT extern int scales_alive;
int scales_alive = 0;

static void* create(TF_OpKernelConstruction* ctx) {
  TF_Status* status = TF_NewStatus();
  float* factor = malloc(sizeof *factor);
  ++scales_alive;
  TF_OpKernelConstruction_GetAttrFloat(ctx, "factor", factor, status);
  if (TF_GetCode(status) == TF_OK && *factor == 0) {
    TF_SetStatus(status, TF_INVALID_ARGUMENT, "factor must not be 0");
  }
  if (TF_GetCode(status) != TF_OK) TF_OpKernelConstruction_Failure(ctx, status);
  TF_DeleteStatus(status);
  return factor;
}

static void destroy(void* state) {
  free(state);
  --scales_alive;
}

/* The shape of x into dims; its rank, or -1 and a failure of the call. */
static int shape_of(TF_OpKernelContext* ctx, const TF_Tensor* x, int64_t* dims, TF_Status* status) {
  const int rank = TF_NumDims(x);
  if (rank > 8) {
    TF_SetStatus(status, TF_UNIMPLEMENTED, "more than 8 dimensions");
    TF_OpKernelContext_Failure(ctx, status);
    return -1;
  }
  for (int k = 0; k < rank; ++k) dims[k] = TF_Dim(x, k);
  return rank;
}

static void compute(void* state, TF_OpKernelContext* ctx) {
  TF_Status* status = TF_NewStatus();
  TF_Tensor *x = NULL, *shift = NULL, *y = NULL, *rank_out = NULL;
  int64_t dims[8];
  int rank = -1;
  TF_GetInput(ctx, 0, &x, status);
  TF_GetInputByName(ctx, "shift", &shift, status);
  rank = shape_of(ctx, x, dims, status);
  if (rank >= 0) {
    const int candidates[] = {0};
    y = TF_ForwardInputOrAllocateOutput(ctx, candidates, 1, 0, dims, rank, NULL, status);
    rank_out = TF_AllocateOutput(ctx, 1, TF_INT32, NULL, 0, sizeof(int32_t), status);
  }
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(ctx, status);
  if (y != NULL && rank_out != NULL) {
    const float* from = TF_TensorData(x);
    const float add = *(const float*)TF_TensorData(shift);
    float* to = TF_TensorData(y);
    for (int64_t k = 0; k < TF_TensorElementCount(x); ++k) to[k] = from[k] * *(float*)state + add;
    *(int32_t*)TF_TensorData(rank_out) = rank;
  }
  TF_DeleteTensor(x);
  TF_DeleteTensor(shift);
  TF_DeleteTensor(y);
  TF_DeleteTensor(rank_out);
  TF_DeleteStatus(status);
}

struct work {
  void* state;
  TF_OpKernelContext* ctx;
  TF_AsyncOpKernelDoneCallback* done;
};

static void* run(void* argument) {
  struct work work = *(struct work*)argument;
  free(argument);
  compute(work.state, work.ctx);
  TF_RunAsyncOpKernelDoneCallback(work.done);
  return NULL;
}

static void compute_later(void* state, TF_OpKernelContext* ctx,
                          TF_AsyncOpKernelDoneCallback* done) {
  pthread_t thread;
  struct work* work = malloc(sizeof *work);
  *work = (struct work){state, ctx, done};
  if (pthread_create(&thread, NULL, run, work) != 0) {
    run(work);
    return;
  }
  pthread_detach(thread);
}

static void refuse(void* state, TF_OpKernelContext* ctx) {
  TF_Status* status = TF_NewStatus();
  (void)state;
  TF_SetStatus(status, TF_FAILED_PRECONDITION, "only float can be scaled");
  TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
}

static void add(TF_KernelBuilder* builder, TF_DataType type, const char* label) {
  TF_Status* status = TF_NewStatus();
  TF_KernelBuilder_TypeConstraint(builder, "T", type, status);
  TF_KernelBuilder_HostMemory(builder, "shift");
  TF_KernelBuilder_Priority(builder, PRIORITY);
  TF_KernelBuilder_Label(builder, label);
  TF_RegisterKernelBuilder(NAME, builder, status);
  TF_DeleteStatus(status);
}

static void define_op(void) {
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("Scale");
  TF_OpDefinitionBuilderAddAttr(op, "T: {float, double, int64}");
  TF_OpDefinitionBuilderAddAttr(op, "factor: float = 2.0");
  TF_OpDefinitionBuilderAddInput(op, "x: T");
  TF_OpDefinitionBuilderAddInput(op, "shift: T");
  TF_OpDefinitionBuilderAddOutput(op, "y: T");
  TF_OpDefinitionBuilderAddOutput(op, "rank: int32");
  TF_RegisterOpDefinition(op, status);
  TF_DeleteStatus(status);
}

void TF_InitKernel(void) {
  define_op();
  add(TF_NewKernelBuilder("Scale", "CPU", create, compute, destroy), TF_FLOAT, "");
  add(TF_NewAsyncKernelBuilder("Scale", "CPU", create, compute_later, destroy), TF_FLOAT, "later");
  add(TF_NewKernelBuilder("Scale", "CPU", NULL, refuse, NULL), TF_DOUBLE, "");
  add(TF_NewKernelBuilder("Scale", "CPU", NULL, refuse, NULL), TF_INT64, "");
#ifdef TWICE
  add(TF_NewKernelBuilder("Scale", "CPU", create, compute, destroy), TF_FLOAT, "");
#endif
}
