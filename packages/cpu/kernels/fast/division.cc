// Quotients and remainders. Integers refuse a divisor of zero.
#include <cmath>

#include "fast/elementwise.h"

namespace drystone::cpu {
namespace {

// The quotient towards zero; that of the smallest number and -1 wraps.
template <class T>
T quotient(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(a));
  }
  return static_cast<T>(a / b);
}
template <class T>
T remainder(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return std::fmod(a, b);
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return 0;
  }
  if constexpr (std::is_integral_v<T>) return static_cast<T>(a % b);
}

template <class T, TF_Code code>
void refuse_zero(const void* b, std::int64_t a_count, std::int64_t b_count) {
  if (a_count == 0) return;
  const T* divisor = static_cast<const T*>(b);
  bool zero = false;
  for (std::int64_t k = 0; k < b_count; ++k) zero |= divisor[k] == 0;
  if (zero) fail(code, "Integer division by zero");
}

template <TF_Code code>
struct Checked {
  static constexpr std::uint16_t kCost = 20;
  template <class T>
  static void check(const void*, const void* b, std::int64_t a_count, std::int64_t b_count) {
    refuse_zero<T, code>(b, a_count, b_count);
  }
};

struct RealDivOp {
  template <class T>
  T operator()(T a, T b) const {
    return a / b;
  }
};
struct DivNoNanOp {
  template <class T>
  T operator()(T a, T b) const {
    return b == 0 ? T(0) : a / b;
  }
};
struct XdivyOp {
  template <class T>
  T operator()(T a, T b) const {
    return a == 0 ? a : a / b;
  }
};
template <TF_Code code>
struct TruncateDivOp : Checked<code> {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) return std::trunc(a / b);
    else return quotient(a, b);
  }
};
using DivOp = TruncateDivOp<TF_INVALID_ARGUMENT>;

struct FloorDivOp : Checked<TF_INVALID_ARGUMENT> {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::floor(a / b);
    } else {
      const T whole = quotient(a, b);
      const bool opposed = std::is_signed_v<T> && (a < 0) != (b < 0);
      return opposed && static_cast<T>(whole * b) != a ? static_cast<T>(whole - 1) : whole;
    }
  }
};
template <TF_Code code>
struct TruncateModOp : Checked<code> {
  template <class T>
  T operator()(T a, T b) const {
    return remainder(a, b);
  }
};
// The result takes the divisor's sign.
struct FloorModOp : Checked<TF_INVALID_ARGUMENT> {
  template <class T>
  T operator()(T a, T b) const {
    const T rest = remainder(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
  }
};

// In 16 bits a quotient is rounded before it is cut.
template <class T, bool floor>
struct WholeOp {
  float operator()(float a, float b) const {
    const float rounded = to_float(from_float<T>(a / b));
    return floor ? std::floor(rounded) : std::trunc(rounded);
  }
};
template <bool floor>
void add_whole(const char* op) {
  add_binary(op, TF_HALF, give<kBinary<WholeOp<Half, floor>, float, float, Narrow::half>>);
  add_binary(op, TF_BFLOAT16,
             give<kBinary<WholeOp<BFloat16, floor>, float, float, Narrow::bfloat16>>);
}

template <class Op>
void add_integers(const char* op) {
  add_binary<Op>(op, Signed{});
  add_binary<Op>(op, Unsigned{});
}

}  // namespace

void add_division() {
  add_float_binary<RealDivOp>("RealDiv");
  add_float_binary<RealDivOp>("Div");
  add_integers<DivOp>("Div");
  add_float_binary<DivNoNanOp>("DivNoNan");
  add_float_binary<XdivyOp>("Xdivy");
  add_binary<FloorDivOp>("FloorDiv", Floats{});
  add_whole<true>("FloorDiv");
  add_integers<FloorDivOp>("FloorDiv");
  add_binary<TruncateDivOp<TF_INTERNAL>>("TruncateDiv", Floats{});
  add_whole<false>("TruncateDiv");
  add_integers<TruncateDivOp<TF_INTERNAL>>("TruncateDiv");
  add_float_binary<FloorModOp>("FloorMod");
  add_integers<FloorModOp>("FloorMod");
  add_float_binary<TruncateModOp<TF_INVALID_ARGUMENT>>("Mod");
  add_binary<TruncateModOp<TF_INVALID_ARGUMENT>>("Mod", Types<std::int32_t, std::int64_t>{});
  add_float_binary<TruncateModOp<TF_INTERNAL>>("TruncateMod");
  add_binary<TruncateModOp<TF_INTERNAL>>("TruncateMod", Types<std::int32_t, std::int64_t>{});
}

}  // namespace drystone::cpu
