// Fused nodes: see dnnl/fusion.h.
#include "dnnl/fusion.h"

#include <cmath>
#include <set>

namespace drystone::cpu::dnnl_part {
namespace {

using Function = float (*)(float, float);

float relu(float x, float) { return x < 0 ? 0 : x; }
float relu6(float x, float) { return x < 0 ? 0 : x > 6 ? 6 : x; }
float leaky(float x, float alpha) { return x > 0 ? x : x * alpha; }
float elu(float x, float) { return x < 0 ? std::expm1(x) : x; }
float selu(float x, float) {
  constexpr double kAlpha = 1.6732632423543772;
  constexpr double kScale = 1.0507009873554805;
  return x < 0 ? static_cast<float>(kScale * kAlpha) * std::expm1(x)
               : static_cast<float>(kScale) * x;
}
float softplus(float x, float) {
  return (x > 0 ? x : x != x ? x : 0) + std::log1p(std::exp(-std::fabs(x)));
}
float softsign(float x, float) { return x / (std::fabs(x) + 1); }
float sigmoid(float x, float) { return 1 / (1 + std::exp(-x)); }
float tangent(float x, float) { return std::tanh(x); }
float gelu_exact(float x, float) { return 0.5F * x * (1 + std::erf(x * 0.70710678F)); }
float gelu(float x, float) {
  const float inner = 0.7978845608028654F * (x + 0.044715F * x * x * x);
  return x * (std::tanh(inner) + 1) * 0.5F;
}

Function function(const std::string& name) {
  static const std::pair<const char*, Function> table[] = {
      {"Relu", relu},    {"Relu6", relu6},         {"LeakyRelu", leaky},   {"Elu", elu},
      {"Selu", selu},    {"Softplus", softplus},   {"Softsign", softsign}, {"Sigmoid", sigmoid},
      {"Tanh", tangent}, {"GeluApproximate", gelu}, {"GeluExact", gelu_exact}};
  for (const auto& [known, out] : table) {
    if (name == known) return out;
  }
  return nullptr;
}

// What oneDNN calculates as exactly as we want it.
bool is_exact(const std::string& name) {
  static const std::set<std::string> names{"Relu", "Relu6", "LeakyRelu", "GeluApproximate"};
  return names.contains(name);
}

}  // namespace

Fusion::Fusion(const Node& node) {
  if (!node.has("fused_ops")) return;
  epsilon_ = node.real("epsilon");
  alpha_ = node.real("leakyrelu_alpha");
  bool attaches = true;
  for (const std::string& name : node.strings("fused_ops")) {
    const Kind kind = name == "BiasAdd"          ? Kind::bias
                      : name == "Add"            ? Kind::add
                      : name == "FusedBatchNorm" ? Kind::norm
                                                 : Kind::activation;
    require(kind != Kind::activation || function(name) != nullptr, "an unknown name in fused_ops");
    steps_.push_back({kind, name, needed_});
    needed_ += kind == Kind::activation ? 0 : kind == Kind::norm ? 4 : 1;
    attaches = attaches && (kind != Kind::activation || is_exact(name));
    if (attaches) ++attached_;
  }
}

std::vector<Tensor> Fusion::inputs(const Call& call, int first, DimsView result,
                                   const Placed& placed) const {
  std::vector<Tensor> out;
  if (steps_.empty()) return out;
  require(call.inputs() - first >= static_cast<int>(needed_), "fused_ops lack inputs");
  for (std::size_t k = 0; k < needed_; ++k) out.push_back(call.input(first + static_cast<int>(k)));
  for (const Step& step : steps_) {
    const auto fits = [&](std::size_t k) { return out[step.first + k].count() == placed.channels; };
    switch (step.kind) {
      case Kind::bias:
        require(fits(0), "bias must have one entry per channel");
        break;
      case Kind::norm:
        require(fits(0) && fits(1) && fits(2) && fits(3),
                "moments must have one entry per channel");
        break;
      case Kind::add: {
        const DimsView dims = out[step.first].dims();
        require(std::equal(dims.begin(), dims.end(), result.begin(), result.end()),
                "what is added must have the shape of the product");
        break;
      }
      default:
        break;
    }
  }
  for (const Tensor& input : out) {
    if (input.dtype() != TF_FLOAT) fail(TF_UNIMPLEMENTED, "fused inputs must be float32");
  }
  return out;
}

void Fusion::attach(dnnl::primitive_attr& attributes, std::vector<std::pair<int, Desc>>& operands,
                    const Desc& channel, const Desc& whole) const {
  using dnnl::algorithm;
  dnnl::post_ops post;
  const auto binary = [&](algorithm what, const Desc& desc) {
    operands.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(post.len()) | DNNL_ARG_SRC_1, desc);
    post.append_binary(what, desc);
  };
  for (std::size_t k = 0; k < attached_; ++k) {
    const Step& step = steps_[k];
    if (step.kind == Kind::norm) binary(algorithm::binary_mul, channel);
    if (step.kind == Kind::norm || step.kind == Kind::bias) binary(algorithm::binary_add, channel);
    else if (step.kind == Kind::add) binary(algorithm::binary_add, whole);
    else if (step.name == "Relu6") post.append_eltwise(algorithm::eltwise_clip_v2, 0, 6);
    else if (step.name == "GeluApproximate") post.append_eltwise(algorithm::eltwise_gelu_tanh, 0, 0);
    else post.append_eltwise(algorithm::eltwise_relu, step.name == "Relu" ? 0 : alpha_, 0);
  }
  attributes.set_post_ops(post);
}

std::vector<Operand> Fusion::operands(const Call& call, const std::vector<Tensor>& inputs) const {
  std::vector<Operand> out;
  int at = 0;
  const auto add = [&](const void* data) {
    out.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(at) | DNNL_ARG_SRC_1, data});
    ++at;
  };
  for (std::size_t k = 0; k < attached_; ++k) {
    const Step& step = steps_[k];
    if (step.kind == Kind::activation) {
      ++at;
    } else if (step.kind == Kind::norm) {
      const std::int64_t channels = inputs[step.first].count();
      auto* factor = call.scratch<float>(channels);
      auto* shift = call.scratch<float>(channels);
      norm(inputs, step, factor, shift);
      add(factor);
      add(shift);
    } else {
      add(inputs[step.first].data());
    }
  }
  return out;
}

void Fusion::norm(const std::vector<Tensor>& inputs, const Step& step, float* factor,
                  float* shift) const {
  const auto* scale = inputs[step.first].as<float>();
  const auto* offset = inputs[step.first + 1].as<float>();
  const auto* mean = inputs[step.first + 2].as<float>();
  const auto* variance = inputs[step.first + 3].as<float>();
  for (std::int64_t c = 0; c < inputs[step.first].count(); ++c) {
    factor[c] = scale[c] / std::sqrt(variance[c] + epsilon_);
    shift[c] = offset[c] - mean[c] * factor[c];
  }
}

void Fusion::finish(const std::vector<Tensor>& inputs, float* y, const Placed& placed,
                    bool was_attached) const {
  for (std::size_t k = was_attached ? attached_ : 0; k < steps_.size(); ++k) {
    apply(steps_[k], inputs, y, placed);
  }
}

void Fusion::apply(const Step& step, const std::vector<Tensor>& inputs, float* y,
                   const Placed& placed) const {
  const std::int64_t count = placed.outer * placed.channels * placed.inner;
  if (step.kind == Kind::activation) {
    const Function f = function(step.name);
    parallel(count, 10, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) y[k] = f(y[k], alpha_);
    });
    return;
  }
  if (step.kind == Kind::add) {
    const auto* side = inputs[step.first].as<float>();
    for (std::int64_t k = 0; k < count; ++k) y[k] += side[k];
    return;
  }
  std::vector<float> factor(static_cast<std::size_t>(placed.channels), 1);
  std::vector<float> shift(factor);
  if (step.kind == Kind::norm) norm(inputs, step, factor.data(), shift.data());
  else std::copy_n(inputs[step.first].as<float>(), shift.size(), shift.begin());
  for (std::int64_t k = 0; k < count; ++k) {
    const auto c = static_cast<std::size_t>(k / placed.inner % placed.channels);
    y[k] = step.kind == Kind::norm ? y[k] * factor[c] + shift[c] : y[k] + shift[c];
  }
}

}  // namespace drystone::cpu::dnnl_part
