// Element-wise kernels. An op is a loop over one run of elements and a constant that describes it;
// shapes, threads, failures and 16-bit floats are the same code for all.
#ifndef DRYSTONE_CPU_FAST_ELEMENTWISE_H_
#define DRYSTONE_CPU_FAST_ELEMENTWISE_H_

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "core/kernel.h"
#include "core/widen.h"

namespace drystone::cpu {

// Families, one per file.
void add_arithmetic();
void add_division();
void add_comparison();
void add_bitwise();
void add_power();
void add_rounding();
void add_exponential();
void add_trigonometric();
void add_activation();
void add_gradients();
void add_select();
void add_cast();
void add_filling();
void add_sums();
void add_complex_numbers();
void add_fused_elementwise();

template <class T>
inline constexpr TF_DataType kType = TF_FLOAT;
template <>
inline constexpr TF_DataType kType<double> = TF_DOUBLE;
template <>
inline constexpr TF_DataType kType<std::int8_t> = TF_INT8;
template <>
inline constexpr TF_DataType kType<std::int16_t> = TF_INT16;
template <>
inline constexpr TF_DataType kType<std::int32_t> = TF_INT32;
template <>
inline constexpr TF_DataType kType<std::int64_t> = TF_INT64;
template <>
inline constexpr TF_DataType kType<std::uint8_t> = TF_UINT8;
template <>
inline constexpr TF_DataType kType<std::uint16_t> = TF_UINT16;
template <>
inline constexpr TF_DataType kType<std::uint32_t> = TF_UINT32;
template <>
inline constexpr TF_DataType kType<std::uint64_t> = TF_UINT64;
template <>
inline constexpr TF_DataType kType<bool> = TF_BOOL;
template <>
inline constexpr TF_DataType kType<Half> = TF_HALF;
template <>
inline constexpr TF_DataType kType<BFloat16> = TF_BFLOAT16;

// Elements as they are calculated with, and back.
inline float wide(Half x) { return to_float(x); }
inline float wide(BFloat16 x) { return to_float(x); }
template <class T>
T wide(T x) {
  return x;
}
template <class T>
T as_held(Wide<T> x) {
  if constexpr (std::is_same_v<T, Wide<T>>) return x;
  else return from_float<T>(x);
}

template <class... T>
struct Types {};
using Floats = Types<float, double>;
using Signed = Types<std::int32_t, std::int64_t, std::int8_t, std::int16_t>;
using Unsigned = Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;

// Integers wrap: they are calculated without a sign, and not promoted to int.
template <class T, bool = std::is_integral_v<T> && !std::is_same_v<T, bool>>
struct WrappingOf {
  using type = T;
};
template <class T>
struct WrappingOf<T, true> {
  using type = std::conditional_t<sizeof(T) < 4, std::uint32_t, std::make_unsigned_t<T>>;
};
template <class T>
using Wrapping = typename WrappingOf<T>::type;

enum class Narrow : std::uint8_t { no, half, bfloat16 };

// Steps are 0 or 1. `out` may be `a` or `b` where that one's step is 1.
using BinaryRun = void (*)(void* out, const void* a, const void* b, std::int64_t count,
                           std::int64_t a_step, std::int64_t b_step);
using UnaryRun = void (*)(void* out, const void* x, std::int64_t count);
// Fails for values that the op refuses.
using Check = void (*)(const void* a, const void* b, std::int64_t a_count, std::int64_t b_count);

enum class Shapes : std::uint8_t { broadcast, lenient, equal, equal_count };

struct BinarySpec {
  BinaryRun run;
  Check check;          // or null
  std::uint8_t bytes;   // of an element of an input, as `run` sees it
  std::uint8_t result;  // of the output
  std::uint16_t cost;   // about how many tenths of a nanosecond an element takes
  Narrow narrow;        // inputs are converted to float, and the result unless it is bool
  Shapes shapes;
  bool unequal = false;  // lenient: what shapes that do not go together give
};

struct UnarySpec {
  UnaryRun run;
  std::uint8_t bytes;
  std::uint8_t result;
  std::uint16_t cost;
  Narrow narrow;
};

// One run of elements of any strides; used by kernels of their own, too.
void run_binary(const BinarySpec& spec, char* out, const char* a, const char* b, std::int64_t count,
                std::int64_t a_step, std::int64_t b_step);
void run_unary(const UnarySpec& spec, char* out, const char* x, std::int64_t count);
// Output 0 of two inputs that need not have one shape; `b` has the elements of these dims.
void broadcast_binary(const BinarySpec& spec, const Call& call, const Tensor& a, const Tensor& b,
                      DimsView b_dims);

void compute_binary(void* spec, TF_OpKernelContext* context);
void compute_unary(void* spec, TF_OpKernelContext* context);
// Register an op for types of its attribute T; `give` makes the spec.
void add_binary(const char* op, TF_DataType type, Create give);
void add_unary(const char* op, TF_DataType type, Create give);
void add_binary(const char* op, const std::vector<TF_DataType>& types, Create give);
void add_unary(const char* op, const std::vector<TF_DataType>& types, Create give);
// What the functions above registered: the makers of an op's specs for a type, or null.
struct Loops {
  Create binary = nullptr;
  Create unary = nullptr;
};
Loops loops_of(std::string_view op, TF_DataType type);
// The attribute T of a node; noted as the node's failure, and of no known type, without it.
TF_DataType type_of(TF_OpKernelConstruction* construction) noexcept;
void add_plain_binary(const char* op, Create give);  // ops without a type
void add_plain_unary(const char* op, Create give);

template <const auto& spec>
void* give(TF_OpKernelConstruction*) {
  using Spec = std::remove_cvref_t<decltype(spec)>;
  return const_cast<Spec*>(&spec);  // NOLINT(cppcoreguidelines-pro-type-const-cast): only read
}

template <class Op, class T, class R>
void binary_loop(void* to, const void* left, const void* right, std::int64_t count,
                 std::int64_t a_step, std::int64_t b_step) {
  const Op op;
  R* out = static_cast<R*>(to);
  const T* a = static_cast<const T*>(left);
  const T* b = static_cast<const T*>(right);
  if (b_step != 0 && a_step != 0) {
#pragma GCC ivdep
    for (std::int64_t k = 0; k < count; ++k) out[k] = op(a[k], b[k]);
  } else if (a_step != 0) {
    const T same = *b;
#pragma GCC ivdep
    for (std::int64_t k = 0; k < count; ++k) out[k] = op(a[k], same);
  } else {  // one run never has two inputs that stay, but for one element
    const T same = *a;
#pragma GCC ivdep
    for (std::int64_t k = 0; k < count; ++k) out[k] = op(same, b[k]);
  }
}

template <class Op, class T, class R>
void unary_loop(void* to, const void* from, std::int64_t count) {
  const Op op;
  R* out = static_cast<R*>(to);
  const T* x = static_cast<const T*>(from);
#pragma GCC ivdep
  for (std::int64_t k = 0; k < count; ++k) out[k] = op(x[k]);
}

template <class Op>
constexpr std::uint16_t cost_of() {
  if constexpr (requires { Op::kCost; }) return Op::kCost;
  return 2;
}
template <class Op, class T>
constexpr Check check_of() {
  if constexpr (requires { Op::template check<T>; }) {
    if constexpr (std::is_integral_v<T>) return Op::template check<T>;
  }
  return nullptr;
}
template <class Op>
constexpr Shapes shapes_of() {
  if constexpr (requires { Op::kShapes; }) return Op::kShapes;
  return Shapes::broadcast;
}

template <class Op, class T, class R, Narrow narrow>
inline constexpr BinarySpec kBinary{
    binary_loop<Op, T, R>, check_of<Op, T>(), sizeof(T), sizeof(R), cost_of<Op>(), narrow,
    shapes_of<Op>()};
template <class Op, class T, class R, Narrow narrow>
inline constexpr UnarySpec kUnary{unary_loop<Op, T, R>, sizeof(T), sizeof(R), cost_of<Op>(),
                                  narrow};

template <class Op, class T>
using ResultOf = std::invoke_result_t<Op, T, T>;

// The spec for a node's type.
template <class Op, class... T>
void* choose_binary(TF_OpKernelConstruction* construction) {
  const TF_DataType type = type_of(construction);
  void* out = nullptr;
  const auto fits = [&](TF_DataType other, Create spec) {
    if (type == other) out = spec(construction);
  };
  (fits(kType<T>, give<kBinary<Op, T, ResultOf<Op, T>, Narrow::no>>), ...);
  return out;
}
template <class Op, class... T>
void* choose_unary(TF_OpKernelConstruction* construction) {
  const TF_DataType type = type_of(construction);
  void* out = nullptr;
  const auto fits = [&](TF_DataType other, Create spec) {
    if (type == other) out = spec(construction);
  };
  (fits(kType<T>, give<kUnary<Op, T, std::invoke_result_t<Op, T>, Narrow::no>>), ...);
  return out;
}
// For float16 and bfloat16, calculated in float.
template <class Op>
void* choose_narrow_binary(TF_OpKernelConstruction* construction) {
  using R = ResultOf<Op, float>;
  return type_of(construction) == TF_HALF
             ? give<kBinary<Op, float, R, Narrow::half>>(construction)
             : give<kBinary<Op, float, R, Narrow::bfloat16>>(construction);
}
template <class Op>
void* choose_narrow_unary(TF_OpKernelConstruction* construction) {
  using R = std::invoke_result_t<Op, float>;
  return type_of(construction) == TF_HALF
             ? give<kUnary<Op, float, R, Narrow::half>>(construction)
             : give<kUnary<Op, float, R, Narrow::bfloat16>>(construction);
}

// Register an op, a functor, for dtypes.
template <class Op, class... T>
void add_binary(const char* op, Types<T...>) {
  add_binary(op, std::vector<TF_DataType>{kType<T>...}, choose_binary<Op, T...>);
}
template <class Op, class... T>
void add_unary(const char* op, Types<T...>) {
  add_unary(op, std::vector<TF_DataType>{kType<T>...}, choose_unary<Op, T...>);
}
template <class Op>
void add_narrow_binary(const char* op) {
  add_binary(op, std::vector<TF_DataType>{TF_HALF, TF_BFLOAT16}, choose_narrow_binary<Op>);
}
template <class Op>
void add_narrow_unary(const char* op) {
  add_unary(op, std::vector<TF_DataType>{TF_HALF, TF_BFLOAT16}, choose_narrow_unary<Op>);
}
template <class Op>
void add_float_binary(const char* op) {
  add_binary<Op>(op, Floats{});
  add_narrow_binary<Op>(op);
}
template <class Op>
void add_float_unary(const char* op) {
  add_unary<Op>(op, Floats{});
  add_narrow_unary<Op>(op);
}

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_FAST_ELEMENTWISE_H_
