/* A new op with kernels, in plain C11.
 *
 *   ExampleWeightedSum(x, y; weight, T) = x + weight * y       for float and double
 *
 * x and y must have the same shape. Shows a shape function, an attribute, a kernel per dtype, memory
 * reused for the output, and errors on every path. */
#include <stdio.h>
#include <stdlib.h>

#include "drystone/kernels.h"
#include "drystone/ops.h"
#include "kernels.h"

static const char kOp[] = "ExampleWeightedSum";

/* --- the op -------------------------------------------------------------------------------------- */

static void infer_shape(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  TF_ShapeHandle* x = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(ctx, 0, x, status);
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextSetOutput(ctx, 0, x, status);
  TF_DeleteShapeHandle(x);
}

static void register_op(TF_Status* status) {
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(kOp);
  TF_OpDefinitionBuilderAddInput(op, "x: T");
  TF_OpDefinitionBuilderAddInput(op, "y: T");
  TF_OpDefinitionBuilderAddOutput(op, "z: T");
  TF_OpDefinitionBuilderAddAttr(op, "weight: float = 1.0");
  TF_OpDefinitionBuilderAddAttr(op, "T: {float, double}");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, infer_shape);
  TF_RegisterOpDefinition(op, status); /* consumes the builder */
}

/* --- the kernel ---------------------------------------------------------------------------------- */

/* What one node's kernel remembers between calls. */
typedef struct State {
  float weight;
} State;

static void* create(TF_OpKernelConstruction* node) {
  TF_Status* status = TF_NewStatus();
  State* state = (State*)malloc(sizeof *state);
  if (state == NULL) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for the kernel");
  } else {
    TF_OpKernelConstruction_GetAttrFloat(node, "weight", &state->weight, status);
  }
  if (TF_GetCode(status) != TF_OK) {
    TF_OpKernelConstruction_Failure(node, status); /* the node's first run gives this error */
    free(state);
    state = NULL;
  }
  TF_DeleteStatus(status);
  return state;
}

static void destroy(void* state) { free(state); }

static int same_shape(const TF_Tensor* x, const TF_Tensor* y) {
  int k;
  if (TF_NumDims(x) != TF_NumDims(y)) return 0;
  for (k = 0; k < TF_NumDims(x); ++k) {
    if (TF_Dim(x, k) != TF_Dim(y, k)) return 0;
  }
  return 1;
}

static void add_floats(const float* x, const float* y, float weight, float* z, int64_t count) {
  int64_t k;
  for (k = 0; k < count; ++k) z[k] = x[k] + weight * y[k];
}

static void add_doubles(const double* x, const double* y, double weight, double* z, int64_t count) {
  int64_t k;
  for (k = 0; k < count; ++k) z[k] = x[k] + weight * y[k];
}

static void add(const State* state, const TF_Tensor* x, const TF_Tensor* y, TF_Tensor* z) {
  const int64_t count = TF_TensorElementCount(z);
  const void* from_x = TF_TensorData(x);
  const void* from_y = TF_TensorData(y);
  if (TF_TensorType(z) == TF_FLOAT) {
    add_floats((const float*)from_x, (const float*)from_y, state->weight,
               (float*)TF_TensorData(z), count);
  } else {
    add_doubles((const double*)from_x, (const double*)from_y, (double)state->weight,
                (double*)TF_TensorData(z), count);
  }
}

/* The output of a call: the memory of x where nothing else needs it, else fresh memory. */
static TF_Tensor* make_output(TF_OpKernelContext* call, const TF_Tensor* x, TF_Status* status) {
  static const int candidates[] = {0};
  int64_t dims[32];
  int forwarded = -1;
  int rank = TF_NumDims(x);
  int k;
  if (rank > 32) {
    TF_SetStatus(status, TF_UNIMPLEMENTED, "ExampleWeightedSum takes at most 32 dimensions");
    return NULL;
  }
  for (k = 0; k < rank; ++k) dims[k] = TF_Dim(x, k);
  return TF_ForwardInputOrAllocateOutput(call, candidates, 1, 0, dims, rank, &forwarded, status);
}

/* The message is for people. Programs get the ranks: error.details["example/ranks"] in Python. */
static void refuse_shapes(const TF_Tensor* x, const TF_Tensor* y, TF_Status* status) {
  char ranks[32];
  snprintf(ranks, sizeof ranks, "%d and %d", TF_NumDims(x), TF_NumDims(y));
  TF_SetStatus(status, TF_INVALID_ARGUMENT, "x and y must have the same shape");
  TF_SetPayload(status, "example/ranks", ranks);
}

static void compute(void* kernel, TF_OpKernelContext* call) {
  TF_Status* status = TF_NewStatus();
  TF_Tensor* x = NULL;
  TF_Tensor* y = NULL;
  TF_Tensor* z = NULL;
  TF_GetInput(call, 0, &x, status);
  if (TF_GetCode(status) == TF_OK) TF_GetInput(call, 1, &y, status);
  if (TF_GetCode(status) == TF_OK && !same_shape(x, y)) {
    refuse_shapes(x, y, status);
  }
  if (TF_GetCode(status) == TF_OK) z = make_output(call, x, status);
  if (TF_GetCode(status) == TF_OK) add((const State*)kernel, x, y, z);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(call, status);
  TF_DeleteTensor(x); /* handles are the kernel's, the memory is shared */
  TF_DeleteTensor(y);
  TF_DeleteTensor(z);
  TF_DeleteStatus(status);
}

static void register_kernel(TF_DataType dtype, TF_Status* status) {
  TF_KernelBuilder* kernel = TF_NewKernelBuilder(kOp, "CPU", create, compute, destroy);
  TF_KernelBuilder_TypeConstraint(kernel, "T", dtype, status);
  if (TF_GetCode(status) != TF_OK) {
    TF_DeleteKernelBuilder(kernel);
    return;
  }
  TF_RegisterKernelBuilder("ExampleWeightedSum", kernel, status); /* consumes the builder */
}

void register_weighted_sum(TF_Status* status) {
  register_op(status);
  if (TF_GetCode(status) == TF_OK) register_kernel(TF_FLOAT, status);
  if (TF_GetCode(status) == TF_OK) register_kernel(TF_DOUBLE, status);
}
