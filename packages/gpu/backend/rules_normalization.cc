// Batch normalization: with numbers that are known, and with the batch's own; and its gradient.
#include "joining.h"
#include "rules.h"

namespace drystone::gpu {
namespace {

// Arithmetic by channel over [batch, height, width, channels], or with channels in front.
struct Channels {
  Building& b;
  Type own;                // of scale and shift
  Dims along;              // a shape that has one number for each channel
  std::vector<bool> gone;  // all dimensions but that of channels
  std::int64_t count = 1;  // of elements of one channel

  Channels(Building& b, std::size_t picture, std::size_t scale) : b(b), own(b.type(scale)) {
    const Dims& dims = b.dims(picture);
    const bool in_front = b.text("data_format", "").substr(0, 2) == "NC";
    const std::size_t rank = dims.size(), axis = in_front ? 1 : rank - 1;
    if (rank != 4 && rank != 5) throw Refused("no pictures");
    if (b.dims(scale) != Dims{dims[axis]}) throw Refused("numbers for other channels");
    along.assign(in_front ? rank - 1 : 1, 1);
    along[0] = dims[axis];
    gone.assign(rank, true);
    gone[axis] = false;
    for (std::size_t k = 0; k < rank; ++k) count *= gone[k] ? dims[k] : 1;
  }

  int by_channel(int value) const { return b.graph.reshaped(value, along); }
  int flat(int value) const { return b.graph.reshaped(value, {along[0]}); }
  int one(Code code, int x) const { return b.compute(code, {x}, own); }
  int two(Code code, int x, int y) const { return b.compute(code, {x, y}, own); }
  int number(double value) const { return b.number(own, value); }
  // In the type of scale and shift.
  int wide(int value) const {
    return b.graph.at(value).type == own ? value : b.compute(Code::same, {value}, own);
  }
  int mean(int value) const { return by_channel(joined(b, value, gone, false, Join::mean)); }
  int sum(int value) const { return by_channel(joined(b, value, gone, false, Join::sum)); }
  int inverse_deviation(int variance) const {
    const double least = static_cast<double>(b.real("epsilon", 1e-4f));
    return one(Code::rsqrt, two(Code::add, variance, number(least)));
  }
};

// x * scale + shift with numbers that are computed once; layers in front take both in.
int normalized(const Channels& c, int x, int mean, int variance) {
  const Type type = c.b.graph.at(x).type;
  const int scale = c.two(Code::mul, c.by_channel(c.b.in[1]), c.inverse_deviation(variance));
  const int away = c.two(Code::mul, mean, scale);
  const int shift = c.two(Code::sub, c.by_channel(c.b.in[2]), away);
  const int scaled = c.b.compute(Code::mul, {x, scale}, type);
  return c.b.compute(Code::add, {scaled, shift}, type);
}

// The mean with what it was before.
int mixed(const Channels& c, int old, int now) {
  const double part = static_cast<double>(c.b.real("exponential_avg_factor", 1.0f));
  if (part == 1.0) return c.flat(now);
  const int kept = c.two(Code::mul, c.by_channel(old), c.number(1.0 - part));
  return c.flat(c.two(Code::add, kept, c.two(Code::mul, now, c.number(part))));
}

void training(Building& b) {
  const Channels c(b, 0, 1);
  if (b.dims(3).size() != 1 || b.dims(4).size() != 1) throw Refused("a mean of other shape");
  const int x = c.wide(b.in[0]), mean = c.mean(x);
  const int apart = b.compute(Code::squared_difference, {x, mean}, c.own);
  const int variance = c.mean(apart);
  const double unbiased =
      static_cast<double>(c.count) / static_cast<double>(c.count > 1 ? c.count - 1 : 1);
  // (x - mean) * scale + shift: what is left of a large mean is exact.
  const int scale = c.two(Code::mul, c.by_channel(b.in[1]), c.inverse_deviation(variance));
  const int scaled = c.two(Code::mul, c.two(Code::sub, x, mean), scale);
  b.out[0] = b.compute(Code::add, {scaled, c.by_channel(b.in[2])}, b.type(0));
  b.out[1] = mixed(c, b.in[3], mean);
  b.out[2] = mixed(c, b.in[4], c.two(Code::mul, variance, c.number(unbiased)));
  b.out[3] = c.flat(mean);
  b.out[4] = c.flat(variance);
}

void batch_norm(Building& b) {
  if (b.flag("is_training", true)) {
    training(b);
  } else {
    const Channels c(b, 0, 1);
    b.out[0] = normalized(c, b.in[0], c.by_channel(b.in[3]), c.by_channel(b.in[4]));
    for (std::size_t k = 1; k < 5; ++k) b.out[k] = b.in[k % 2 == 1 ? 3 : 4];
  }
  if (b.out.size() > 5) b.out[5] = b.number(b.type(1), 0.0);
}

// dy, x, scale, mean, variance
void batch_norm_grad(Building& b) {
  const Channels c(b, 1, 2);
  if (b.dims(0) != b.dims(1)) throw Refused("a gradient of other shape");
  const int dy = c.wide(b.in[0]), x = c.wide(b.in[1]);
  const int mean = c.by_channel(b.in[3]), inverse = c.inverse_deviation(c.by_channel(b.in[4]));
  const int shape = c.two(Code::mul, c.two(Code::sub, x, mean), inverse);
  const int d_shift = c.sum(dy), d_scale = c.sum(c.two(Code::mul, dy, shape));
  int inner = dy;
  if (b.flag("is_training", true)) {
    const int part = c.number(1.0 / static_cast<double>(c.count > 0 ? c.count : 1));
    const int level = c.two(Code::mul, d_shift, part), slope = c.two(Code::mul, d_scale, part);
    inner = c.two(Code::sub, c.two(Code::sub, dy, level), c.two(Code::mul, shape, slope));
  }
  const int scale = c.two(Code::mul, c.by_channel(b.in[2]), inverse);
  b.out[0] = b.compute(Code::mul, {inner, scale}, b.type(1));
  b.out[1] = c.flat(d_scale);
  b.out[2] = c.flat(d_shift);
  for (std::size_t k = 3; k < b.out.size(); ++k) b.out[k] = b.graph.add_constant(c.own, {0}, "");
}

}  // namespace

std::vector<Rule> normalization_rules() {
  return {
      {"FusedBatchNorm", batch_norm, kFloats},
      {"FusedBatchNormV2", batch_norm, kFloats},
      {"FusedBatchNormV3", batch_norm, kFloats},
      {"FusedBatchNormGrad", batch_norm_grad, kFloats},
      {"FusedBatchNormGradV2", batch_norm_grad, kFloats},
      {"FusedBatchNormGradV3", batch_norm_grad, kFloats},
  };
}

}  // namespace drystone::gpu
