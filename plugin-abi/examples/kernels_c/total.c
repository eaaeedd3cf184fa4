/* A kernel that finishes on another thread.
 *
 *   ExampleTotal(x) = the sum of all elements of x, a float tensor
 *
 * compute returns at once; the thread that it starts sets the output and calls the callback, exactly
 * once, on every path. Until then the context stays valid. */
#include <pthread.h>
#include <stdlib.h>

#include "drystone/kernels.h"
#include "drystone/ops.h"
#include "kernels.h"

typedef struct Work {
  TF_OpKernelContext* call;
  TF_AsyncOpKernelDoneCallback* done;
} Work;

static void infer_shape(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  TF_ShapeHandle* scalar = TF_ShapeInferenceContextScalar(ctx);
  TF_ShapeInferenceContextSetOutput(ctx, 0, scalar, status);
  TF_DeleteShapeHandle(scalar);
}

static void register_op(TF_Status* status) {
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("ExampleTotal");
  TF_OpDefinitionBuilderAddInput(op, "x: float");
  TF_OpDefinitionBuilderAddOutput(op, "total: float");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, infer_shape);
  TF_RegisterOpDefinition(op, status);
}

static void add_up(TF_OpKernelContext* call, TF_Status* status) {
  TF_Tensor* x = NULL;
  TF_Tensor* total = NULL;
  TF_GetInput(call, 0, &x, status);
  if (TF_GetCode(status) == TF_OK) {
    total = TF_AllocateOutput(call, 0, TF_FLOAT, NULL, 0, sizeof(float), status);
  }
  if (TF_GetCode(status) == TF_OK) {
    const float* values = (const float*)TF_TensorData(x);
    const int64_t count = TF_TensorElementCount(x);
    double sum = 0;
    int64_t k;
    for (k = 0; k < count; ++k) sum += (double)values[k];
    *(float*)TF_TensorData(total) = (float)sum;
  }
  TF_DeleteTensor(x);
  TF_DeleteTensor(total);
}

static void* work(void* argument) {
  Work* task = (Work*)argument;
  TF_AsyncOpKernelDoneCallback* done = task->done;
  TF_Status* status = TF_NewStatus();
  add_up(task->call, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(task->call, status);
  TF_DeleteStatus(status);
  free(task);
  TF_RunAsyncOpKernelDoneCallback(done); /* nothing of the call may be touched after this */
  return NULL;
}

static void compute(void* kernel, TF_OpKernelContext* call, TF_AsyncOpKernelDoneCallback* done) {
  pthread_t thread;
  Work* task = (Work*)malloc(sizeof *task);
  (void)kernel; /* no state, so no create function */
  if (task != NULL) {
    task->call = call;
    task->done = done;
    if (pthread_create(&thread, NULL, work, task) == 0) {
      pthread_detach(thread);
      return;
    }
    work(task); /* no thread to be had: do it here */
    return;
  }
  TF_Status* status = TF_NewStatus();
  TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "ExampleTotal: no memory for a task");
  TF_OpKernelContext_Failure(call, status);
  TF_DeleteStatus(status);
  TF_RunAsyncOpKernelDoneCallback(done);
}

void register_total(TF_Status* status) {
  register_op(status);
  if (TF_GetCode(status) != TF_OK) return;
  TF_RegisterKernelBuilder(
      "ExampleTotal", TF_NewAsyncKernelBuilder("ExampleTotal", "CPU", NULL, compute, NULL), status);
}
