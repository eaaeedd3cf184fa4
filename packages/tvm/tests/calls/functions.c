/* Functions of TVM's calling convention, as a plain C compiler makes them: no TVM is near. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct { int32_t type, id; } Device;
typedef struct { uint8_t code, bits; uint16_t lanes; } Dtype;
typedef struct {
  void* data;
  Device device;
  int32_t rank;
  Dtype dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} Tensor;
typedef struct {
  int32_t type, padding;
  union { int64_t integer; double real; Tensor* tensor; };
} Any;

#ifndef STEP
#define STEP 1
#endif

extern void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message);
extern void TVMFFIErrorSetRaisedFromCStrParts(const char* kind, const char** parts, int32_t count);

#define FUNCTION(name) int __tvm_ffi_##name(void* self, const Any* args, int32_t count, Any* result)

static int64_t elements(const Tensor* x) {
  int64_t out = 1;
  for (int k = 0; k < x->rank; ++k) out *= x->shape[k];
  return out;
}

static int wrong(const char* kind, const char* message) {
  const char* parts[] = {message, ": needed another one"};
  TVMFFIErrorSetRaisedFromCStrParts(kind, parts, 2);
  return -1;
}

FUNCTION(addone) {
  (void)self, (void)result;
  if (count != 2) return wrong("TypeError", "addone takes 2 tensors");
  const Tensor* x = args[0].tensor;
  if (x->dtype.code != 2 || x->dtype.bits != 32) return wrong("TypeError", "dtype of argument 0");
  float* y = args[1].tensor->data;
  for (int64_t k = 0; k < elements(x); ++k) y[k] = ((const float*)x->data)[k] + STEP;
  return 0;
}

/* The gradient of 3 x: 3 g. */
FUNCTION(triple) {
  (void)self, (void)result, (void)count;
  const Tensor* x = args[0].tensor;
  for (int64_t k = 0; k < elements(x); ++k) ((float*)args[1].tensor->data)[k] = 3 * ((float*)x->data)[k];
  return 0;
}
FUNCTION(triple_gradient) {
  (void)self, (void)result, (void)count;
  const Tensor* g = args[1].tensor;
  for (int64_t k = 0; k < elements(g); ++k) ((float*)args[2].tensor->data)[k] = 3 * ((float*)g->data)[k];
  return 0;
}

/* The bytes of x; and what is said of x: code, bits, rank, whether all buffers are aligned, strides. */
FUNCTION(echo) {
  (void)self, (void)result, (void)count;
  const Tensor* x = args[0].tensor;
  const Tensor* y = args[1].tensor;
  int64_t* facts = args[2].tensor->data;
  int64_t step = 1, contiguous = 1;
  memcpy(y->data, x->data, (size_t)(elements(x) * x->dtype.bits / 8));
  for (int k = x->rank - 1; k >= 0; --k) {
    contiguous &= x->strides[k] == step;
    step *= x->shape[k];
  }
  facts[0] = x->dtype.code;
  facts[1] = x->dtype.bits;
  facts[2] = x->rank;
  facts[3] = (((uintptr_t)x->data | (uintptr_t)y->data | (uintptr_t)facts) % 64 == 0);
  facts[4] = contiguous;
  return 0;
}

FUNCTION(address) { /* of its input */
  (void)self, (void)result, (void)count;
  *(int64_t*)args[1].tensor->data = (int64_t)(intptr_t)args[0].tensor->data;
  return 0;
}

FUNCTION(raises) {
  (void)self, (void)args, (void)count, (void)result;
  TVMFFIErrorSetRaisedFromCStr("IndexError", "no such row");
  return -1;
}
FUNCTION(silent) {
  (void)self, (void)args, (void)count, (void)result;
  return -3;
}
FUNCTION(object) {
  (void)self, (void)args, (void)count;
  result->type = 70;
  return 0;
}
FUNCTION(constant) { /* no inputs */
  (void)self, (void)result, (void)count;
  *(double*)args[0].tensor->data = 42;
  return 0;
}

/* Loops on the host's threads, with work space, as generated code asks for them. */
typedef struct { void* sync; int32_t tasks; } Group;
typedef int (*Task)(int number, Group* group, void* closure);
int (*__TVMBackendParallelLaunch)(Task, void*, int);
void* (*__TVMBackendAllocWorkspace)(int, int, uint64_t, int, int);
int (*__TVMBackendFreeWorkspace)(int, int, void*);

typedef struct { const float* x; float* y; float* space; int64_t count; } Work;

static int square_part(int number, Group* group, void* closure) {
  Work* work = closure;
  for (int64_t k = number; k < work->count; k += group->tasks) {
    work->space[k] = work->x[k] * work->x[k];
    work->y[k] = work->space[k];
  }
  return work->count == 13 ? wrong("ValueError", "thirteen") : 0;
}

FUNCTION(square) {
  (void)self, (void)result, (void)count;
  const Tensor* x = args[0].tensor;
  Work work = {x->data, args[1].tensor->data, NULL, elements(x)};
  int code;
  work.space = __TVMBackendAllocWorkspace(1, 0, (uint64_t)work.count * 4, 2, 32);
  if (work.space == NULL || (uintptr_t)work.space % 64 != 0) return wrong("RuntimeError", "work space");
  code = __TVMBackendParallelLaunch(square_part, &work, 0);
  __TVMBackendFreeWorkspace(1, 0, work.space);
  return code;
}

#ifdef NEEDS_TVM
extern int TVMFFIFunctionGetGlobal(const void* name, void** out);
FUNCTION(needs) {
  (void)self, (void)args, (void)count, (void)result;
  return TVMFFIFunctionGetGlobal(NULL, NULL);
}
#endif
#ifdef NEEDS_CALLS
int (*__TVMFFIFunctionCall)(void*, Any*, int32_t, Any*);
#endif

#ifdef TELLS_OPENING
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void opened(void) {
  int file = open(getenv("OPENED"), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file < 0 || write(file, "x", 1) != 1) abort();
  close(file);
}
#endif
