// Local response normalization over near channels, and its gradient.
#include <algorithm>
#include <cmath>

#include "core/family.h"
#include "core/kernel.h"
#include "fast/widened.h"

namespace drystone::cpu {
namespace {

// to[k] = the sum of from[k + s] for |s| <= radius, cut off at both ends.
void window_sums(const float* from, std::int64_t depth, std::int64_t radius, float* to) {
  std::fill_n(to, depth, 0.0F);
  const std::int64_t reach = std::min(radius, depth - 1);
  for (std::int64_t s = -reach; s <= reach; ++s) {
    const std::int64_t low = std::max<std::int64_t>(-s, 0);
    const std::int64_t high = std::min(depth, depth - s);
#pragma GCC ivdep
    for (std::int64_t k = low; k < high; ++k) to[k] += from[k + s];
  }
}

// norms[k] = norms[k] ** -beta
void negative_power(float* norms, std::int64_t depth, float beta) {
  if (beta == 0.5F) {
    for (std::int64_t k = 0; k < depth; ++k) norms[k] = 1 / std::sqrt(norms[k]);
  } else if (beta == 0.75F) {
    for (std::int64_t k = 0; k < depth; ++k) {
      const float root = std::sqrt(norms[k]);
      norms[k] = 1 / (root * std::sqrt(root));
    }
  } else if (beta == 1.0F) {
    for (std::int64_t k = 0; k < depth; ++k) norms[k] = 1 / norms[k];
  } else {
    for (std::int64_t k = 0; k < depth; ++k) norms[k] = std::pow(norms[k], -beta);
  }
}

class Lrn {
 public:
  explicit Lrn(const Node& node)
      : radius_(node.integer("depth_radius")), bias_(node.real("bias")), alpha_(node.real("alpha")),
        beta_(node.real("beta")) {}

 protected:
  // norms = bias + alpha * sums of squares; `room` is as long as a row.
  void norms_of(const float* x, std::int64_t depth, float* room, float* norms) const {
#pragma GCC ivdep
    for (std::int64_t k = 0; k < depth; ++k) room[k] = x[k] * x[k];
    window_sums(room, depth, radius_, norms);
#pragma GCC ivdep
    for (std::int64_t k = 0; k < depth; ++k) norms[k] = bias_ + alpha_ * norms[k];
  }

  std::int64_t radius_;
  float bias_;
  float alpha_;
  float beta_;
};

template <class T>
class Normalize : public Lrn {
 public:
  using Lrn::Lrn;
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    require(x.rank() == 4, "in must be 4-dimensional");
    const Tensor out = call.output(0, x.dims());
    const std::int64_t depth = x.dim(3);
    if (x.count() == 0) return;
    const float* from_all = wide<T>(call, x);
    float* to_all = wide_output<T>(call, out);
    float* norms = call.scratch<float>(x.count());
    parallel(x.count() / depth, depth * (2 + std::min(radius_, depth)),
             [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const float* from = from_all + row * depth;
        float* to = to_all + row * depth;
        float* norm = norms + row * depth;
        norms_of(from, depth, to, norm);
        negative_power(norm, depth, beta_);
#pragma GCC ivdep
        for (std::int64_t k = 0; k < depth; ++k) to[k] = from[k] * norm[k];
      }
    });
    finish<T>(out, to_all);
  }
};

template <class T>
class Gradient : public Lrn {
 public:
  using Lrn::Lrn;
  void compute(Call& call) const {
    const Tensor dy = call.input(0);
    const Tensor x = call.input(1);
    const Tensor y = call.input(2);
    require(x.rank() == 4 && std::ranges::equal(dy.dims(), x.dims()) &&
            std::ranges::equal(y.dims(), x.dims()),
            "input_grads, input_image and output_image must have one shape of 4 dimensions");
    const Tensor out = call.output(0, x.dims());
    const std::int64_t depth = x.dim(3);
    if (x.count() == 0) return;
    const float* ups = wide<T>(call, dy);
    const float* ins = wide<T>(call, x);
    const float* results = wide<T>(call, y);
    float* tos = wide_output<T>(call, out);
    float* norms = call.scratch<float>(x.count());
    float* spreads = call.scratch<float>(x.count());
    parallel(x.count() / depth, depth * (4 + std::min(radius_, depth)),
             [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin * depth; row < end * depth; row += depth) {
        const float* up = ups + row;
        const float* in = ins + row;
        const float* result = results + row;
        float* to = tos + row;
        float* norm = norms + row;
        float* spread = spreads + row;
        norms_of(in, depth, to, norm);
#pragma GCC ivdep
        for (std::int64_t k = 0; k < depth; ++k) to[k] = up[k] * result[k] / norm[k];
        window_sums(to, depth, radius_, spread);
        negative_power(norm, depth, beta_);
#pragma GCC ivdep
        for (std::int64_t k = 0; k < depth; ++k) {
          to[k] = up[k] * norm[k] - 2 * alpha_ * beta_ * in[k] * spread[k];
        }
      }
    });
    finish<T>(out, tos);
  }
};

}  // namespace

const Family registered([] {
  add<Normalize<float>>("LRN", {{"T", {TF_FLOAT}}});
  add<Normalize<Half>>("LRN", {{"T", {TF_HALF}}});
  add<Normalize<BFloat16>>("LRN", {{"T", {TF_BFLOAT16}}});
  add<Gradient<float>>("LRNGrad", {{"T", {TF_FLOAT}}});
  add<Gradient<Half>>("LRNGrad", {{"T", {TF_HALF}}});
  add<Gradient<BFloat16>>("LRNGrad", {{"T", {TF_BFLOAT16}}});
});

}  // namespace drystone::cpu
