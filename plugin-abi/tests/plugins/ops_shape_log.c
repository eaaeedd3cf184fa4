/* An op whose shape function calls what drystone/ops.h offers, and logs what is answered. Built for
 * any host with these functions: a test compares ours with TensorFlow. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "drystone/ops.h"

static char log_text[1 << 15];

TF_CAPI_EXPORT const char* shape_log(void);
const char* shape_log(void) { return log_text; }

static void note(const char* format, ...) {
  const size_t used = strlen(log_text);
  va_list args;
  va_start(args, format);
  vsnprintf(log_text + used, sizeof log_text - used, format, args);
  va_end(args);
}

/* The shape as its rank and dimensions. */
static void show(TF_ShapeInferenceContext* ctx, TF_ShapeHandle* shape) {
  TF_DimensionHandle* dim = TF_NewDimensionHandle();
  const int64_t rank = TF_ShapeInferenceContextRank(ctx, shape);
  note(" known %d rank %d:", TF_ShapeInferenceContextRankKnown(ctx, shape), (int)rank);
  for (int64_t i = -rank - 1; i <= rank; ++i) {
    TF_ShapeInferenceContextDim(ctx, shape, i, dim);
    if (TF_DimensionHandleValueKnown(dim)) {
      note(" %d", (int)TF_DimensionHandleValue(dim));
    } else {
      note(" ?");
    }
  }
  note("\n");
  TF_DeleteDimensionHandle(dim);
}

static void answer(const char* what, int64_t a, int64_t b, TF_ShapeInferenceContext* ctx,
                   TF_ShapeHandle* shape, TF_Status* status) {
  note("%s %lld %lld: %d", what, (long long)a, (long long)b, (int)TF_GetCode(status));
  if (TF_GetCode(status) == TF_OK) {
    show(ctx, shape);
  } else {
    note("\n");
  }
  TF_SetStatus(status, TF_OK, "");
}

static const int64_t kBounds[] = {0, 1, 2, 3, 4, -1, -2, -3, -4, INT64_MAX};
#define COUNT ((int)(sizeof kBounds / sizeof kBounds[0]))

static void ranks_and_parts(TF_ShapeInferenceContext* ctx, TF_ShapeHandle* in, TF_Status* status) {
  for (int i = 0; i < COUNT; ++i) {
    const int64_t a = kBounds[i];
    TF_ShapeHandle* out = TF_NewShapeHandle();
    if (a >= 0 && a < 10) {
      TF_ShapeInferenceContextWithRank(ctx, in, a, out, status);
      answer("rank", a, 0, ctx, out, status);
      TF_ShapeInferenceContextWithRankAtLeast(ctx, in, a, out, status);
      answer("at least", a, 0, ctx, out, status);
      TF_ShapeInferenceContextWithRankAtMost(ctx, in, a, out, status);
      answer("at most", a, 0, ctx, out, status);
    }
    for (int j = 0; j < COUNT; ++j) {
      TF_ShapeInferenceContextSubshape(ctx, in, a, kBounds[j], out, status);
      answer("part", a, kBounds[j], ctx, out, status);
    }
    TF_DeleteShapeHandle(out);
  }
}

static void types(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  static const char* const kNames[] = {"T", "D", "N", "Q"};
  for (int i = 0; i < 4; ++i) {
    TF_DataType type = (TF_DataType)0;
    TF_ShapeInferenceContext_GetAttrType(ctx, kNames[i], &type, status);
    note("type %s: %d %d\n", kNames[i], (int)TF_GetCode(status), (int)type);
    TF_SetStatus(status, TF_OK, "");
  }
}

static void infer(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  const int64_t count = TF_ShapeInferenceContextNumInputs(ctx);
  TF_ShapeHandle* in = TF_NewShapeHandle();
  TF_ShapeHandle* whole = TF_ShapeInferenceContextScalar(ctx);
  log_text[0] = '\0';
  note("inputs %d\n", (int)count);
  for (int i = -1; i <= count; ++i) {
    TF_ShapeInferenceContextGetInput(ctx, i, in, status);
    note("input %d: %d\n", i, (int)TF_GetCode(status));
    if (TF_GetCode(status) == TF_OK) {
      show(ctx, in);
      ranks_and_parts(ctx, in, status);
      TF_ShapeInferenceContextConcatenateShapes(ctx, whole, in, whole, status);
      answer("whole", 0, 0, ctx, whole, status);
    }
    TF_SetStatus(status, TF_OK, "");
  }
  types(ctx, status);
  TF_ShapeHandle* vector = TF_ShapeInferenceContextVectorFromSize(ctx, 7);
  answer("vector", 0, 0, ctx, vector, status);
  TF_ShapeInferenceContextSetOutput(ctx, 0, whole, status);
  note("output 0: %d\n", (int)TF_GetCode(status));
  for (int i = -1; i <= 1; i += 2) {
    TF_ShapeInferenceContextSetOutput(ctx, i, vector, status);
    note("output %d: %d\n", i, (int)TF_GetCode(status));
    TF_SetStatus(status, TF_OK, "");
  }
  TF_DeleteShapeHandle(vector);
  TF_DeleteShapeHandle(whole);
  TF_DeleteShapeHandle(in);
}

TF_CAPI_EXPORT void TF_InitKernel(void);
void TF_InitKernel(void) {
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("ShapeLog");
  TF_OpDefinitionBuilderAddAttr(op, "T: type");
  TF_OpDefinitionBuilderAddAttr(op, "D: type = DT_HALF");
  TF_OpDefinitionBuilderAddAttr(op, "N: int");
  TF_OpDefinitionBuilderAddInput(op, "x: N * T");
  TF_OpDefinitionBuilderAddOutput(op, "y: T");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, infer);
  TF_RegisterOpDefinition(op, status);
  TF_DeleteStatus(status);
}
