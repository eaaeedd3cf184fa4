// Powers, and products with logarithms.
#include <algorithm>
#include <cmath>

#include "fast/elementwise.h"
#include "fast/vector_math.h"

namespace drystone::cpu {
namespace {

namespace vm = vector_math;

struct PowOp {
  static constexpr std::uint16_t kCost = 40;
  float operator()(float x, float y) const { return vm::pow(x, y); }
  double operator()(double x, double y) const { return std::pow(x, y); }
};
// Integers wrap around and refuse negative exponents.
struct WholePowOp {
  static constexpr std::uint16_t kCost = 100;
  template <class T>
  static void check(const void*, const void* y, std::int64_t x_count, std::int64_t y_count) {
    if (x_count == 0) return;
    const T* exponent = static_cast<const T*>(y);
    bool negative = false;
    for (std::int64_t k = 0; k < y_count; ++k) negative |= exponent[k] < 0;
    require(!negative, "Integers to negative integer powers are not allowed");
  }
  template <class T>
  T operator()(T x, T y) const {
    Wrapping<T> out = 1;
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): the sign is kept
    Wrapping<T> base = static_cast<Wrapping<T>>(x);
    for (auto rest = static_cast<std::make_unsigned_t<T>>(y); rest != 0; rest >>= 1) {
      if ((rest & 1) != 0) out *= base;
      base *= base;
    }
    return static_cast<T>(out);
  }
};
struct XlogyOp {
  static constexpr std::uint16_t kCost = 6;
  float operator()(float x, float y) const {
    const float out = x * vm::log(y);
    return x == 0 ? x : out;
  }
  double operator()(double x, double y) const { return x == 0 ? x : x * std::log(y); }
};
struct Xlog1pyOp {
  static constexpr std::uint16_t kCost = 10;
  float operator()(float x, float y) const {
    const float out = x * vm::log1p(y);
    return x == 0 ? x : out;
  }
  double operator()(double x, double y) const { return x == 0 ? x : x * std::log1p(y); }
};

// Of y the exponents 2, 0.5, -0.5, ... are common and cheap when all have the same.
void float_power(void* to, const void* left, const void* right, std::int64_t count,
                 std::int64_t a_step, std::int64_t b_step) {
  float* out = static_cast<float*>(to);
  const float* x = static_cast<const float*>(left);
  const float y = *static_cast<const float*>(right);
  if (b_step != 0 || (y != 2 && y != 1)) {
    binary_loop<PowOp, float, float>(to, left, right, count, a_step, b_step);
  } else if (y == 1) {
    std::copy_n(x, count, out);
  } else {
#pragma GCC ivdep
    for (std::int64_t k = 0; k < count; ++k) out[k] = x[k] * x[k];
  }
}

template <Narrow narrow>
constexpr BinarySpec kPower{float_power, nullptr, 4, 4, PowOp::kCost, narrow, Shapes::broadcast};

}  // namespace

void add_power() {
  add_binary("Pow", TF_FLOAT, give<kPower<Narrow::no>>);
  add_binary("Pow", TF_HALF, give<kPower<Narrow::half>>);
  add_binary("Pow", TF_BFLOAT16, give<kPower<Narrow::bfloat16>>);
  add_binary<PowOp>("Pow", Types<double>{});
  add_binary<WholePowOp>("Pow", Signed{});
  add_float_binary<XlogyOp>("Xlogy");
  add_float_binary<Xlog1pyOp>("Xlog1py");
}

}  // namespace drystone::cpu
