// Comparisons and logic: a bool for each pair.
#include "fast/elementwise.h"

namespace drystone::cpu {
namespace {

struct LessOp {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct LessEqualOp {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct EqualOp {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct NotEqualOp {
  template <class T>
  bool operator()(T a, T b) const {
    return a != b;
  }
};
struct GreaterOp {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct GreaterEqualOp {
  template <class T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};
// Of bytes: a byte that is neither 0 nor 1 is true.
struct AndOp {
  bool operator()(std::uint8_t a, std::uint8_t b) const { return (a != 0) & (b != 0); }
};
struct OrOp {
  bool operator()(std::uint8_t a, std::uint8_t b) const { return (a | b) != 0; }
};
struct NotOp {
  bool operator()(std::uint8_t x) const { return x == 0; }
};

template <class Op>
void add_ordering(const char* op) {
  add_float_binary<Op>(op);
  add_binary<Op>(op, Signed{});
  add_binary<Op>(op, Unsigned{});
}

constexpr BinarySpec lenient(BinarySpec spec, bool unequal) {
  spec.shapes = Shapes::lenient;
  spec.unequal = unequal;
  return spec;
}

template <class Op, class T, Narrow narrow, bool unequal>
struct Equality {
  static constexpr const BinarySpec& kStrict = kBinary<Op, T, bool, narrow>;
  static constexpr BinarySpec kLenient = lenient(kStrict, unequal);
  static void* create(TF_OpKernelConstruction* construction) {
    try {
      if (Node(construction).boolean("incompatible_shape_error"))
        return give<kStrict>(construction);
    } catch (const std::exception& error) {
      report(construction, &error);
      return nullptr;
    }
    return give<kLenient>(construction);
  }
};

template <class Op, bool unequal, class... T>
void add_equality(const char* op, Types<T...>) {
  (add_binary(op, kType<T>, Equality<Op, T, Narrow::no, unequal>::create), ...);
}

template <class Op, bool unequal>
void add_equality(const char* op) {
  add_equality<Op, unequal>(op, Floats{});
  add_equality<Op, unequal>(op, Signed{});
  add_equality<Op, unequal>(op, Unsigned{});
  add_equality<Op, unequal>(op, Types<bool>{});
  add_binary(op, TF_HALF, Equality<Op, float, Narrow::half, unequal>::create);
  add_binary(op, TF_BFLOAT16, Equality<Op, float, Narrow::bfloat16, unequal>::create);
}

}  // namespace

void add_comparison() {
  add_ordering<LessOp>("Less");
  add_ordering<LessEqualOp>("LessEqual");
  add_ordering<GreaterOp>("Greater");
  add_ordering<GreaterEqualOp>("GreaterEqual");
  add_equality<EqualOp, false>("Equal");
  add_equality<NotEqualOp, true>("NotEqual");
  add_plain_binary("LogicalAnd", give<kBinary<AndOp, std::uint8_t, bool, Narrow::no>>);
  add_plain_binary("LogicalOr", give<kBinary<OrOp, std::uint8_t, bool, Narrow::no>>);
  add_plain_unary("LogicalNot", give<kUnary<NotOp, std::uint8_t, bool, Narrow::no>>);
}

}  // namespace drystone::cpu
