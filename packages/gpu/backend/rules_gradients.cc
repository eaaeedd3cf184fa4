// Gradients of element-wise ops, of biases and of losses, and losses themselves.
#include <algorithm>

#include "joining.h"
#include "moving.h"

namespace drystone::gpu {
namespace {

struct Sums {
  Building& b;
  Type type;

  explicit Sums(Building& b) : b(b), type(b.type(0)) {
    if (b.in.size() > 1 && b.dims(0) != b.dims(1)) throw Refused("a gradient of other shape");
  }
  int number(double value) const { return b.number(type, value); }
  int one(Code code, int x) const { return b.compute(code, {x}, type); }
  int two(Code code, int x, int y) const { return b.compute(code, {x, y}, type); }
  int greater(int x, double limit) const {
    return b.compute(Code::greater, {x, number(limit)}, Type::b8);
  }
  int choice(int condition, int x, int y) const {
    return b.compute(Code::select, {condition, x, y}, type);
  }
};

// ---- Gradient and x --------------------------------------------------------------------------

void relu_grad(Building& b) {
  const Sums s(b);
  b.out[0] = s.choice(s.greater(b.in[1], 0.0), b.in[0], s.number(0.0));
}

void relu6_grad(Building& b) {
  const Sums s(b);
  const int below = b.compute(Code::less, {b.in[1], s.number(6.0)}, Type::b8);
  const int both = b.compute(Code::logical_and, {s.greater(b.in[1], 0.0), below}, Type::b8);
  b.out[0] = s.choice(both, b.in[0], s.number(0.0));
}

void leaky_grad(Building& b) {
  const Sums s(b);
  const int less =
      s.two(Code::mul, b.in[0], s.number(static_cast<double>(b.real("alpha", 0.2f))));
  b.out[0] = s.choice(s.greater(b.in[1], 0.0), b.in[0], less);
}

void softplus_grad(Building& b) {
  const Sums s(b);
  b.out[0] = s.two(Code::mul, b.in[0], s.one(Code::sigmoid, b.in[1]));
}

void softsign_grad(Building& b) {
  const Sums s(b);
  const int away = s.two(Code::add, s.one(Code::abs, b.in[1]), s.number(1.0));
  b.out[0] = s.two(Code::div, b.in[0], s.one(Code::square, away));
}

// ---- Gradient and result ---------------------------------------------------------------------

void elu_grad(Building& b) {
  const Sums s(b);
  const bool scaled = b.op() == "SeluGrad";
  constexpr double kScale = 1.0507009873554804934193349852946, kAlpha = 1.7580993408473768599402175;
  const int low = s.two(Code::add, b.in[1], s.number(scaled ? kAlpha : 1.0));
  const int steep = scaled ? s.two(Code::mul, b.in[0], s.number(kScale)) : b.in[0];
  const int is_low = b.compute(Code::less, {b.in[1], s.number(0.0)}, Type::b8);
  b.out[0] = s.choice(is_low, s.two(Code::mul, low, b.in[0]), steep);
}

// ---- Result and gradient ---------------------------------------------------------------------

void sigmoid_grad(Building& b) {
  const Sums s(b);
  const int rest = s.two(Code::sub, s.number(1.0), b.in[0]);
  b.out[0] = s.two(Code::mul, b.in[1], s.two(Code::mul, b.in[0], rest));
}

void tanh_grad(Building& b) {
  const Sums s(b);
  const int rest = s.two(Code::sub, s.number(1.0), s.one(Code::square, b.in[0]));
  b.out[0] = s.two(Code::mul, b.in[1], rest);
}

void sqrt_grad(Building& b) {
  const Sums s(b);
  b.out[0] = s.two(Code::div, s.two(Code::mul, b.in[1], s.number(0.5)), b.in[0]);
}

void rsqrt_grad(Building& b) {
  const Sums s(b);
  const int cube = s.two(Code::mul, s.one(Code::square, b.in[0]), b.in[0]);
  b.out[0] = s.two(Code::mul, s.two(Code::mul, b.in[1], s.number(-0.5)), cube);
}

void inverse_grad(Building& b) {
  const Sums s(b);
  b.out[0] = s.two(Code::mul, s.one(Code::neg, b.in[1]), s.one(Code::square, b.in[0]));
}

// ---- Sums ------------------------------------------------------------------------------------

void bias_add_grad(Building& b) {
  const std::size_t rank = b.dims(0).size();
  const bool in_front = b.text("data_format", "") == "NCHW";
  if (rank < 2) throw Refused("a gradient of no bias");
  std::vector<bool> gone(rank, true);
  gone[in_front ? 1 : rank - 1] = false;
  b.out[0] = joined(b, b.in[0], gone, false, Join::sum);
}

void half_square(Building& b) {
  const Sums s(b);
  const std::vector<bool> gone(b.dims(0).size(), true);
  const int sum = joined(b, s.one(Code::square, b.in[0]), gone, false, Join::sum);
  b.out[0] = s.two(Code::mul, sum, s.number(0.5));
}

// Logits and how likely each class is.
void cross_entropy(Building& b) {
  const Type type = b.type(0);
  const Dims dims = broadcast({b.dims(0), b.dims(1)});
  if (dims.size() != 2) throw Refused("no rows of logits");
  const int logarithms = softmax_of(b, spread(b, b.in[0], dims), true);
  const int labels = spread(b, b.in[1], dims);
  const int terms = b.compute(Code::mul, {labels, logarithms}, type);
  b.out[0] = b.compute(Code::neg, {joined(b, terms, {false, true}, false, Join::sum)}, type);
  b.out[1] = b.compute(Code::sub, {b.compute(Code::exp, {logarithms}, type), labels}, type);
}

// Logits and the class of each row.
void sparse_cross_entropy(Building& b) {
  const Dims dims = b.dims(0);
  const Type type = b.type(0);
  if (dims.size() != 2 || b.dims(1) != Dims{dims[0]}) throw Refused("no rows of logits");
  const int logarithms = softmax_of(b, b.in[0], true);
  Gathering one = {};
  one.gather = {static_cast<std::uint32_t>(dims[0]), 1, static_cast<std::uint32_t>(dims[1]), 1, 1};
  const int picked = b.graph.add(one, {logarithms, b.in[1]}, type, {dims[0]});
  b.out[0] = b.compute(Code::neg, {picked}, type);
  OneHots hot = {};
  hot.one_hot = {static_cast<std::uint32_t>(dims[1]), 1};
  const int on = b.number(type, 1.0), off = b.number(type, 0.0);
  const int classes = b.graph.add(hot, {b.in[1], on, off}, type, dims);
  const int likely = b.compute(Code::exp, {logarithms}, type);
  b.out[1] = b.compute(Code::sub, {likely, classes}, type);
}

// data, segments, how many there are
void segment_sum(Building& b) {
  b.out[0] = sum_of_segments(b, b.in[0], b.in[1], b.one_number(2), false);
}

}  // namespace

std::vector<Rule> gradient_rules() {
  return {
      {"ReluGrad", relu_grad, kFloats},
      {"Relu6Grad", relu6_grad, kFloats},
      {"LeakyReluGrad", leaky_grad, kFloats},
      {"EluGrad", elu_grad, kFloats},
      {"SeluGrad", elu_grad, kFloats},
      {"SoftplusGrad", softplus_grad, kFloats},
      {"SoftsignGrad", softsign_grad, kFloats},
      {"SigmoidGrad", sigmoid_grad, kFloats},
      {"TanhGrad", tanh_grad, kFloats},
      {"SqrtGrad", sqrt_grad, kFloats},
      {"RsqrtGrad", rsqrt_grad, kFloats},
      {"InvGrad", inverse_grad, kFloats},
      {"ReciprocalGrad", inverse_grad, kFloats},
      {"BiasAddGrad", bias_add_grad, kFloats},
      {"L2Loss", half_square, kFloats},
      {"SoftmaxCrossEntropyWithLogits", cross_entropy, kFloats},
      {"SparseSoftmaxCrossEntropyWithLogits", sparse_cross_entropy, kFloats},
      {"UnsortedSegmentSum", segment_sum, kFloats, 4},
  };
}

int sum_of_segments(Building& b, int data, int places, std::int64_t count, bool all) {
  const Dims from = b.graph.at(data).dims, segments = b.graph.at(places).dims;
  if (count < 0 || segments.size() > from.size() ||
      !std::equal(segments.begin(), segments.end(), from.begin())) {
    throw Refused("segments of other shape");
  }
  Dims dims(from.begin() + static_cast<std::ptrdiff_t>(segments.size()), from.end());
  const Segments detail = {static_cast<std::uint32_t>(count),
                           static_cast<std::uint32_t>(count_of(dims)), all};
  dims.insert(dims.begin(), count);
  const Type type = b.graph.at(data).type;
  const int wide = type == Type::f32 ? data : b.compute(Code::same, {data}, Type::f32);
  const int sum = b.graph.add(detail, {wide, places}, Type::f32, dims);
  return type == Type::f32 ? sum : b.compute(Code::same, {sum}, type);
}

}  // namespace drystone::gpu
