// Add, subtract, multiply, and comparisons, by elements.
#include "fast/binary.h"
#include "fast/fast.h"

namespace drystone::cpu {
namespace {

// Integers wrap: they are calculated without a sign.
template <class T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>,
                                             std::make_unsigned<T>, std::type_identity<T>>::type;

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
struct LessOp {
  template <class T>
  bool operator()(T a, T b) const { return a < b; }
};

template <class Op>
void add_numbers(const char* op) {
  add<Binary<Op, float>>(op, {{"T", {TF_FLOAT}}});
  add<Binary<Op, double>>(op, {{"T", {TF_DOUBLE}}});
  add<Binary<Op, std::int32_t>>(op, {{"T", {TF_INT32}}});
  add<Binary<Op, std::int64_t>>(op, {{"T", {TF_INT64}}});
}

template <class Op>
void add_tests(const char* op) {
  add<Binary<Op, float, bool>>(op, {{"T", {TF_FLOAT}}});
  add<Binary<Op, double, bool>>(op, {{"T", {TF_DOUBLE}}});
  add<Binary<Op, std::int32_t, bool>>(op, {{"T", {TF_INT32}}});
  add<Binary<Op, std::int64_t, bool>>(op, {{"T", {TF_INT64}}});
}

}  // namespace

void add_arithmetic() {
  add_numbers<AddOp>("Add");
  add_numbers<AddOp>("AddV2");
  add_numbers<SubOp>("Sub");
  add_numbers<MulOp>("Mul");
  add_tests<LessOp>("Less");
}

}  // namespace drystone::cpu
