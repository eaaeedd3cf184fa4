/* Kernels that give memory which is not theirs to give, or give it back too often; and some that do not: the
 * zoo's twins of hostile_kernels.c. Strings go from ops `Zoo...(x: float) -> y: string`. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <unistd.h>

#include "drystone/buffer.h"
#include "drystone/platform_strings.h"
#include "drystone/tstring.h"
#include "hostile_kernels.h"

TF_PLATFORM_STRINGS()

enum { kBytes = 100 };

static TF_Tensor* string_output(TF_OpKernelContext* ctx, TF_TString** string) {
  TF_Status* status = TF_NewStatus();
  TF_Tensor* made = TF_AllocateOutput(ctx, 0, TF_STRING, NULL, 0, sizeof(TF_TString), status);
  *string = TF_TensorData(made);
  TF_DeleteStatus(status);
  return made;
}

/* A view of a block that is freed (how = 0), of one that grew (1), of the stack (2); a string that owns a
 * freed block (3); all in the call. */
static void lost(void* state, TF_OpKernelContext* ctx) {
  char here[kBytes];
  TF_TString* string;
  TF_Tensor* made = string_output(ctx, &string);
  char* block = malloc(kBytes + 1);
  memset(block, 'z', kBytes);
  memset(here, 'z', kBytes);
  switch (((struct Node*)state)->how) {
    case 0: TF_TString_AssignView(string, block, kBytes); free(block); break;
    case 1: TF_TString_AssignView(string, block, kBytes); free(realloc(block, 100 * kBytes)); break;
    case 2: TF_TString_AssignView(string, here, kBytes); free(block); break;
    default:
      TF_TString_Copy(string, block, kBytes);
      free(block);
      free(string->u.large.ptr);
  }
  TF_DeleteTensor(made);
}

/* A view of memory that stays: of a constant (how = 0), or of memory that is written over in the next call
 * (1), which the value that was given must not show. */
static void views(void* state, TF_OpKernelContext* ctx) {
  static char mine[kBytes];
  TF_TString* string;
  TF_Tensor* made = string_output(ctx, &string);
  memset(mine, mine[0] == 0 ? 'a' : mine[0] + 1, kBytes);
  if (((struct Node*)state)->how == 0) TF_TString_AssignView(string, "a constant of the library's", 27);
  else TF_TString_AssignView(string, mine, kBytes);
  TF_DeleteTensor(made);
}

static void keep(void* data, size_t length, void* arg) { (void)data, (void)length, (void)arg; }

/* Its output is a block that it has freed: one that the host takes as it is, as it is aligned (how = 0), or
 * copies while it is there (1), or when it is gone (2). */
static void freed(void* state, TF_OpKernelContext* ctx) {
  enum { kAlignment = 64, kBeside = 16 };
  const int64_t how = ((struct Node*)state)->how;
  const int64_t dims[1] = {6};
  TF_Status* status = TF_NewStatus();
  char* volatile block = aligned_alloc(kAlignment, 2 * kAlignment);
  memset(block, 0, 2 * kAlignment);
  if (how == 2) free(block);
  TF_Tensor* made = TF_NewTensor(TF_FLOAT, dims, 1, how == 0 ? block : block + kBeside, 24, keep, NULL);
  if (made != NULL) TF_SetOutput(ctx, 0, made, status);
  if (how != 2) free(block);
  TF_DeleteTensor(made);
  TF_DeleteStatus(status);
}

/* Frees a block twice (how = 0), deletes a buffer twice (1), deletes one that is none (2). */
static void twice(void* state, TF_OpKernelContext* ctx) {
  static char none[64];
  char* volatile block = malloc(kBytes);
  TF_Buffer* buffer = TF_NewBuffer();
  end(begin(ctx));
  free(block);
  TF_DeleteBuffer(buffer);
  switch (((struct Node*)state)->how) {
    case 0: free(block); break;
    case 1: TF_DeleteBuffer(buffer); break;
    default: TF_DeleteBuffer((TF_Buffer*)(void*)(none + 32));
  }
}

/* Gives so many elements more than its shape function says. */
static void longer(void* state, TF_OpKernelContext* ctx) {
  TF_Status* status = TF_NewStatus();
  TF_Tensor* x = NULL;
  TF_GetInput(ctx, 0, &x, status);
  const int64_t dims[1] = {TF_TensorElementCount(x) + ((struct Node*)state)->how};
  TF_Tensor* y = TF_AllocateOutput(ctx, 0, TF_FLOAT, dims, 1, 4 * (size_t)dims[0], status);
  memset(TF_TensorData(y), 0, TF_TensorByteSize(y));
  TF_DeleteTensor(x);
  TF_DeleteTensor(y);
  TF_DeleteStatus(status);
}

/* Opens so many files, and closes none (how > 0) or all (how < 0) of them. */
static void opens(void* state, TF_OpKernelContext* ctx) {
  const int64_t how = ((struct Node*)state)->how;
  end(begin(ctx));
  for (int64_t k = 0; k < (how < 0 ? -how : how); ++k) {
    const int file = open("/dev/null", O_RDONLY);
    if (how < 0) close(file);
  }
}

static void same_shape(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  TF_ShapeHandle* handle = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(ctx, 0, handle, status);
  TF_ShapeInferenceContextSetOutput(ctx, 0, handle, status);
  TF_DeleteShapeHandle(handle);
}

static void refuses(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  (void)ctx;
  TF_SetStatus(status, TF_INVALID_ARGUMENT, "nothing is good enough");
}

static void add(const char* name, const char* output, void (*shape)(TF_ShapeInferenceContext*, TF_Status*),
                void (*compute)(void*, TF_OpKernelContext*)) {
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(name);
  TF_OpDefinitionBuilderAddInput(op, "x: float");
  TF_OpDefinitionBuilderAddOutput(op, output);
  TF_OpDefinitionBuilderAddAttr(op, "how: int = 0");
  if (shape != NULL) TF_OpDefinitionBuilderSetShapeInferenceFunction(op, shape);
  TF_RegisterOpDefinition(op, status);
  TF_RegisterKernelBuilder(name, TF_NewKernelBuilder(name, "CPU", create, compute, destroy), status);
  TF_DeleteStatus(status);
}

TF_CAPI_EXPORT void TF_InitKernel(void) {
#ifdef LEAVES_OPEN
  for (int k = 0; k < LEAVES_OPEN; ++k) {
    if (open("/dev/null", O_RDONLY) < 0) return;
  }
#endif
  add("ZooLost", "y: string", NULL, lost);
  add("ZooViews", "y: string", NULL, views);
  add("ZooFreed", "y: float", NULL, freed);
  add("ZooFrees", "y: float", NULL, twice);
  add("ZooLonger", "y: float", same_shape, longer);
  add("ZooRefuses", "y: float", refuses, longer);
  add("ZooOpens", "y: float", same_shape, opens);
}
