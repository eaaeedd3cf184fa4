// How functions that TVM has compiled are called: arguments, results and tensors in memory.
//
// Source: the C ABI of apache-tvm-ffi 0.1 (tvm/ffi/c_api.h) and DLPack 1.0; only what a caller of
// compiled functions needs of them.
#ifndef DRYSTONE_TVM_CONVENTION_H_
#define DRYSTONE_TVM_CONVENTION_H_

#include <cstdint>

namespace drystone_tvm {

struct DLDevice {
  std::int32_t type;
  std::int32_t id;
};

struct DLDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t rank;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};

// A value with the number of its type.
struct Any {
  std::int32_t type;
  std::uint32_t padding;
  union {
    std::int64_t integer;
    double real;
    void* pointer;
  };
};

constexpr std::int32_t kNone = 0;
constexpr std::int32_t kTensorPointer = 7;
constexpr std::int32_t kObjects = 64;  // and above: objects with a count of references
constexpr std::int32_t kCpu = 1;
constexpr std::int32_t kCuda = 2;
constexpr std::int32_t kExternal = 12;  // of a device that DLPack has no number for
constexpr std::uint64_t kAlignment = 64;  // compiled functions assume it of every buffer

// 0 for success; else the function has set an error on its thread.
using Function = int (*)(void* self, const Any* arguments, std::int32_t count, Any* result);

constexpr char kFunctionPrefix[] = "__tvm_ffi_";

static_assert(sizeof(DLTensor) == 48 && sizeof(Any) == 16);

}  // namespace drystone_tvm

#endif  // DRYSTONE_TVM_CONVENTION_H_
