// Angles.
#include <algorithm>
#include <cmath>

#include "fast/elementwise.h"
#include "fast/vector_math.h"

namespace drystone::cpu {
namespace {

namespace vm = vector_math;

struct SinOp {
  static constexpr std::uint16_t kCost = 10;
  static float any(float x) { return static_cast<float>(std::sin(static_cast<double>(x))); }
  float operator()(float x) const { return vm::sin(x); }
  double operator()(double x) const { return std::sin(x); }
};
struct CosOp {
  static constexpr std::uint16_t kCost = 10;
  static float any(float x) { return static_cast<float>(std::cos(static_cast<double>(x))); }
  float operator()(float x) const { return vm::cos(x); }
  double operator()(double x) const { return std::cos(x); }
};
struct TanOp {
  static constexpr std::uint16_t kCost = 12;
  static float any(float x) { return static_cast<float>(std::tan(static_cast<double>(x))); }
  float operator()(float x) const { return vm::tan(x); }
  double operator()(double x) const { return std::tan(x); }
};

// Angles that are too large for the vector function go, with their neighbours, to the C library.
template <class Op>
void angles(void* to, const void* from, std::int64_t count) {
  constexpr std::int64_t kSome = 128;
  float* out = static_cast<float*>(to);
  const float* x = static_cast<const float*>(from);
  for (std::int64_t k = 0; k < count; k += kSome) {
    const std::int64_t end = std::min(k + kSome, count);
    int large = 0;
    for (std::int64_t i = k; i < end; ++i) large |= std::fabs(x[i]) <= vm::kMostAngle ? 0 : 1;
    if (large != 0) {
      for (std::int64_t i = k; i < end; ++i) out[i] = Op::any(x[i]);
    } else {
      unary_loop<Op, float, float>(out + k, x + k, end - k);
    }
  }
}

template <class Op, Narrow narrow>
constexpr UnarySpec kAngles{angles<Op>, 4, 4, Op::kCost, narrow};

template <class Op>
void add_angles(const char* op) {
  add_unary<Op>(op, Types<double>{});
  add_unary(op, TF_FLOAT, give<kAngles<Op, Narrow::no>>);
  add_unary(op, TF_HALF, give<kAngles<Op, Narrow::half>>);
  add_unary(op, TF_BFLOAT16, give<kAngles<Op, Narrow::bfloat16>>);
}

// By the C library.
struct AsinOp {
  static constexpr std::uint16_t kCost = 100;
  template <class T>
  T operator()(T x) const {
    return std::asin(x);
  }
};
struct AcosOp {
  static constexpr std::uint16_t kCost = 100;
  template <class T>
  T operator()(T x) const {
    return std::acos(x);
  }
};
struct AtanOp {
  static constexpr std::uint16_t kCost = 100;
  template <class T>
  T operator()(T x) const {
    return std::atan(x);
  }
};
struct Atan2Op {
  static constexpr std::uint16_t kCost = 200;
  template <class T>
  T operator()(T y, T x) const {
    return std::atan2(y, x);
  }
};

}  // namespace

void add_trigonometric() {
  add_angles<SinOp>("Sin");
  add_angles<CosOp>("Cos");
  add_angles<TanOp>("Tan");
  add_float_unary<AsinOp>("Asin");
  add_float_unary<AcosOp>("Acos");
  add_float_unary<AtanOp>("Atan");
  add_float_binary<Atan2Op>("Atan2");
}

}  // namespace drystone::cpu
