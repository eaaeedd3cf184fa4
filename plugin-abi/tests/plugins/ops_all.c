/* Ops with attributes of every type, and shape functions that use every function of drystone/ops.h.
 * */
#include <stdio.h>
#include <string.h>

#include "drystone/ops.h"

typedef void (*ShapeFunction)(TF_ShapeInferenceContext*, TF_Status*);

static char refusals[4096];

/* What the host answered to definitions that it refused, one a line. */
TF_CAPI_EXPORT const char* ops_refusals(void);
const char* ops_refusals(void) { return refusals; }

static TF_ShapeHandle* input(TF_ShapeInferenceContext* ctx, int i, TF_Status* status) {
  TF_ShapeHandle* shape = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(ctx, i, shape, status);
  return shape;
}

/* y has the shape of x. */
static void same_shape(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  TF_ShapeHandle* shape = input(ctx, 0, status);
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextSetOutput(ctx, 0, shape, status);
  TF_DeleteShapeHandle(shape);
}

/* The dimensions of all inputs, one after the other. */
static void outer(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  TF_ShapeHandle* whole = TF_ShapeInferenceContextScalar(ctx);
  const int64_t count = TF_ShapeInferenceContextNumInputs(ctx);
  for (int i = 0; i < count && TF_GetCode(status) == TF_OK; ++i) {
    TF_ShapeHandle* next = input(ctx, i, status);
    if (TF_GetCode(status) == TF_OK) {
      TF_ShapeInferenceContextConcatenateShapes(ctx, whole, next, whole, status);
    }
    TF_DeleteShapeHandle(next);
  }
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextSetOutput(ctx, 0, whole, status);
  TF_DeleteShapeHandle(whole);
}

/* `first` holds the first dimension, `rest` has the shape of the others; x needs 1 to 3. */
static void head_and_tail(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  TF_ShapeHandle* x = input(ctx, 0, status);
  TF_DimensionHandle* size = TF_NewDimensionHandle();
  TF_ShapeInferenceContextWithRankAtLeast(ctx, x, 1, x, status);
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextWithRankAtMost(ctx, x, 3, x, status);
  if (TF_GetCode(status) == TF_OK) {
    TF_ShapeInferenceContextDim(ctx, x, 0, size);
    if (TF_DimensionHandleValueKnown(size)) {
      TF_ShapeHandle* vector =
          TF_ShapeInferenceContextVectorFromSize(ctx, (size_t)TF_DimensionHandleValue(size));
      TF_ShapeInferenceContextSetOutput(ctx, 0, vector, status);
      TF_DeleteShapeHandle(vector);
    }
    TF_ShapeInferenceContextSubshape(ctx, x, 1, INT64_MAX, x, status);
    TF_ShapeInferenceContextSetOutput(ctx, 1, x, status);
  }
  TF_DeleteDimensionHandle(size);
  TF_DeleteShapeHandle(x);
}

/* A matrix for floats, else a scalar: shapes that depend on an attribute. */
static void by_type(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  TF_DataType type = TF_BOOL;
  TF_ShapeInferenceContext_GetAttrType(ctx, "T", &type, status);
  if (TF_GetCode(status) != TF_OK) return;
  TF_ShapeHandle* shape = TF_ShapeInferenceContextScalar(ctx);
  if (type == TF_FLOAT) {
    TF_ShapeHandle* unknown = TF_NewShapeHandle();
    TF_ShapeInferenceContextWithRank(ctx, unknown, 2, shape, status);
    TF_DeleteShapeHandle(unknown);
  }
  TF_ShapeInferenceContextSetOutput(ctx, 0, shape, status);
  TF_DeleteShapeHandle(shape);
}

static void unknown(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  TF_ShapeInferenceContextSetUnknownShape(ctx, status);
}

static void refuses(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  (void)ctx;
  TF_SetStatus(status, TF_OUT_OF_RANGE, "no shape pleases me");
}

/* Leaves two handles. */
static void careless(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  input(ctx, 0, status);
  TF_NewDimensionHandle();
}

typedef struct {
  const char* name;
  const char* attrs[12];
  const char* inputs[4];
  const char* outputs[4];
  ShapeFunction shape;
} Op;

static const Op kOps[] = {
    {"Test>Triple", {"T: {float, double}"}, {"x: T"}, {"y: T"}, same_shape},
    {"Test>Outer", {"T: type", "N: int >= 1"}, {"x: N * T"}, {"y: T"}, outer},
    {"Test>HeadAndTail", {"T: numbertype"}, {"x: T"}, {"first: int64", "rest: T"}, head_and_tail},
    {"Test>ByType", {"T: {float, int32} = DT_FLOAT"}, {NULL}, {"y: T"}, by_type},
    {"Test>Unknown", {"T: type"}, {"x: T"}, {"y: T"}, unknown},
    {"Test>Refuses", {"T: type"}, {"x: T"}, {"y: T"}, refuses},
    {"Test>Careless", {"T: type"}, {"x: T"}, {"y: T"}, careless},
    {"Test>NoShape", {"L: list(type) >= 0"}, {"x: L"}, {"y: L"}, NULL},
    {"Test>EveryAttr",
     {"s: {'a', \"b\"} = 'b'", "i: int >= -2 = -1", "f: float = 0.1", "b: bool = true",
      "t: {float, int64} = DT_INT64", "h: shape = { dim { size: 2 } dim { size: -1 } }",
      "c: tensor = { dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: [7, 8] }",
      "g: func = { name: 'body' attr { key: 'T' value { type: DT_FLOAT } } }",
      "li: list(int) >= 1 = [1, -2]", "ls: list(string) = ['x', '\\n']",
      "lh: list(shape) = [{ unknown_rank: true }, { }]"},
     {"x: float", "r: resource"},
     {"y: float"},
     NULL},
    {NULL, {NULL}, {NULL}, {NULL}, NULL}};

static const Op kRefused[] = {
    {"test", {NULL}, {NULL}, {NULL}, NULL},
    {"Test>BadAttr", {"T: {floot}", "i: int = x"}, {NULL}, {NULL}, NULL},
    {"Test>BadInput", {"T: type"}, {"x: S"}, {NULL}, NULL},
    {"Test>Triple", {"T: {float}"}, {"x: T"}, {"y: T"}, NULL},
    {"MatMul", {"T: type"}, {"a: T", "b: T"}, {"product: T"}, NULL},
    {NULL, {NULL}, {NULL}, {NULL}, NULL}};

static void define(const Op* op, TF_Status* status) {
  TF_OpDefinitionBuilder* builder = TF_NewOpDefinitionBuilder(op->name);
  for (int i = 0; op->attrs[i] != NULL; ++i) TF_OpDefinitionBuilderAddAttr(builder, op->attrs[i]);
  for (int i = 0; op->inputs[i] != NULL; ++i) {
    TF_OpDefinitionBuilderAddInput(builder, op->inputs[i]);
  }
  for (int i = 0; op->outputs[i] != NULL; ++i) {
    TF_OpDefinitionBuilderAddOutput(builder, op->outputs[i]);
  }
  if (op->shape != NULL) TF_OpDefinitionBuilderSetShapeInferenceFunction(builder, op->shape);
  TF_RegisterOpDefinition(builder, status);
}

TF_CAPI_EXPORT void TF_InitKernel(void);
void TF_InitKernel(void) {
  TF_Status* status = TF_NewStatus();
  for (const Op* op = kOps; op->name != NULL; ++op) {
    define(op, status);
    if (TF_GetCode(status) != TF_OK) fprintf(stderr, "%s\n", TF_Message(status));
  }
  for (const Op* op = kRefused; op->name != NULL; ++op) {
    const size_t used = strlen(refusals);
    define(op, status);
    snprintf(refusals + used, sizeof refusals - used, "%d %s\n", TF_GetCode(status),
             TF_Message(status));
  }
  TF_DeleteStatus(status);
}
