// Signs, roots, squares, whole numbers, kinds of numbers.
#include <cmath>
#include <limits>

#include "fast/elementwise.h"

namespace drystone::cpu {
namespace {

struct NegOp {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) return -x;
    else return static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(x));
  }
};
struct AbsOp {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) return std::fabs(x);
    else return x < 0 ? NegOp()(x) : x;
  }
};
struct SignOp {
  template <class T>
  T operator()(T x) const {
    const T sign = static_cast<T>((x > 0) - (x < 0));
    return x != x ? x : sign;
  }
};
struct SquareOp {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(x));
  }
};
struct SqrtOp {
  template <class T>
  T operator()(T x) const {
    return std::sqrt(x);
  }
};
struct RsqrtOp {
  template <class T>
  T operator()(T x) const {
    return 1 / std::sqrt(x);
  }
};
struct ReciprocalOp {
  template <class T>
  T operator()(T x) const {
    return 1 / x;
  }
};
struct FloorOp {
  template <class T>
  T operator()(T x) const {
    return std::floor(x);
  }
};
struct CeilOp {
  template <class T>
  T operator()(T x) const {
    return std::ceil(x);
  }
};
// Ties go to the even number.
struct RintOp {
  template <class T>
  T operator()(T x) const {
    return std::rint(x);
  }
};
struct SameOp {
  template <class T>
  T operator()(T x) const {
    return x;
  }
};
struct IsNanOp {
  template <class T>
  bool operator()(T x) const {
    return x != x;
  }
};
struct IsInfOp {
  template <class T>
  bool operator()(T x) const {
    return std::fabs(x) == std::numeric_limits<T>::infinity();
  }
};
struct IsFiniteOp {
  template <class T>
  bool operator()(T x) const {
    return std::fabs(x) < std::numeric_limits<T>::infinity();
  }
};

}  // namespace

void add_rounding() {
  add_float_unary<NegOp>("Neg");
  add_unary<NegOp>("Neg", Signed{});
  add_float_unary<AbsOp>("Abs");
  add_unary<AbsOp>("Abs", Signed{});
  add_float_unary<SignOp>("Sign");
  add_unary<SignOp>("Sign", Signed{});
  add_float_unary<SquareOp>("Square");
  add_unary<SquareOp>("Square", Signed{});
  add_unary<SquareOp>("Square", Unsigned{});
  add_float_unary<SqrtOp>("Sqrt");
  add_float_unary<RsqrtOp>("Rsqrt");
  add_float_unary<ReciprocalOp>("Reciprocal");
  add_float_unary<ReciprocalOp>("Inv");
  add_float_unary<FloorOp>("Floor");
  add_float_unary<CeilOp>("Ceil");
  add_float_unary<RintOp>("Rint");
  add_float_unary<RintOp>("Round");
  add_unary<SameOp>("Round", Signed{});
  add_float_unary<IsNanOp>("IsNan");
  add_float_unary<IsInfOp>("IsInf");
  add_float_unary<IsFiniteOp>("IsFinite");
}

}  // namespace drystone::cpu
