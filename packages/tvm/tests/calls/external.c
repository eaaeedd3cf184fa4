/* A function for a device that is neither the CPU nor known to DLPack, as its compiler would make it. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct { int32_t type, id; } Device;
typedef struct { void* data; Device device; int32_t rank; uint8_t code, bits; uint16_t lanes;
                 int64_t* shape; int64_t* strides; uint64_t byte_offset; } Tensor;
typedef struct { int32_t type, padding; Tensor* tensor; } Any;

extern void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message);
extern void* TVMFFIEnvGetStream(int32_t device_type, int32_t device_id);
void* (*__TVMBackendAllocWorkspace)(int, int, uint64_t, int, int);

/* The driver of the device, where it is in this process: STRICT_LAUNCH is its address. */
typedef bool (*Launch)(void* stream, void (*run)(void* const*, int64_t), int64_t, const void* const*, uint64_t, int);

enum { kExternal = 12 };

static int wrong(const char* kind, const char* message) {
  TVMFFIErrorSetRaisedFromCStr(kind, message);
  return -1;
}

static void add_one(void* const* memory, int64_t count) { /* on the device */
  const float* const x = memory[0];
  float* const y = memory[1];
  for (int64_t k = 0; k < count; ++k) y[k] = x[k] + 1;
}

int __tvm_ffi_addone(void* self, const Any* args, int32_t count, Any* result) {
  (void)self, (void)result;
  if (count != 2) return wrong("TypeError", "addone takes 2 tensors");
  const Tensor* const x = args[0].tensor;
  if (x->device.type != kExternal) return wrong("TypeError", "addone runs on an external device");
  void* const stream = TVMFFIEnvGetStream(kExternal, x->device.id);
  if (stream == NULL) return wrong("RuntimeError", "no stream of the device");
  if (TVMFFIEnvGetStream(kExternal, x->device.id + 1) != NULL) return wrong("RuntimeError", "a stream of another");
  int64_t elements = 1;
  for (int k = 0; k < x->rank; ++k) elements *= x->shape[k];
  const void* const memory[] = {x->data, args[1].tensor->data};
  const bool launched = ((Launch)STRICT_LAUNCH)(stream, add_one, elements, memory, (uint64_t)elements * 4, 2);
  return launched ? 0 : wrong("RuntimeError", "the device takes no work");
}

int __tvm_ffi_spacious(void* self, const Any* args, int32_t count, Any* result) {
  (void)self, (void)result, (void)count;
  const Device device = args[0].tensor->device;
  return __TVMBackendAllocWorkspace(device.type, device.id, 64, 2, 32) == NULL ? -1 : 0;
}
