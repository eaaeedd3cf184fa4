/* Kernels of the fake device: what of a model runs there.
 *
 * A kernel is called on the host. Tensors in the device's memory have as data what allocate() in
 * fake_device.c gave; here that is host memory, and streams work at once, so that each kernel computes
 * and returns. Where memory and work are elsewhere it puts work on TF_GetStream and returns.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "drystone/kernels.h"
#include "drystone/kernels_experimental.h"
#include "drystone/logging.h"
#include "fake_device.h"

enum { kMostRank = 8 };

/* ---- one call: its inputs, and a status that becomes the node's ---- */

typedef struct Call {
  TF_OpKernelContext* ctx;
  TF_Status* status;
  TF_Tensor* a;
  TF_Tensor* b; /* NULL for kernels of one input */
} Call;

static bool is_well(const Call* call) { return TF_GetCode(call->status) == TF_OK; }

static Call begin(TF_OpKernelContext* ctx, int inputs) {
  Call call = {.ctx = ctx, .status = TF_NewStatus()};
  TF_GetInput(ctx, 0, &call.a, call.status);
  if (inputs == 2 && is_well(&call)) TF_GetInput(ctx, 1, &call.b, call.status);
  return call;
}

static void end(Call* call) {
  if (!is_well(call)) TF_OpKernelContext_Failure(call->ctx, call->status);
  TF_DeleteTensor(call->a);
  TF_DeleteTensor(call->b);
  TF_DeleteStatus(call->status);
}

static float* floats(const TF_Tensor* tensor) { return TF_TensorData(tensor); }

/* The output, in the device's memory; NULL once the call has failed. */
static TF_Tensor* new_output(Call* call, const int64_t* dims, int rank) {
  size_t bytes = sizeof(float);
  for (int d = 0; d < rank; ++d) bytes *= (size_t)dims[d];
  TF_Tensor* const out = TF_AllocateOutput(call->ctx, 0, TF_FLOAT, dims, rank, bytes, call->status);
  return is_well(call) ? out : NULL;
}

/* ---- element by element ---- */

static TF_Tensor* output_like_first(Call* call) {
  int64_t dims[kMostRank];
  const int rank = TF_NumDims(call->a);
  if (rank > kMostRank) {
    TF_SetStatus(call->status, TF_UNIMPLEMENTED, "the fake device has tensors of up to 8 dimensions");
    return NULL;
  }
  for (int d = 0; d < rank; ++d) dims[d] = TF_Dim(call->a, d);
  return new_output(call, dims, rank);
}

static void relu(void* kernel, TF_OpKernelContext* ctx) {
  (void)kernel;
  Call call = begin(ctx, 1);
  TF_Tensor* const out = is_well(&call) ? output_like_first(&call) : NULL;
  for (int64_t k = 0; out != NULL && k < TF_TensorElementCount(out); ++k) {
    const float x = floats(call.a)[k];
    floats(out)[k] = x < 0 ? 0 : x;
  }
  TF_DeleteTensor(out);
  end(&call);
}

/* Of BiasAdd for NHWC: one number for each place along the last dimension. */
static void bias_add(void* kernel, TF_OpKernelContext* ctx) {
  (void)kernel;
  Call call = begin(ctx, 2);
  const int64_t count = is_well(&call) ? TF_TensorElementCount(call.b) : 0;
  const int rank = is_well(&call) ? TF_NumDims(call.a) : 0;
  if (is_well(&call) && (rank == 0 || TF_Dim(call.a, rank - 1) != count)) {
    TF_SetStatus(call.status, TF_INVALID_ARGUMENT, "the bias must be as long as the last dimension");
  }
  TF_Tensor* const out = is_well(&call) ? output_like_first(&call) : NULL;
  for (int64_t k = 0; out != NULL && k < TF_TensorElementCount(out); ++k) {
    floats(out)[k] = floats(call.a)[k] + floats(call.b)[k % count];
  }
  TF_DeleteTensor(out);
  end(&call);
}

/* ---- matrices ---- */

typedef struct Product {
  TF_Bool transpose_a, transpose_b;
} Product;

static void* create_product(TF_OpKernelConstruction* construction) {
  TF_Status* const status = TF_NewStatus();
  Product* const product = calloc(1, sizeof *product);
  if (product == NULL) TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for a kernel");
  if (TF_GetCode(status) == TF_OK) {
    TF_OpKernelConstruction_GetAttrBool(construction, "transpose_a", &product->transpose_a, status);
  }
  if (TF_GetCode(status) == TF_OK) {
    TF_OpKernelConstruction_GetAttrBool(construction, "transpose_b", &product->transpose_b, status);
  }
  if (TF_GetCode(status) != TF_OK) TF_OpKernelConstruction_Failure(construction, status);
  TF_DeleteStatus(status);
  return product;
}

static void multiply(const Product* product, const Call* call, TF_Tensor* out, int64_t inner) {
  const int64_t m = TF_Dim(out, 0), n = TF_Dim(out, 1);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < inner; ++k) {
        sum += floats(call->a)[product->transpose_a ? k * m + i : i * inner + k] *
               floats(call->b)[product->transpose_b ? j * inner + k : k * n + j];
      }
      floats(out)[i * n + j] = sum;
    }
  }
}

static void matmul(void* kernel, TF_OpKernelContext* ctx) {
  const Product* const product = kernel;
  Call call = begin(ctx, 2);
  if (is_well(&call) && (TF_NumDims(call.a) != 2 || TF_NumDims(call.b) != 2)) {
    TF_SetStatus(call.status, TF_INVALID_ARGUMENT, "a product needs two matrices");
  }
  if (is_well(&call)) {
    const int ka = product->transpose_a ? 0 : 1, kb = product->transpose_b ? 1 : 0;
    const int64_t dims[] = {TF_Dim(call.a, 1 - ka), TF_Dim(call.b, 1 - kb)};
    if (TF_Dim(call.a, ka) != TF_Dim(call.b, kb)) {
      TF_SetStatus(call.status, TF_INVALID_ARGUMENT, "the matrices do not fit each other");
    } else {
      TF_Tensor* const out = new_output(&call, dims, 2);
      if (out != NULL) multiply(product, &call, out, TF_Dim(call.a, ka));
      TF_DeleteTensor(out);
    }
  }
  end(&call);
}

/* ---- variables: they stay on the device from here on ---- */

static void copy_tensor(TF_OpKernelContext* ctx, TF_Tensor* from, TF_Tensor* to) {
  (void)ctx;
  memcpy(TF_TensorData(to), TF_TensorData(from), TF_TensorByteSize(from));
  TF_DeleteTensor(from);
  TF_DeleteTensor(to);
}

static void assign(void* kernel, TF_OpKernelContext* ctx) {
  (void)kernel;
  TF_Status* const status = TF_NewStatus();
  TF_AssignVariable(ctx, 0, 1, false, copy_tensor, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
}

/* ---- registration ---- */

static void add(const char* op, const char* type, void* (*create)(TF_OpKernelConstruction*),
                void (*compute)(void*, TF_OpKernelContext*), void (*destroy)(void*)) {
  TF_Status* const status = TF_NewStatus();
  TF_KernelBuilder* const builder = TF_NewKernelBuilder(op, FAKE_DEVICE_TYPE, create, compute, destroy);
  TF_KernelBuilder_TypeConstraint(builder, type, TF_FLOAT, status);
  if (TF_GetCode(status) == TF_OK) TF_RegisterKernelBuilder(op, builder, status);
  else TF_DeleteKernelBuilder(builder);
  if (TF_GetCode(status) != TF_OK) TF_Log(TF_ERROR, "%s: %s", op, TF_Message(status));
  TF_DeleteStatus(status);
}

void TF_InitKernel(void) {
  add("Relu", "T", NULL, relu, NULL);
  add("BiasAdd", "T", NULL, bias_add, NULL);
  add("MatMul", "T", create_product, matmul, free);
  add("AssignVariableOp", "dtype", NULL, assign, NULL);
}
