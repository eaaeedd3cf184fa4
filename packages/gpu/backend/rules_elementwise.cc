// Element-wise ops.
#include "rules.h"

namespace drystone::gpu {
namespace {

struct Named {
  const char* op;
  Code code;
  unsigned types;
};

constexpr Named kUnary[] = {
    {"Neg", Code::neg, kNumbers},
    {"Abs", Code::abs, kNumbers},
    {"Sign", Code::sign, kNumbers},
    {"Square", Code::square, kNumbers},
    {"Sqrt", Code::sqrt, kFloats},
    {"Rsqrt", Code::rsqrt, kFloats},
    {"Reciprocal", Code::reciprocal, kFloats},
    {"Inv", Code::reciprocal, kFloats},
    {"Exp", Code::exp, kFloats},
    {"Expm1", Code::expm1, kFloats},
    {"Log", Code::log, kFloats},
    {"Log1p", Code::log1p, kFloats},
    {"Sin", Code::sin, kFloats},
    {"Cos", Code::cos, kFloats},
    {"Tanh", Code::tanh, kFloats},
    {"Sigmoid", Code::sigmoid, kFloats},
    {"Erf", Code::erf, kFloats},
    {"Relu", Code::relu, kFloats},
    {"Relu6", Code::relu6, kFloats},
    {"Elu", Code::elu, kFloats},
    {"Selu", Code::selu, kFloats},
    {"Softplus", Code::softplus, kFloats},
    {"Softsign", Code::softsign, kFloats},
    {"Floor", Code::floor, kFloats},
    {"Ceil", Code::ceil, kFloats},
    {"Rint", Code::rint, kFloats},
    {"Round", Code::rint, kFloats},
    {"LogicalNot", Code::logical_not, kBool},
};
constexpr Named kBinary[] = {
    {"Add", Code::add, kNumbers},
    {"AddV2", Code::add, kNumbers},
    {"Sub", Code::sub, kNumbers},
    {"Mul", Code::mul, kNumbers},
    {"RealDiv", Code::div, kFloats},
    {"Div", Code::div, kFloats},
    {"DivNoNan", Code::div_no_nan, kFloats},
    {"Maximum", Code::maximum, kNumbers},
    {"Minimum", Code::minimum, kNumbers},
    {"Pow", Code::pow, kFloats},
    {"SquaredDifference", Code::squared_difference, kNumbers},
    {"FloorDiv", Code::floor_div, kFloats},
    {"FloorMod", Code::floor_mod, kFloats},
    {"LogicalAnd", Code::logical_and, kBool},
    {"LogicalOr", Code::logical_or, kBool},
};
constexpr Named kComparing[] = {
    {"Equal", Code::equal, kNumbers},     {"NotEqual", Code::not_equal, kNumbers},
    {"Less", Code::less, kNumbers},       {"LessEqual", Code::less_equal, kNumbers},
    {"Greater", Code::greater, kNumbers}, {"GreaterEqual", Code::greater_equal, kNumbers},
    {"IsNan", Code::is_nan, kFloats},     {"IsFinite", Code::is_finite, kFloats},
};

template <std::size_t count>
const Named* find(const Named (&table)[count], std::string_view op) {
  for (const Named& one : table) {
    if (op == one.op) return &one;
  }
  return nullptr;
}

Code code_of(std::string_view op) {
  if (const Named* one = find(kUnary, op)) return one->code;
  if (const Named* one = find(kBinary, op)) return one->code;
  return find(kComparing, op)->code;
}

void arithmetic(Building& b) { b.out[0] = b.compute(code_of(b.op()), b.in, b.type(0)); }
void comparing(Building& b) { b.out[0] = b.compute(code_of(b.op()), b.in, Type::b8); }

void leaky(Building& b) {
  b.out[0] = b.compute(Code::leaky_relu, b.in, b.type(0), b.real("alpha", 0.2f));
}

void bias_add(Building& b) {
  const bool in_front = b.text("data_format", "") == "NCHW";
  const std::size_t rank = b.dims(0).size(), axis = in_front ? 1 : rank - 1;
  if (rank < 2 || b.dims(1).size() != 1 || b.dims(1)[0] != b.dims(0)[axis]) {
    throw Refused("a bias of other size");
  }
  Dims dims(rank - axis, 1);
  dims[0] = b.dims(1)[0];
  b.out[0] = b.compute(Code::add, {b.in[0], b.graph.reshaped(b.in[1], dims)}, b.type(0));
}

void add_all(Building& b) {
  int sum = b.in[0];
  for (std::size_t k = 1; k < b.in.size(); ++k) {
    if (b.dims(k) != b.dims(0)) throw Refused("AddN of other shapes");
    sum = b.compute(Code::add, {sum, b.in[k]}, b.type(0));
  }
  b.out[0] = sum;
}

void select(Building& b) {
  int condition = b.in[0];
  if (b.op() == "Select" && b.dims(1) != b.dims(2)) throw Refused("Select of other shapes");
  if (b.op() == "Select" && b.dims(0) != b.dims(1) && !b.dims(0).empty()) {  // by rows
    if (b.dims(1).empty() || b.dims(0) != Dims{b.dims(1)[0]})
      throw Refused("Select of other shapes");
    Dims dims(b.dims(1).size(), 1);
    dims[0] = b.dims(1)[0];
    condition = b.graph.reshaped(condition, dims);
  }
  b.out[0] = b.compute(Code::select, {condition, b.in[1], b.in[2]}, b.type(1));
}

void clip(Building& b) {
  const int x = b.in[0], low = b.in[1], high = b.in[2];
  for (std::size_t k : {1, 2}) {
    if (!b.dims(k).empty() && b.dims(k) != b.dims(0)) throw Refused("limits of other shape");
  }
  // The lower one wins where they cross, and NaN stays.
  const Type type = b.type(0);
  const int most = b.compute(Code::select, {b.compute(Code::less, {high, x}, Type::b8), high, x}, type);
  b.out[0] = b.compute(Code::select, {b.compute(Code::less, {most, low}, Type::b8), low, most}, type);
}

void cast(Building& b) {
  const Type from = b.type(0), to = b.named_type("DstT", Type::none);
  if (from == to) {
    b.out[0] = b.in[0];
    return;
  }
  Code code = Code::same;
  if (to == Type::b8) code = Code::to_bool;
  const bool cuts = b.flag("Truncate") && from == Type::f32;
  if (to == Type::bf16) code = cuts ? Code::cut_bf16 : Code::round_bf16;
  if (to == Type::f16) code = cuts ? Code::cut_f16 : Code::round_f16;
  if (is_float(from) && !is_float(to) && to != Type::b8) code = Code::to_whole;
  if (!is_float(from) && to == Type::u8) code = Code::wrap8;
  b.out[0] = b.compute(code, {b.in[0]}, to);
}

}  // namespace

std::vector<Rule> elementwise_rules() {
  std::vector<Rule> all = {
      {"LeakyRelu", leaky, kFloats},    {"BiasAdd", bias_add, kFloats},
      {"BiasAddV1", bias_add, kFloats}, {"AddN", add_all, kNumbers},
      {"Select", select, kNumbers},     {"SelectV2", select, kNumbers},
      {"ClipByValue", clip, kNumbers},  {"Cast", cast, kAny},
  };
  for (const Named& one : kUnary) all.push_back({one.op, arithmetic, one.types});
  for (const Named& one : kBinary) all.push_back({one.op, arithmetic, one.types});
  for (const Named& one : kComparing) all.push_back({one.op, comparing, one.types});
  return all;
}

}  // namespace drystone::gpu
