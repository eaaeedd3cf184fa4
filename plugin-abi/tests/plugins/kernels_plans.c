/* Kernels for tests of how plans are made. TestPatient's is made only when another thread has said so:
 * others go on meanwhile. TestHandsOn's takes a constant that is in a file, and hands it on. */
#define _POSIX_C_SOURCE 200809L
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "drystone/kernel_stored.h"
#include "drystone/kernel_views.h"
#include "drystone/kernels.h"
#include "drystone/ops.h"
#include "drystone/status.h"

static atomic_int said, waits;

static void* create(TF_OpKernelConstruction* ctx) {
  const struct timespec millisecond = {0, 1000000};
  atomic_store(&waits, 1);
  for (int k = 0; k < 10000 && !atomic_load(&said); ++k) nanosleep(&millisecond, NULL);
  if (!atomic_load(&said)) {
    TF_Status* status = TF_NewStatus();
    TF_SetStatus(status, TF_DEADLINE_EXCEEDED, "no other thread has said that it may be made");
    TF_OpKernelConstruction_Failure(ctx, status);
    TF_DeleteStatus(status);
  }
  return NULL;
}

static void compute(void* state, TF_OpKernelContext* ctx) {
  TF_Tensor* x = NULL;
  TF_Status* status = TF_NewStatus();
  (void)state;
  TF_GetInput(ctx, 0, &x, status);
  if (TF_GetCode(status) == TF_OK) TF_SetOutput(ctx, 0, x, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteTensor(x);
  TF_DeleteStatus(status);
}

static void* ask(TF_OpKernelConstruction* ctx) {
  DS_TakeStored(ctx, 0);
  return NULL;
}

/* Its input twice: in TensorFlow's words, and in ours. */
static void hand_on(void* state, TF_OpKernelContext* ctx) {
  DS_View x = DS_VIEW_INIT;
  compute(state, ctx);
  if (DS_ViewInput(ctx, 0, &x)) DS_ShareInput(ctx, 1, 0, x.dims, x.rank);
}

TF_CAPI_EXPORT void TF_InitKernel(void) {
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("TestPatient");
  TF_OpDefinitionBuilderAddInput(op, "x: float");
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_RegisterOpDefinition(op, status);
  TF_RegisterKernelBuilder("Patient", TF_NewKernelBuilder("TestPatient", "CPU", create, compute, NULL),
                           status);
  op = TF_NewOpDefinitionBuilder("TestHandsOn");
  TF_OpDefinitionBuilderAddInput(op, "x: float");
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_OpDefinitionBuilderAddOutput(op, "z: float");
  TF_RegisterOpDefinition(op, status);
  TF_RegisterKernelBuilder("HandsOn", TF_NewKernelBuilder("TestHandsOn", "CPU", ask, hand_on, NULL),
                           status);
  TF_DeleteStatus(status);
}

/* For tests: whether a kernel waits; let it be made. */
TF_CAPI_EXPORT int test_waits(void) { return atomic_load(&waits); }
TF_CAPI_EXPORT void test_say(void) { atomic_store(&said, 1); }
