// A driver of CUDA for tests: its device is the host's memory, and its kernels are functions here.
//
// It is opened as libcuda.so.1. What it is asked to do is told by told(); FAKE_CUDA names a call that
// fails. A kernel runs when its stream is waited for, so that what is read too early is not there.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostWork = 64, kMostArguments = 8, kMostText = 65536 };

typedef struct {
  int kind;  // 0: a kernel, 1: a copy, 2: memory that is given back
  const char* name;
  uint64_t arguments[kMostArguments];
  unsigned extents[6];
  void* to;
  const void* from;
  size_t size;
} Work;

static Work queue[kMostWork];
static int queued, streams, memory, modules;
static char text[kMostText];

#define EXPORT __attribute__((visibility("default")))

static int fails(const char* name) {
  const char* wanted = getenv("FAKE_CUDA");
  if (strlen(text) + 64 < kMostText) strcat(strcat(text, name), "\n");
  return wanted != NULL && strcmp(wanted, name) == 0;
}

EXPORT const char* told(void) { return text; }
EXPORT int left(void) { return memory + modules; }

static Work* add(int kind) {
  if (queued == kMostWork) abort();
  memset(&queue[queued], 0, sizeof queue[queued]);
  queue[queued].kind = kind;
  return &queue[queued++];
}

static void run(const Work* work) {
  const unsigned count = work->extents[0] * work->extents[3];
  if (strcmp(work->name, "addone_kernel") == 0) {
    const float* x = (const float*)work->arguments[0];
    float* y = (float*)work->arguments[1];
    for (unsigned i = 0; i < count; ++i) y[i] = x[i] + 1;
  } else if (strcmp(work->name, "twice_kernel") == 0) {
    const float* x = (const float*)work->arguments[0];
    float* y = (float*)work->arguments[1];
    const int n = (int)work->arguments[2];
    for (int i = 0; i < n; ++i) y[i] = x[i] * 2;
  } else if (strcmp(work->name, "main_kernel") == 0) {  // of the model of the tests: four columns
    float* y = (float*)work->arguments[0];  // buffers by their names: Relu, x
    const float* x = (const float*)work->arguments[1];
    const int rows = (int)work->arguments[2];
    for (int i = 0; i < 4 * rows; ++i) y[i] = x[i] * 2 + 1 > 0 ? x[i] * 2 + 1 : 0;
  } else {
    abort();
  }
}

EXPORT int cuInit(unsigned flags) { return flags != 0 || fails("cuInit") ? 100 : 0; }
EXPORT int cuGetErrorString(int code, const char** out) {
  *out = code == 100 ? "no device" : code == 2 ? "out of memory" : code == 209 ? "no kernel image" : NULL;
  return *out == NULL ? 1 : 0;
}
EXPORT int cuDeviceGet(int* device, int number) { return *device = number, 0; }
EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) { return *context = text + device, 0; }
EXPORT int cuCtxPushCurrent_v2(void* context) { return context == text ? 0 : 201; }
EXPORT int cuCtxPopCurrent_v2(void** context) { return *context = text, 0; }
EXPORT int cuStreamCreate(void** stream, unsigned flags) { return (void)flags, *stream = &queue[++streams], 0; }
EXPORT int cuDeviceGetDefaultMemPool(void** pool, int device) { return *pool = text + device, 0; }
EXPORT int cuMemPoolSetAttribute(void* pool, int key, void* value) { return (void)pool, (void)value, key == 4 ? 0 : 1; }

EXPORT int cuMemAllocAsync(uint64_t* out, size_t size, void* stream) {
  if (stream == NULL || fails("cuMemAllocAsync")) return 2;
  ++memory;
  *out = (uint64_t)(uintptr_t)malloc(size);
  return 0;
}
EXPORT int cuMemFreeAsync(uint64_t address, void* stream) {
  if (stream == NULL) return 1;
  --memory;
  add(2)->to = (void*)(uintptr_t)address;
  return 0;
}
EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t size, void* stream) {
  if (stream == NULL || fails("cuMemcpyHtoDAsync")) return 1;
  memcpy((void*)(uintptr_t)to, from, size);  // of memory that is not pinned, as CUDA says
  return 0;
}
EXPORT int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t size, void* stream) {
  if (stream == NULL || fails("cuMemcpyDtoHAsync")) return 1;
  Work* work = add(1);
  work->to = to, work->from = (const void*)(uintptr_t)from, work->size = size;
  return 0;
}
EXPORT int cuStreamSynchronize(void* stream) {
  const int broken = stream == NULL || fails("cuStreamSynchronize");  // then nothing queued runs, ever
  for (int i = 0; i < queued; ++i) {
    if (queue[i].kind == 0 && !broken) run(&queue[i]);
    if (queue[i].kind == 1 && !broken) memcpy(queue[i].to, queue[i].from, queue[i].size);
    if (queue[i].kind == 2) free(queue[i].to);
  }
  queued = 0;
  return broken ? 700 : 0;
}
EXPORT int cuModuleLoadData(void** module, const void* code) {
  const uint32_t fatbin = 0xBA55ED50;
  if (memcmp(code, &fatbin, sizeof fatbin) != 0 || fails("cuModuleLoadData")) return 209;
  ++modules;
  *module = text;
  return 0;
}
EXPORT int cuModuleUnload(void* module) { return (void)module, --modules, 0; }
EXPORT int cuModuleGetFunction(const char** kernel, void* module, const char* name) {
  (void)module;
  if (fails("cuModuleGetFunction")) return 500;
  const char* known[] = {"addone_kernel", "twice_kernel", "main_kernel"};
  *kernel = NULL;
  for (int i = 0; i < 3; ++i) {
    if (strcmp(name, known[i]) == 0) *kernel = known[i];
  }
  return *kernel == NULL ? 500 : 0;
}
EXPORT int cuFuncSetAttribute(const char* kernel, int key, int value) { return (void)kernel, (void)value, key == 8 ? 0 : 1; }
EXPORT int cuLaunchKernel(const char* kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void* stream, void** arguments, void** extra) {
  char line[64];
  snprintf(line, sizeof line, "%s %u %u %u, %u %u %u, %u", kernel, gx, gy, gz, bx, by, bz, shared);
  if (extra != NULL || stream == NULL || fails("cuLaunchKernel")) return 1;
  fails(line);
  Work* work = add(0);
  work->name = kernel;
  work->extents[0] = gx, work->extents[3] = bx;
  const int count = strcmp(kernel, "addone_kernel") == 0 ? 2 : 3;
  for (int i = 0; i < count; ++i) {
    const int wide = i < 2;
    memcpy(&work->arguments[i], arguments[i], wide ? sizeof(uint64_t) : sizeof(uint32_t));
  }
  return 0;
}
