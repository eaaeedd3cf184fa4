// Sums, differences, products, extremes.
#include <cmath>

#include "fast/elementwise.h"

namespace drystone::cpu {
namespace {

struct AddOp {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};
struct SubOp {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
};
struct MulOp {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};
struct SquaredDifferenceOp {
  template <class T>
  T operator()(T a, T b) const {
    const T d = SubOp()(a, b);
    return MulOp()(d, d);
  }
};
struct MulNoNanOp {
  template <class T>
  T operator()(T a, T b) const {
    return b == 0 ? T(0) : a * b;
  }
};
// A NaN on either side is the result.
struct MaximumOp {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) return a < b ? b : a;
    const T larger = a > b ? a : b;  // b where one is NaN
    return a != a ? a : larger;
  }
};
struct MinimumOp {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) return b < a ? b : a;
    const T smaller = a < b ? a : b;
    return a != a ? a : smaller;
  }
};

template <class Op>
void add_all(const char* op) {
  add_float_binary<Op>(op);
  add_binary<Op>(op, Signed{});
  add_binary<Op>(op, Unsigned{});
}

}  // namespace

void add_arithmetic() {
  add_float_binary<AddOp>("Add");
  add_binary<AddOp>("Add", Signed{});
  add_binary<AddOp>("Add", Types<std::uint8_t>{});
  add_all<AddOp>("AddV2");
  add_all<SubOp>("Sub");
  add_all<MulOp>("Mul");
  add_all<MaximumOp>("Maximum");
  add_all<MinimumOp>("Minimum");
  add_float_binary<SquaredDifferenceOp>("SquaredDifference");
  add_binary<SquaredDifferenceOp>("SquaredDifference", Types<std::int32_t, std::int64_t>{});
  add_float_binary<MulNoNanOp>("MulNoNan");
}

}  // namespace drystone::cpu
