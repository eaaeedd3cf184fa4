// What kernels that move elements share: sizes of elements, numbers given as tensors, axes, and one
// engine that copies a box of elements between two layouts.
#ifndef DRYSTONE_CPU_CORE_MOVING_H_
#define DRYSTONE_CPU_CORE_MOVING_H_

#include <complex>
#include <cstddef>

#include "core/kernel.h"

namespace drystone::cpu {

// Every dtype whose elements are plain bytes: no strings, no handles, no variants.
const std::vector<TF_DataType>& plain_types();
// float32, float64 and integers of all sizes.
const std::vector<TF_DataType>& real_types();

// A list of numbers that takes no memory of its own for up to eight.
class Sizes {
 public:
  Sizes() = default;
  explicit Sizes(std::size_t count, std::int64_t value = 0) {
    for (std::size_t k = 0; k < count; ++k) push_back(value);
  }
  explicit Sizes(DimsView dims) {
    for (const std::int64_t dim : dims) push_back(dim);
  }
  void push_back(std::int64_t value) {
    if (count_ < kFew) {
      few_[count_++] = value;
      return;
    }
    if (count_ == kFew) many_.assign(few_, few_ + kFew);
    many_.push_back(value);
    ++count_;
  }
  std::size_t size() const { return count_; }
  std::int64_t* begin() { return count_ <= kFew ? few_ : many_.data(); }
  std::int64_t* end() { return begin() + count_; }
  const std::int64_t* begin() const { return count_ <= kFew ? few_ : many_.data(); }
  const std::int64_t* end() const { return begin() + count_; }
  std::int64_t& operator[](std::size_t k) { return begin()[k]; }
  std::int64_t operator[](std::size_t k) const { return begin()[k]; }
  operator DimsView() const { return {begin(), count_}; }  // NOLINT(google-explicit-constructor)

 private:
  static constexpr std::size_t kFew = 8;
  std::size_t count_ = 0;
  std::int64_t few_[kFew];
  std::vector<std::int64_t> many_;
};

// Bytes of an element of a plain dtype, or of what stands for a string.
std::size_t element_size(TF_DataType dtype);

// Elements of a tensor of integers of any size.
Dims integers(const Tensor& tensor);
// The same of a vector; fails for another rank.
Dims int_vector(const Tensor& tensor, const char* what);
Sizes small_vector(const Tensor& tensor, const char* what);
// The only element of a tensor of integers; fails unless there is exactly one.
std::int64_t scalar_int(const Tensor& tensor, const char* what);
// The element at a place in a tensor of integers.
std::int64_t integer_at(const Tensor& tensor, std::int64_t k);

// `axis` counted from the front; fails unless it lies in [-rank, rank).
int wrap_axis(std::int64_t axis, int rank, const char* what = "axis");

// Product of dims [first, last).
std::int64_t span_of(DimsView dims, int first, int last);

// Fails with INVALID_ARGUMENT unless a tensor of these dims can exist.
void check_dims(DimsView dims);

// Elements between neighbours along each dim of a tensor of these dims.
Dims steps_of(DimsView dims);
// The same in units of `size` bytes.
Sizes small_steps(DimsView dims, std::size_t size);

// Copies the box of `dims` elements of `size` bytes from one layout to another: steps are in bytes,
// may be negative, and 0 for what is repeated. The two must not overlap.
void move_box(std::size_t size, DimsView dims, void* out, DimsView out_steps, const void* in,
              DimsView in_steps);

// The same with the output row after row.
void gather_box(std::size_t size, DimsView dims, void* out, const void* in, DimsView in_steps);

// Fills `count` elements of `size` bytes with one.
void fill(std::size_t size, void* out, std::int64_t count, const void* value);

// Copies in several threads where that pays.
void copy_bytes(void* out, const void* in, std::int64_t bytes);

// The bits of an element, at any address and whatever is stored there.
template <class Number>
struct [[gnu::may_alias, gnu::packed]] PackedBits {
  Number value;
};
struct TwoWords {
  std::uint64_t low;
  std::uint64_t high;
};
struct ThreeWords {
  std::uint64_t low;
  std::uint64_t middle;
  std::uint64_t high;
};

// body(E()) with E the bits of an element of `size` bytes.
template <class Body>
void with_bits(std::size_t size, Body&& body) {
  switch (size) {
    case 1: return body(PackedBits<std::uint8_t>());
    case 2: return body(PackedBits<std::uint16_t>());
    case 4: return body(PackedBits<std::uint32_t>());
    case 8: return body(PackedBits<std::uint64_t>());
    case 16: return body(PackedBits<TwoWords>());
    case 24: return body(PackedBits<ThreeWords>());
    default: fail(TF_UNIMPLEMENTED, "elements of this size are not known");
  }
}

// NOLINTBEGIN(bugprone-branch-clone): the branches are of different types
// body(T()) with T the type of elements of float32, float64 or integers.
template <class Body>
void with_real(TF_DataType dtype, Body&& body) {
  switch (dtype) {
    case TF_FLOAT: return body(float());
    case TF_DOUBLE: return body(double());
    case TF_INT32: return body(std::int32_t());
    case TF_INT64: return body(std::int64_t());
    case TF_INT8: return body(std::int8_t());
    case TF_INT16: return body(std::int16_t());
    case TF_UINT8: return body(std::uint8_t());
    case TF_UINT16: return body(std::uint16_t());
    case TF_UINT32: return body(std::uint32_t());
    case TF_UINT64: return body(std::uint64_t());
    default: fail(TF_UNIMPLEMENTED, "this dtype is no real number");
  }
}

// body(T()) with T int32 or int64, for indices.
template <class Body>
void with_index(TF_DataType dtype, Body&& body) {
  switch (dtype) {
    case TF_INT32: return body(std::int32_t());
    case TF_INT64: return body(std::int64_t());
    case TF_INT8: return body(std::int8_t());
    case TF_INT16: return body(std::int16_t());
    case TF_UINT8: return body(std::uint8_t());
    case TF_UINT16: return body(std::uint16_t());
    default: fail(TF_UNIMPLEMENTED, "indices of this dtype are not known");
  }
}

// NOLINTEND(bugprone-branch-clone)

// Integers that wrap are calculated without a sign.
template <class T>
T wrapping_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  } else {
    return a + b;
  }
}
template <class T>
T wrapping_subtract(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) - static_cast<U>(b)));
  } else {
    return a - b;
  }
}
template <class T>
T wrapping_multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    return a * b;
  }
}

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_CORE_MOVING_H_
