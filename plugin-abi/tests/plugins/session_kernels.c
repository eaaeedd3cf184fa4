/* Kernels for tests that run them in sessions: ops of its own, and standard ops overridden. Which
 * kernel ran is seen by what it adds to the result, or by the counters at the end. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drystone/kernels.h"
#include "drystone/kernels_experimental.h"
#include "drystone/ops.h"
#include "drystone/status.h"
#include "drystone/tensor.h"
#include "drystone/tstring.h"

static atomic_int created, deleted, computed, inside, most_inside;

/* ---- helpers ---- */

static void fail(TF_OpKernelContext* ctx, TF_Code code, const char* text) {
  TF_Status* status = TF_NewStatus();
  TF_SetStatus(status, code, text);
  TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
}

static TF_Tensor* input(TF_OpKernelContext* ctx, int k) {
  TF_Tensor* tensor = NULL;
  TF_Status* status = TF_NewStatus();
  TF_GetInput(ctx, k, &tensor, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
  return tensor;
}

static TF_Tensor* output_like(TF_OpKernelContext* ctx, int k, const TF_Tensor* like) {
  int64_t dims[254] = {0}; /* as many as a tensor can have */
  const int rank = TF_NumDims(like);
  TF_Status* status = TF_NewStatus();
  TF_Tensor* out = NULL;
  for (int d = 0; d < rank && d < 254; ++d) dims[d] = TF_Dim(like, d);
  out = TF_AllocateOutput(ctx, k, TF_TensorType(like), dims, rank, TF_TensorByteSize(like), status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
  return out;
}

static void wait_for(float seconds) {
  const struct timespec time = {(time_t)seconds, (long)((seconds - (float)(time_t)seconds) * 1e9f)};
  nanosleep(&time, NULL);
}

/* y = x + offset for floats. Other tests of the process may run what overrides a standard op, with
 * any dtype: what has smaller elements must not be written as floats. */
static void shifted(TF_OpKernelContext* ctx, float offset) {
  TF_Tensor* x = input(ctx, 0);
  const bool fits = x != NULL && TF_TensorType(x) == TF_FLOAT;
  TF_Tensor* y = fits ? output_like(ctx, 0, x) : NULL;
  if (x != NULL && !fits) fail(ctx, TF_INVALID_ARGUMENT, "only floats can be shifted");
  if (y != NULL) {
    const float* from = TF_TensorData(x);
    float* to = TF_TensorData(y);
    for (int64_t k = 0; k < TF_TensorElementCount(x); ++k) to[k] = from[k] + offset;
  }
  atomic_fetch_add(&computed, 1);
  TF_DeleteTensor(y);
  TF_DeleteTensor(x);
}

/* ---- an op with state of its own: attributes, failures ---- */

static void* scale_create(TF_OpKernelConstruction* ctx) {
  float* factor = malloc(sizeof *factor);
  TF_Status* status = TF_NewStatus();
  *factor = 0;
  TF_OpKernelConstruction_GetAttrFloat(ctx, "factor", factor, status);
  if (TF_GetCode(status) == TF_OK && *factor < 0) {
    TF_SetStatus(status, TF_INVALID_ARGUMENT, "factor must not be negative");
  }
  if (TF_GetCode(status) != TF_OK) TF_OpKernelConstruction_Failure(ctx, status);
  TF_DeleteStatus(status);
  atomic_fetch_add(&created, 1);
  return factor;
}

static void scale_delete(void* state) {
  atomic_fetch_add(&deleted, 1);
  free(state);
}

static void scale_compute(void* state, TF_OpKernelContext* ctx) {
  const float factor = *(const float*)state;
  TF_Tensor* x = input(ctx, 0);
  const float* from = TF_TensorData(x);
  const int64_t count = TF_TensorElementCount(x);
  atomic_fetch_add(&computed, 1);
  if (count != 0 && from[0] < 0) {
    fail(ctx, TF_OUT_OF_RANGE, "x must not begin with a negative number");
  } else {
    TF_Tensor* y = output_like(ctx, 0, x);
    float* to = TF_TensorData(y);
    for (int64_t k = 0; k < count; ++k) to[k] = from[k] * factor;
    TF_DeleteTensor(y);
  }
  TF_DeleteTensor(x);
}

/* ---- ops that show how values cross ---- */

static void pass_compute(void* state, TF_OpKernelContext* ctx) {
  TF_Tensor* x = input(ctx, 0);
  TF_Status* status = TF_NewStatus();
  (void)state;
  TF_SetOutput(ctx, 0, x, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
  TF_DeleteTensor(x);
}

/* Sum of a list of float tensors of one shape, and how many they were. */
static void total_compute(void* state, TF_OpKernelContext* ctx) {
  TF_InputRange_Args range = {0};
  TF_Status* status = TF_NewStatus();
  TF_Tensor *sum = NULL, *count = NULL;
  (void)state;
  range.struct_size = sizeof range;
  range.status = status;
  TF_InputRange(ctx, "xs", &range);
  for (int k = range.start; k < range.stop; ++k) {
    TF_Tensor* x = input(ctx, k);
    if (sum == NULL) {
      sum = output_like(ctx, 0, x);
      memset(TF_TensorData(sum), 0, TF_TensorByteSize(sum));
    }
    for (int64_t i = 0; i < TF_TensorElementCount(x); ++i) {
      ((float*)TF_TensorData(sum))[i] += ((const float*)TF_TensorData(x))[i];
    }
    TF_DeleteTensor(x);
  }
  count = TF_AllocateOutput(ctx, 1, TF_INT32, NULL, 0, sizeof(int32_t), status);
  *(int32_t*)TF_TensorData(count) = range.stop - range.start;
  TF_DeleteTensor(count);
  TF_DeleteTensor(sum);
  TF_DeleteStatus(status);
}

static void reverse_compute(void* state, TF_OpKernelContext* ctx) {
  TF_Tensor* x = input(ctx, 0);
  TF_Tensor* y = output_like(ctx, 0, x);
  const TF_TString* from = TF_TensorData(x);
  TF_TString* to = TF_TensorData(y);
  (void)state;
  for (int64_t k = 0; k < TF_TensorElementCount(x); ++k) {
    const size_t size = TF_TString_GetSize(&from[k]);
    const char* source = TF_TString_GetDataPointer(&from[k]);
    char* target = TF_TString_ResizeUninitialized(&to[k], size);
    for (size_t i = 0; i < size; ++i) target[i] = source[size - 1 - i];
  }
  TF_DeleteTensor(y);
  TF_DeleteTensor(x);
}

static void silent_compute(void* state, TF_OpKernelContext* ctx) {
  (void)state;
  (void)ctx; /* sets no output */
}

/* Waits a little, and notes how many threads were in here at once. */
static void crowd_compute(void* state, TF_OpKernelContext* ctx) {
  const int now = atomic_fetch_add(&inside, 1) + 1;
  int most = atomic_load(&most_inside);
  (void)state;
  while (now > most && !atomic_compare_exchange_weak(&most_inside, &most, now)) continue;
  wait_for(0.02f);
  shifted(ctx, 0);
  atomic_fetch_sub(&inside, 1);
}

/* ---- asynchronous ---- */

struct Later {
  TF_OpKernelContext* ctx;
  TF_AsyncOpKernelDoneCallback* done;
  float seconds;
};

static void* later_create(TF_OpKernelConstruction* ctx) {
  float* seconds = calloc(1, sizeof *seconds);
  TF_OpKernelConstruction_GetAttrFloat(ctx, "seconds", seconds, NULL);
  return seconds;
}

static void* later_thread(void* raw) {
  struct Later* later = raw;
  wait_for(later->seconds);
  shifted(later->ctx, 1);
  TF_RunAsyncOpKernelDoneCallback(later->done);
  free(later);
  return NULL;
}

static void later_compute(void* state, TF_OpKernelContext* ctx,
                          TF_AsyncOpKernelDoneCallback* done) {
  struct Later* later = malloc(sizeof *later);
  pthread_t thread;
  *later = (struct Later){ctx, done, *(const float*)state};
  pthread_create(&thread, NULL, later_thread, later);
  pthread_detach(thread);
}

/* ---- variables ---- */

static void add_in_place(TF_OpKernelContext* ctx, TF_Tensor* tensor, TF_Tensor* value, int op) {
  (void)ctx;
  for (int64_t k = 0; k < TF_TensorElementCount(tensor); ++k) {
    ((float*)TF_TensorData(tensor))[k] += (float)op * ((const float*)TF_TensorData(value))[k];
  }
  TF_DeleteTensor(tensor);
  TF_DeleteTensor(value);
}

static void copy_tensor(TF_OpKernelContext* ctx, TF_Tensor* source, TF_Tensor* dest) {
  (void)ctx;
  memcpy(TF_TensorData(dest), TF_TensorData(source), TF_TensorByteSize(source));
  TF_DeleteTensor(source);
  TF_DeleteTensor(dest);
}

static void bump_compute(void* state, TF_OpKernelContext* ctx) {
  TF_Status* status = TF_NewStatus();
  (void)state;
  TF_AssignUpdateVariable(ctx, 0, 1, 10, 0, copy_tensor, add_in_place, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
}

static void put_compute(void* state, TF_OpKernelContext* ctx) {
  TF_Status* status = TF_NewStatus();
  (void)state;
  TF_AssignVariable(ctx, 0, 1, false, copy_tensor, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
}

static void put_ref_compute(void* state, TF_OpKernelContext* ctx) {
  TF_Status* status = TF_NewStatus();
  (void)state;
  TF_AssignRefVariable(ctx, 0, 0, 1, true, false, copy_tensor, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
}

/* ---- standard ops overridden: the offset says which kernel ran ---- */

#define SHIFT(NAME, OFFSET)                                       \
  static void NAME(void* state, TF_OpKernelContext* ctx) {        \
    (void)state;                                                  \
    shifted(ctx, OFFSET);                                         \
  }
SHIFT(by_100, 100)
SHIFT(by_200, 200)
SHIFT(by_300, 300)

/* ---- registration ---- */

static void op(const char* name, const char* attrs[], const char* inputs[], const char* outputs[],
               bool stateful) {
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* builder = TF_NewOpDefinitionBuilder(name);
  for (; *attrs != NULL; ++attrs) TF_OpDefinitionBuilderAddAttr(builder, *attrs);
  for (; *inputs != NULL; ++inputs) TF_OpDefinitionBuilderAddInput(builder, *inputs);
  for (; *outputs != NULL; ++outputs) TF_OpDefinitionBuilderAddOutput(builder, *outputs);
  if (stateful) TF_OpDefinitionBuilderSetIsStateful(builder, true);
  TF_RegisterOpDefinition(builder, status);
  TF_DeleteStatus(status);
}
#define LIST(...) ((const char*[]){__VA_ARGS__, NULL})

typedef void (*Compute)(void*, TF_OpKernelContext*);

static void kernel(const char* of, const char* device, const char* name, Compute compute,
                   int priority, const char* label, TF_DataType type) {
  TF_Status* status = TF_NewStatus();
  const bool scale = compute == scale_compute;
  TF_KernelBuilder* builder = TF_NewKernelBuilder(of, device, scale ? scale_create : NULL, compute,
                                                  scale ? scale_delete : NULL);
  if (type != 0) TF_KernelBuilder_TypeConstraint(builder, "T", type, status);
  if (priority != 0) TF_KernelBuilder_Priority(builder, priority);
  if (label != NULL) TF_KernelBuilder_Label(builder, label);
  TF_RegisterKernelBuilder(name, builder, status);
  TF_DeleteStatus(status);
}

static void register_ops(void) {
  op("TestScale", LIST("T: {float, int32} = DT_FLOAT", "factor: float = 2.0"), LIST("x: T"),
     LIST("y: T"), false);
  op("TestPass", LIST("T: type"), LIST("x: T"), LIST("y: T"), false);
  op("TestTotal", LIST("N: int >= 1"), LIST("xs: N * float"), LIST("sum: float", "count: int32"),
     false);
  op("TestReverse", LIST(NULL), LIST("x: string"), LIST("y: string"), false);
  op("TestSilent", LIST(NULL), LIST("x: float"), LIST("y: float"), false);
  op("TestCrowd", LIST(NULL), LIST("x: float"), LIST("y: float"), false);
  op("TestLater", LIST("seconds: float = 0.0"), LIST("x: float"), LIST("y: float"), false);
  op("TestBump", LIST(NULL), LIST("variable: resource", "value: float"), LIST(NULL), true);
  op("TestPut", LIST(NULL), LIST("variable: resource", "value: float"), LIST(NULL), true);
  op("TestPutRef", LIST(NULL), LIST("variable: Ref(float)", "value: float"),
     LIST("out: Ref(float)"), true);
}

static void register_later(void) {
  TF_KernelBuilder* builder =
      TF_NewAsyncKernelBuilder("TestLater", "CPU", later_create, later_compute, free);
  TF_RegisterKernelBuilder("Later", builder, NULL);
}

TF_CAPI_EXPORT void TF_InitKernel(void) {
  register_ops();
  register_later();
  kernel("TestScale", "CPU", "Scale", scale_compute, 0, NULL, TF_FLOAT);
  kernel("TestPass", "CPU", "Pass", pass_compute, 0, NULL, 0);
  kernel("TestTotal", "CPU", "Total", total_compute, 0, NULL, 0);
  kernel("TestReverse", "CPU", "Reverse", reverse_compute, 0, NULL, 0);
  kernel("TestSilent", "CPU", "Silent", silent_compute, 0, NULL, 0);
  kernel("TestCrowd", "CPU", "Crowd", crowd_compute, 0, NULL, 0);
  kernel("TestBump", "CPU", "Bump", bump_compute, 0, NULL, 0);
  kernel("TestPut", "CPU", "Put", put_compute, 0, NULL, 0);
  kernel("TestPutRef", "CPU", "PutRef", put_ref_compute, 0, NULL, 0);
  kernel("Softplus", "CPU", "Default", by_100, 0, NULL, TF_FLOAT);
  kernel("Softsign", "CPU", "Yields", by_100, -2, NULL, TF_FLOAT);
  kernel("Elu", "CPU", "Low", by_100, 1, NULL, TF_FLOAT);
  kernel("Elu", "CPU", "High", by_200, 7, NULL, TF_FLOAT);
  kernel("Selu", "CPU", "First", by_100, 0, NULL, TF_FLOAT);
  kernel("Selu", "CPU", "Second", by_200, 0, NULL, 0);
  kernel("Relu6", "CPU", "Labelled", by_300, 9, "special", TF_FLOAT);
  kernel("Sin", "TESTDEVICE", "Elsewhere", by_100, 9, NULL, TF_FLOAT);
  kernel("Switch", "CPU", "Control", by_100, 9, NULL, TF_FLOAT);
}

/* For tests: created, deleted, computed, most threads at once. */
TF_CAPI_EXPORT int test_counter(int which) {
  atomic_int* counters[] = {&created, &deleted, &computed, &most_inside};
  return atomic_load(counters[which]);
}
