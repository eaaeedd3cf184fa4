// What flows through a region: types and shapes, and the errors that refuse one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "drystone/datatype.h"

namespace drystone::gpu {

// Types of elements that kernels know.
enum class Type : std::uint8_t { f32, f16, bf16, i32, i64, b8, u8, none };

using Dims = std::vector<std::int64_t>;

// A region, or a node of one, that this backend does not compute; what() says why.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The same where a node is well, and no kernel does it.
class Unknown : public Refused {
 public:
  using Refused::Refused;
};

inline Type type_of(TF_DataType dtype) {
  switch (dtype) {
    case TF_FLOAT: return Type::f32;
    case TF_HALF: return Type::f16;
    case TF_BFLOAT16: return Type::bf16;
    case TF_INT32: return Type::i32;
    case TF_INT64: return Type::i64;
    case TF_BOOL: return Type::b8;
    case TF_UINT8: return Type::u8;
    default: return Type::none;
  }
}

inline TF_DataType dtype_of(Type type) {
  switch (type) {
    case Type::f32: return TF_FLOAT;
    case Type::f16: return TF_HALF;
    case Type::bf16: return TF_BFLOAT16;
    case Type::i32: return TF_INT32;
    case Type::i64: return TF_INT64;
    case Type::b8: return TF_BOOL;
    default: return TF_UINT8;
  }
}

inline std::size_t size_of(Type type) {
  switch (type) {
    case Type::f32:
    case Type::i32: return 4;
    case Type::i64: return 8;
    case Type::f16:
    case Type::bf16: return 2;
    default: return 1;
  }
}

inline bool is_float(Type type) {
  return type == Type::f32 || type == Type::f16 || type == Type::bf16;
}

// How many elements; kernels count in 32 bits, so larger tensors are refused.
inline std::int64_t count_of(const Dims& dims) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  std::int64_t count = 1;
  for (std::int64_t dim : dims) {
    if (dim < 0) throw Refused("a dimension below 0");
    if (dim >= kMost || (count *= dim) >= kMost) {
      throw Refused("a tensor of 2^31 elements or more");
    }
  }
  return count;
}

// An axis counted from the front; one that there is not is refused.
inline int axis_of(std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size) throw Refused("an axis that there is not");
  return static_cast<int>(axis < 0 ? axis + size : axis);
}

}  // namespace drystone::gpu
