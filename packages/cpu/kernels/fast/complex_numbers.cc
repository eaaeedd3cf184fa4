// Complex numbers: arithmetic, parts, magnitudes.
#include <cmath>

#include "fast/elementwise.h"

namespace drystone::cpu {
namespace {

// Not std::complex, whose product treats infinities apart and does not vectorize.
template <class T>
struct Complex {
  T real;
  T imag;
};
using Single = Complex<float>;
using Double = Complex<double>;

struct AddOp {
  template <class T>
  Complex<T> operator()(Complex<T> a, Complex<T> b) const {
    return {a.real + b.real, a.imag + b.imag};
  }
};
struct SubOp {
  template <class T>
  Complex<T> operator()(Complex<T> a, Complex<T> b) const {
    return {a.real - b.real, a.imag - b.imag};
  }
};
struct MulOp {
  template <class T>
  Complex<T> operator()(Complex<T> a, Complex<T> b) const {
    return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
  }
};
struct ConjOp {
  template <class T>
  Complex<T> operator()(Complex<T> x) const {
    return {x.real, -x.imag};
  }
};
struct NegOp {
  template <class T>
  Complex<T> operator()(Complex<T> x) const {
    return {-x.real, -x.imag};
  }
};
struct RealOp {
  template <class T>
  T operator()(Complex<T> x) const {
    return x.real;
  }
};
struct ImagOp {
  template <class T>
  T operator()(Complex<T> x) const {
    return x.imag;
  }
};
struct AbsOp {
  static constexpr std::uint16_t kCost = 10;
  float operator()(Single x) const {  // squares of floats do not overflow in double
    const double real = x.real;
    const double imag = x.imag;
    const auto size = static_cast<float>(std::sqrt(real * real + imag * imag));
    const bool infinite = (std::fabs(x.real) == INFINITY) | (std::fabs(x.imag) == INFINITY);
    return infinite ? INFINITY : size;
  }
  double operator()(Double x) const { return std::hypot(x.real, x.imag); }
};
struct JoinOp {
  template <class T>
  Complex<T> operator()(T real, T imag) const {
    return {real, imag};
  }
};

template <class Op>
void add_pairs(const char* op) {
  add_binary(op, TF_COMPLEX64, give<kBinary<Op, Single, Single, Narrow::no>>);
  add_binary(op, TF_COMPLEX128, give<kBinary<Op, Double, Double, Narrow::no>>);
}

template <class Op>
void add_changes(const char* op) {
  add_unary(op, TF_COMPLEX64, give<kUnary<Op, Single, Single, Narrow::no>>);
  add_unary(op, TF_COMPLEX128, give<kUnary<Op, Double, Double, Narrow::no>>);
}

// Ops whose result has another type, which is an attribute.
template <class Op>
void add_parts(const char* op) {
  const auto keep = [](void*) {};
  add_kernel(op, {{"T", {TF_COMPLEX64}}, {"Tout", {TF_FLOAT}}},
             give<kUnary<Op, Single, float, Narrow::no>>, compute_unary, keep);
  add_kernel(op, {{"T", {TF_COMPLEX128}}, {"Tout", {TF_DOUBLE}}},
             give<kUnary<Op, Double, double, Narrow::no>>, compute_unary, keep);
}

void add_join() {
  const auto keep = [](void*) {};
  add_kernel("Complex", {{"T", {TF_FLOAT}}, {"Tout", {TF_COMPLEX64}}},
             give<kBinary<JoinOp, float, Single, Narrow::no>>, compute_binary, keep);
  add_kernel("Complex", {{"T", {TF_DOUBLE}}, {"Tout", {TF_COMPLEX128}}},
             give<kBinary<JoinOp, double, Double, Narrow::no>>, compute_binary, keep);
}

}  // namespace

void add_complex_numbers() {
  add_pairs<AddOp>("Add");
  add_pairs<AddOp>("AddV2");
  add_pairs<SubOp>("Sub");
  add_pairs<MulOp>("Mul");
  add_changes<ConjOp>("Conj");
  add_changes<NegOp>("Neg");
  add_parts<RealOp>("Real");
  add_parts<ImagOp>("Imag");
  add_parts<AbsOp>("ComplexAbs");
  add_join();
}

}  // namespace drystone::cpu
