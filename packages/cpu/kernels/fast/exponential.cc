// Powers of e, logarithms, and what is made of them.
#include <cmath>

#include "fast/elementwise.h"
#include "fast/vector_math.h"

namespace drystone::cpu {
namespace {

namespace vm = vector_math;

struct ExpOp {
  static constexpr std::uint16_t kCost = 5;
  float operator()(float x) const { return vm::exp(x); }
  double operator()(double x) const { return std::exp(x); }
};
struct Expm1Op {
  static constexpr std::uint16_t kCost = 5;
  float operator()(float x) const { return vm::expm1(x); }
  double operator()(double x) const { return std::expm1(x); }
};
struct LogOp {
  static constexpr std::uint16_t kCost = 5;
  float operator()(float x) const { return vm::log(x); }
  double operator()(double x) const { return std::log(x); }
};
struct Log1pOp {
  static constexpr std::uint16_t kCost = 8;
  float operator()(float x) const { return vm::log1p(x); }
  double operator()(double x) const { return std::log1p(x); }
};
struct TanhOp {
  static constexpr std::uint16_t kCost = 8;
  float operator()(float x) const { return vm::tanh(x); }
  double operator()(double x) const { return std::tanh(x); }
};
struct SigmoidOp {
  static constexpr std::uint16_t kCost = 8;
  float operator()(float x) const { return vm::sigmoid(x); }
  double operator()(double x) const {
    const double small = std::exp(-std::fabs(x));
    return (x >= 0 ? 1 : small) / (1 + small);
  }
};
struct ErfOp {
  static constexpr std::uint16_t kCost = 10;
  float operator()(float x) const { return vm::erf(x); }
  double operator()(double x) const { return std::erf(x); }
};
// By the C library: rare.
struct ErfcOp {
  static constexpr std::uint16_t kCost = 200;
  template <class T>
  T operator()(T x) const {
    return std::erfc(x);
  }
};
struct SinhOp {
  static constexpr std::uint16_t kCost = 200;
  template <class T>
  T operator()(T x) const {
    return std::sinh(x);
  }
};
struct CoshOp {
  static constexpr std::uint16_t kCost = 200;
  template <class T>
  T operator()(T x) const {
    return std::cosh(x);
  }
};
struct AsinhOp {
  static constexpr std::uint16_t kCost = 200;
  template <class T>
  T operator()(T x) const {
    return std::asinh(x);
  }
};
struct AcoshOp {
  static constexpr std::uint16_t kCost = 200;
  template <class T>
  T operator()(T x) const {
    return std::acosh(x);
  }
};
struct AtanhOp {
  static constexpr std::uint16_t kCost = 200;
  template <class T>
  T operator()(T x) const {
    return std::atanh(x);
  }
};

}  // namespace

void add_exponential() {
  add_float_unary<ExpOp>("Exp");
  add_float_unary<Expm1Op>("Expm1");
  add_float_unary<LogOp>("Log");
  add_float_unary<Log1pOp>("Log1p");
  add_float_unary<TanhOp>("Tanh");
  add_float_unary<SigmoidOp>("Sigmoid");
  add_float_unary<ErfOp>("Erf");
  add_float_unary<ErfcOp>("Erfc");
  add_float_unary<SinhOp>("Sinh");
  add_float_unary<CoshOp>("Cosh");
  add_float_unary<AsinhOp>("Asinh");
  add_float_unary<AcoshOp>("Acosh");
  add_float_unary<AtanhOp>("Atanh");
}

}  // namespace drystone::cpu
