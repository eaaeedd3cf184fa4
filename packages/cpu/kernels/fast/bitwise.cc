// Bits of integers.
#include <algorithm>

#include "fast/elementwise.h"

namespace drystone::cpu {
namespace {

struct AndOp {
  template <class T>
  T operator()(T a, T b) const {
    return a & b;
  }
};
struct OrOp {
  template <class T>
  T operator()(T a, T b) const {
    return a | b;
  }
};
struct XorOp {
  template <class T>
  T operator()(T a, T b) const {
    return a ^ b;
  }
};
struct InvertOp {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(~x);
  }
};

// Distances are held inside the width of the type.
template <class T>
T distance(T by) {
  constexpr T most = 8 * sizeof(T) - 1;
  const T some = by < 0 ? T(0) : by;
  return some > most ? most : some;
}
struct LeftShiftOp {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) << distance(b));
  }
};
struct RightShiftOp {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a >> distance(b));
  }
};

template <class Op>
void add_integers(const char* op) {
  add_binary<Op>(op, Signed{});
  add_binary<Op>(op, Unsigned{});
}
template <class Op>
void add_unsigned(const char* op) {  // what does not depend on the sign
  const auto add_both = [op](auto type, TF_DataType of_sign, TF_DataType without) {
    using T = decltype(type);
    add_binary(op, of_sign, give<kBinary<Op, T, T, Narrow::no>>);
    add_binary(op, without, give<kBinary<Op, T, T, Narrow::no>>);
  };
  add_both(std::uint8_t{}, TF_INT8, TF_UINT8);
  add_both(std::uint16_t{}, TF_INT16, TF_UINT16);
  add_both(std::uint32_t{}, TF_INT32, TF_UINT32);
  add_both(std::uint64_t{}, TF_INT64, TF_UINT64);
}

}  // namespace

void add_bitwise() {
  add_unsigned<AndOp>("BitwiseAnd");
  add_unsigned<OrOp>("BitwiseOr");
  add_unsigned<XorOp>("BitwiseXor");
  add_integers<LeftShiftOp>("LeftShift");
  add_integers<RightShiftOp>("RightShift");
  add_unary<InvertOp>("Invert", Signed{});
  add_unary<InvertOp>("Invert", Unsigned{});
}

}  // namespace drystone::cpu
