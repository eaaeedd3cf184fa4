/* y = x + 1 of vectors, by TVM's calling convention: a library that drystone-tvm calls. */
#include <stdint.h>

typedef struct { void* data; int32_t device[2]; int32_t rank; uint8_t code, bits; uint16_t lanes;
                 int64_t* shape; int64_t* strides; uint64_t byte_offset; } Tensor;
typedef struct { int32_t type, padding; Tensor* tensor; } Any;

extern void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message);

int __tvm_ffi_addone(void* self, const Any* args, int32_t count, Any* result) {
  (void)self, (void)result;
  if (count != 2 || args[0].tensor->rank != 1) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "addone takes a vector");
    return -1;
  }
  const float* x = args[0].tensor->data;
  float* y = args[1].tensor->data;
  for (int64_t k = 0; k < args[0].tensor->shape[0]; ++k) y[k] = x[k] + 1;
  return 0;
}
