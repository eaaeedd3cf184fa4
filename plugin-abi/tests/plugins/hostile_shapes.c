/* Ops `Zoo...(x: float) -> y: float` whose shape functions say what no tensor has, or ask for what is not there. What
 * the host answers goes to standard error. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "drystone/platform_strings.h"
#include "hostile_kernels.h"

TF_PLATFORM_STRINGS()

#define LARGE ((size_t)1 << 62)

static void tell(const char* what, TF_Status* status) {
  fprintf(stderr, "%s: %d %.200s\n", what, TF_GetCode(status), TF_Message(status));
  TF_SetStatus(status, TF_OK, "");
}

static void good(void* state, TF_OpKernelContext* ctx) { (void)state, end(begin(ctx)); }

/* States a vector of so many elements, or as many dimensions of them. */
static void state_large(TF_ShapeInferenceContext* ctx, size_t size, int rank, TF_Status* status) {
  TF_ShapeHandle* one = TF_ShapeInferenceContextVectorFromSize(ctx, size);
  TF_ShapeHandle* all = TF_ShapeInferenceContextScalar(ctx);
  for (int k = 0; k < rank && TF_GetCode(status) == TF_OK; ++k) {
    TF_ShapeInferenceContextConcatenateShapes(ctx, all, one, all, status);
  }
  if (TF_GetCode(status) != TF_OK) tell("concatenates", status);
  TF_ShapeInferenceContextSetOutput(ctx, 0, all, status);
  TF_DeleteShapeHandle(one);
  TF_DeleteShapeHandle(all);
}

static void large(TF_ShapeInferenceContext* ctx, TF_Status* status) { state_large(ctx, LARGE, 1, status); }
static void larger(TF_ShapeInferenceContext* ctx, TF_Status* status) { state_large(ctx, (size_t)-1, 1, status); }
static void product(TF_ShapeInferenceContext* ctx, TF_Status* status) { state_large(ctx, LARGE, 3, status); }
static void ranks(TF_ShapeInferenceContext* ctx, TF_Status* status) { state_large(ctx, 1, 1000, status); }

static void nulls(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  TF_ShapeHandle* shape = TF_NewShapeHandle();
  TF_DimensionHandle* dim = TF_NewDimensionHandle();
  TF_ShapeInferenceContextGetInput(ctx, 0, NULL, status); tell("input to NULL", status);
  TF_ShapeInferenceContextGetInput(NULL, 0, shape, status); tell("input of NULL", status);
  TF_ShapeInferenceContextSetOutput(ctx, 0, NULL, status); tell("output of NULL", status);
  TF_ShapeInferenceContextWithRank(ctx, NULL, 1, NULL, status); tell("rank of NULL", status);
  TF_ShapeInferenceContextSubshape(ctx, NULL, 0, 1, shape, status); tell("subshape of NULL", status);
  TF_ShapeInferenceContextConcatenateShapes(ctx, NULL, shape, shape, status); tell("concatenation of NULL", status);
  TF_ShapeInferenceContext_GetAttrType(ctx, NULL, NULL, status); tell("attribute of NULL", status);
  TF_ShapeInferenceContextDim(NULL, NULL, 0, NULL);
  TF_ShapeInferenceContextDim(ctx, shape, 1 << 30, dim);
  TF_ShapeInferenceContextGetInput(ctx, 0, shape, NULL);
  TF_ShapeInferenceContextSetOutput(ctx, 7, shape, NULL);
  TF_DeleteShapeHandle(NULL);
  TF_DeleteDimensionHandle((TF_DimensionHandle*)(void*)shape);
  TF_DeleteShapeHandle(shape);
  TF_DeleteShapeHandle(shape);
  TF_ShapeInferenceContextGetInput(ctx, 0, shape, status); tell("input to what was deleted", status);
  TF_DeleteDimensionHandle(dim);
  fprintf(stderr, "rank of what was deleted: %d\n", (int)TF_ShapeInferenceContextRank(ctx, shape));
}

static void places(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  TF_ShapeHandle* shape = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(ctx, 7, shape, status); tell("input 7", status);
  TF_ShapeInferenceContextGetInput(ctx, -1, shape, status); tell("input -1", status);
  TF_ShapeInferenceContextSetOutput(ctx, 1, shape, status); tell("output 1", status);
  TF_ShapeInferenceContextGetInput(ctx, 0, shape, status);
  TF_ShapeInferenceContextSubshape(ctx, shape, INT64_MIN, INT64_MAX, shape, status); tell("subshape", status);
  TF_ShapeInferenceContextSubshape(ctx, shape, 1, 0, shape, status); tell("subshape backwards", status);
  TF_ShapeInferenceContextWithRank(ctx, shape, INT64_MAX, shape, status); tell("rank", status);
  TF_ShapeInferenceContextWithRankAtLeast(ctx, shape, INT64_MIN, shape, status); tell("rank at least", status);
  TF_ShapeInferenceContextWithRankAtMost(ctx, shape, -2, shape, status); tell("rank at most", status);
  TF_ShapeInferenceContextSetOutput(ctx, 0, shape, status);
  TF_DeleteShapeHandle(shape);
}

static void merges(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  TF_ShapeHandle* shape = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(ctx, 0, shape, status);
  TF_ShapeInferenceContextWithRank(ctx, shape, 3, shape, status);
  TF_ShapeInferenceContextSetOutput(ctx, 0, shape, NULL);
  TF_DeleteShapeHandle(shape);
}

static TF_ShapeInferenceContext* kept_context;
static TF_ShapeHandle* kept_shape;

static void keeps(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  if (kept_context != NULL) {
    TF_ShapeInferenceContextGetInput(kept_context, 0, kept_shape, status);
    tell("kept", status);
    TF_ShapeInferenceContextSetOutput(ctx, 0, kept_shape, status);
    tell("kept shape", status);
  }
  kept_context = ctx;
  kept_shape = TF_NewShapeHandle();
}

static void* ask_on(void* ctx) {
  TF_Status* status = TF_NewStatus();
  TF_ShapeHandle* shape = TF_NewShapeHandle();
  for (int k = 0; k < 200000; ++k) TF_ShapeInferenceContextGetInput(ctx, 0, shape, status);
  TF_DeleteShapeHandle(shape);
  TF_DeleteStatus(status);
  return NULL;
}

static void asks_on(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  pthread_t thread;
  TF_ShapeInferenceContextSetUnknownShape(ctx, status);
  for (int k = 0; k < 2; ++k) {
    pthread_create(&thread, NULL, ask_on, ctx);
    pthread_detach(thread);
  }
}

static void codes(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  static char text[1 << 20];
  memset(text, 'A', sizeof text - 1);
  (void)ctx;
  TF_SetStatus(status, (TF_Code)4711, text);
}

static void endless(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  long count = 0;
  TF_ShapeInferenceContextSetUnknownShape(ctx, status);
  while (count < 4000000 && TF_NewShapeHandle() != NULL) ++count;
  fprintf(stderr, "made %ld handles\n", count);
}

static void registers(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("ZooFromShape");
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_RegisterOpDefinition(op, status);
  tell("op", status);
  TF_ShapeInferenceContextSetUnknownShape(ctx, status);
}

static void changes(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  static size_t calls = 0;
  TF_ShapeHandle* shape = TF_ShapeInferenceContextVectorFromSize(ctx, ++calls);
  TF_ShapeInferenceContextSetOutput(ctx, 0, shape, status);
  TF_DeleteShapeHandle(shape);
}

static void deletes(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  TF_ShapeInferenceContextSetUnknownShape(ctx, status);
  TF_DeleteStatus(status);
}

static void ends(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  (void)ctx, (void)status;
  exit(0);
}

static void descends(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  volatile char frame[4096];
  frame[0] = (char)TF_GetCode(status);
  if (frame[0] == TF_OK) descends(ctx, status);
  frame[1] = frame[0];
}

static void add(const char* name, void (*shape)(TF_ShapeInferenceContext*, TF_Status*),
                void (*compute)(void*, TF_OpKernelContext*)) {
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(name);
  TF_OpDefinitionBuilderAddInput(op, "x: float");
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_OpDefinitionBuilderAddAttr(op, "how: int = 0");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, shape);
  TF_RegisterOpDefinition(op, status);
  TF_RegisterKernelBuilder(name, TF_NewKernelBuilder(name, "CPU", create, compute, destroy), status);
  TF_DeleteStatus(status);
}

TF_CAPI_EXPORT void TF_InitKernel(void) {
  add("ZooLarge", large, good);
  add("ZooLarger", larger, good);
  add("ZooProduct", product, good);
  add("ZooRanks", ranks, good);
  add("ZooNulls", nulls, good);
  add("ZooPlaces", places, good);
  add("ZooMerges", merges, good);
  add("ZooKeepsShapes", keeps, good);
  add("ZooAsksOn", asks_on, good);
  add("ZooCodes", codes, good);
  add("ZooEndless", endless, good);
  add("ZooRegisters", registers, good);
  add("ZooChanges", changes, good);
  add("ZooDeletesStatus", deletes, good);
  add("ZooShapeEnds", ends, good);
  add("ZooDescends", descends, good);
}
