// Fused nodes: see dnnl/fusion.h.
#include "dnnl/fusion.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "core/widened_call.h"
#include "dnnl/nan_watch.h"
#include "dnnl/swish.h"

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
float swish(float x, float) { return x / (1 + std::exp(-x)); }
float hard_swish(float x, float factor) { return x * (relu6(x + 3, 0) / 6) * factor; }

Function function(const std::string& name) {
  static const std::pair<const char*, Function> table[] = {
      {"Relu", relu},    {"Relu6", relu6},         {"LeakyRelu", leaky},   {"Elu", elu},
      {"Selu", selu},    {"Softplus", softplus},   {"Softsign", softsign}, {"Sigmoid", sigmoid},
      {"Tanh", tangent}, {"GeluApproximate", gelu}, {"GeluExact", gelu_exact}, {"Swish", swish},
      {"HardSwish", hard_swish}};
  for (const auto& [known, out] : table) {
    if (name == known) return out;
  }
  return nullptr;
}

bool is_comparison(const std::string& name) {
  static const std::set<std::string> names{"Relu", "Relu6", "LeakyRelu", "HardSwish"};
  return names.contains(name);
}

// What oneDNN calculates as exactly as we want it.
bool is_exact(const std::string& name) {
  static const std::set<std::string> names{"Relu",  "Relu6",     "LeakyRelu", "GeluApproximate",
                                           "Swish", "HardSwish"};
  return names.contains(name);
}

// What it calculates to some 1e-5; not GeluExact, of which infinity would be NaN.
bool is_near(const std::string& name) {
  static const std::set<std::string> names{"Elu", "Softplus", "Sigmoid", "Tanh"};
  return names.contains(name);
}

// Activations of oneDNN that keep NaN.
bool keeps_nan(const std::string& name) {
  static const std::set<std::string> names{"LeakyRelu", "GeluApproximate", "Swish", "HardSwish"};
  return names.contains(name);
}

// The elements as floats; in memory of the call when they have 16 bits.
Tensor as_floats(const Call& call, const Tensor& x) {
  if (!is_narrow(x.dtype())) return x;
  auto* wide = call.scratch<float>(x.count() + 1);
  widen_to(wide, x);
  return x.with(TF_FLOAT, wide);
}

}  // namespace

std::int64_t bytes_of(const Tensor& y) { return y.count() * (is_narrow(y.dtype()) ? 2 : 4); }

void clear(const Tensor& y) {
  std::memset(y.write<char>(), 0, static_cast<std::size_t>(bytes_of(y)));
}

Fusion::Kind Fusion::kind_of(const std::string& name) {
  if (name == "BiasAdd") return Kind::bias;
  if (name == "Add") return Kind::add;
  if (name == "Mul") return Kind::multiply;
  if (name == "PRelu") return Kind::slopes;
  return name == "FusedBatchNorm" ? Kind::norm : Kind::activation;
}

std::size_t Fusion::inputs_of(Kind kind) {
  return kind == Kind::activation ? 0 : kind == Kind::norm ? 4 : 1;
}

Fusion::Fusion(const Node& node, Bias bias) {
  if (!node.has("fused_ops")) return;
  epsilon_ = node.real("epsilon");
  alpha_ = node.real("leakyrelu_alpha");
  if (node.has("hardswish_factor")) factor_ = node.real("hardswish_factor");
  is_coarse_ = is_narrow(node.type("T")) && is_native(node.type("T"));
  bool all = true;
  for (const std::string& name : node.strings("fused_ops")) {
    const Kind kind = kind_of(name);
    require(kind != Kind::activation || function(name) != nullptr, "an unknown name in fused_ops");
    steps_.push_back({kind, name, needed_});
    needed_ += inputs_of(kind);
    all = all && attaches(kind, name);
    if (all) ++attached_;
  }
  ends_in_swish_ = all && !steps_.empty() && steps_.back().name == "Swish" &&
                   node.type("T") == TF_BFLOAT16 && is_coarse_ && has_swish();
  if (ends_in_swish_) --attached_;
  for (std::size_t k = 0; k < attached_; ++k) {
    if (steps_[k].kind == Kind::activation && !keeps_nan(steps_[k].name)) hiding_.push_back(k);
  }
  has_own_bias_ = bias == Bias::own && !steps_.empty() && steps_[0].kind == Kind::bias;
  most_light_ = most_light_channels();
}

std::int64_t Fusion::most_light_channels() const {
  constexpr std::int64_t kFew = 128;  // of which exponentials take a microsecond
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const Step& step : steps_) {
    const bool is_first_bias = step.kind == Kind::bias && &step == steps_.data();
    if (step.kind != Kind::activation && !is_first_bias) return 0;
    if (step.kind == Kind::activation && !is_comparison(step.name)) most = kFew;
  }
  return most;
}

bool Fusion::attaches(Kind kind, const std::string& name) const {
  if (kind != Kind::activation) return true;
  return (kNotesNan || keeps_nan(name)) && (is_exact(name) || (is_coarse_ && is_near(name)));
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
      case Kind::slopes:
        require(fits(0), "slopes must have one entry per channel");
        break;
      case Kind::multiply:
      case Kind::add: {
        const DimsView dims = out[step.first].dims();
        require(std::equal(dims.begin(), dims.end(), result.begin(), result.end()),
                "what is added or multiplied must have the shape of the product");
        break;
      }
      default:
        break;
    }
  }
  for (const Tensor& input : out) {
    if (input.dtype() != call.input(first - 1).dtype()) {
      fail(TF_UNIMPLEMENTED, "fused inputs must have the type of the others");
    }
  }
  return out;
}

int Fusion::first_added(int first) const {
  const std::size_t k = has_own_bias_ ? 1 : 0;
  if (k >= attached_ || steps_[k].kind != Kind::add) return -1;
  // What is added is gone then, when NaN shows up that a later step has hidden.
  if (!hiding_.empty() && (hiding_[0] != k + 1 || attached_ != k + 2)) return -1;
  return first + static_cast<int>(steps_[k].first);
}

void Fusion::attach(dnnl::primitive_attr& attributes, std::vector<std::pair<int, Desc>>& operands,
                    const Shape& channel, const Desc& whole, std::size_t done,
                    bool in_place) const {
  using dnnl::algorithm;
  dnnl::post_ops post;
  const Desc given = dense(channel, whole.get_data_type());
  const Desc made = dense(channel);  // of a norm's moments
  const auto binary = [&](algorithm what, const Desc& desc) {
    operands.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(post.len()) | DNNL_ARG_SRC_1, desc);
    post.append_binary(what, desc);
  };
  for (std::size_t k = has_own_bias_ ? 1 : 0; k < done; ++k) {
    const Step& step = steps_[k];
    if (step.kind == Kind::norm) binary(algorithm::binary_mul, made);
    if (step.kind == Kind::norm) binary(algorithm::binary_add, made);
    if (step.kind == Kind::bias) binary(algorithm::binary_add, given);
    if (step.kind == Kind::add) {
      if (in_place && post.len() == 0) post.append_sum();
      else binary(algorithm::binary_add, whole);
    }
    if (step.kind == Kind::multiply) binary(algorithm::binary_mul, whole);
    if (step.kind == Kind::slopes) {
      const int argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(post.len()) | DNNL_ARG_WEIGHTS;
      operands.emplace_back(argument, dense({channel[1]}));
      post.append_prelu(1 << 1);
    }
    if (step.kind == Kind::activation) append(post, step.name);
  }
  attributes.set_post_ops(post);
}

void Fusion::append(dnnl::post_ops& post, const std::string& activation) const {
  using dnnl::algorithm;
  if (activation == "Relu6") {
    post.append_eltwise(algorithm::eltwise_clip_v2, 0, 6);
  } else if (activation == "GeluApproximate") {
    post.append_eltwise(algorithm::eltwise_gelu_tanh, 0, 0);
  } else if (activation == "Swish") {
    post.append_eltwise(algorithm::eltwise_swish, 1, 0);
  } else if (activation == "HardSwish") {
    post.append_eltwise(algorithm::eltwise_hardswish, 1.0F / 6, 0.5F);
    post.append_eltwise(algorithm::eltwise_linear, factor_, 0);
  } else if (activation == "Elu") {
    post.append_eltwise(algorithm::eltwise_elu, 1, 0);
  } else if (activation == "Sigmoid") {
    post.append_eltwise(algorithm::eltwise_logistic, 0, 0);
  } else if (activation == "Tanh") {
    post.append_eltwise(algorithm::eltwise_tanh, 0, 0);
  } else if (activation == "Softplus") {
    post.append_eltwise(algorithm::eltwise_soft_relu, 1, 0);
  } else {
    post.append_eltwise(algorithm::eltwise_relu, activation == "Relu" ? 0 : alpha_, 0);
  }
}

std::vector<Operand> Fusion::operands(const Call& call, const std::vector<Tensor>& inputs,
                                      std::size_t done, bool in_place,
                                      std::int64_t first) const {
  std::vector<Operand> out;
  int at = 0;
  const auto add = [&](const void* data, int role = DNNL_ARG_SRC_1) {
    out.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(at) | role, data});
    ++at;
  };
  if (has_own_bias_) out.push_back({DNNL_ARG_BIAS, inputs[0].data()});
  for (std::size_t k = has_own_bias_ ? 1 : 0; k < done; ++k) {
    const Step& step = steps_[k];
    if (in_place && at == 0) {
      ++at;  // it is where the result goes
    } else if (step.kind == Kind::activation) {
      at += step.name == "HardSwish" ? 2 : 1;
    } else if (step.kind == Kind::norm) {
      const std::int64_t channels = inputs[step.first].count();
      auto* factor = call.scratch<float>(channels);
      auto* shift = call.scratch<float>(channels);
      norm(call, inputs, step, factor, shift);
      add(factor);
      add(shift);
    } else {
      const Tensor& side = inputs[step.first];
      const bool is_whole = step.kind == Kind::add || step.kind == Kind::multiply;
      const std::int64_t at_byte = is_whole ? first * (is_narrow(side.dtype()) ? 2 : 4) : 0;
      if (step.kind == Kind::slopes) add(as_floats(call, side).data(), DNNL_ARG_WEIGHTS);
      else add(static_cast<const char*>(side.data()) + at_byte);
    }
  }
  return out;
}

void Fusion::norm(const Call& call, const std::vector<Tensor>& inputs, const Step& step,
                  float* factor, float* shift) const {
  const auto at = [&](std::size_t k) { return as_floats(call, inputs[step.first + k]).as<float>(); };
  const auto* scale = at(0);
  const auto* offset = at(1);
  const auto* mean = at(2);
  const auto* variance = at(3);
  for (std::int64_t c = 0; c < inputs[step.first].count(); ++c) {
    factor[c] = scale[c] / std::sqrt(variance[c] + epsilon_);
    shift[c] = offset[c] - mean[c] * factor[c];
  }
}

std::size_t Fusion::clamp(const std::vector<Tensor>& inputs, Clamp* out) const {
  std::size_t done = 0;
  if (starts_with_bias()) out->bias = inputs[steps_[done++].first].as<float>();
  if (done == steps_.size()) return done;
  const std::string& name = steps_[done].name;
  if (name != "Relu" && name != "Relu6") return done;
  out->low = 0;
  if (name == "Relu6") out->high = 6;
  return done + 1;
}

void Fusion::finish(const Call& call, const std::vector<Tensor>& inputs, const Tensor& y,
                    const Placed& placed, std::size_t done) const {
  if (done == steps_.size()) return;
  if (ends_in_swish_ && done == attached_) return swish_all(y.write<std::uint16_t>(), y.count());
  const Tensor wide = as_floats(call, y);
  for (std::size_t k = done; k < steps_.size(); ++k) {
    apply(call, steps_[k], inputs, wide.write<float>(), placed);
  }
  if (is_narrow(y.dtype())) narrow_to(y, wide.as<float>());
}

void Fusion::apply(const Call& call, const Step& step, const std::vector<Tensor>& inputs, float* y,
                   const Placed& placed) const {
  const std::int64_t count = placed.outer * placed.channels * placed.inner;
  if (step.kind == Kind::activation) {
    const Function f = function(step.name);
    const float given = step.name == "HardSwish" ? factor_ : alpha_;
    parallel(count, 10, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) y[k] = f(y[k], given);
    });
    return;
  }
  const auto* side = as_floats(call, inputs[step.first]).as<float>();
  if (step.kind == Kind::add || step.kind == Kind::multiply) {
    const bool adds = step.kind == Kind::add;
    for (std::int64_t k = 0; k < count; ++k) y[k] = adds ? y[k] + side[k] : y[k] * side[k];
    return;
  }
  if (step.kind == Kind::slopes) {
    for (std::int64_t k = 0; k < count; ++k) {
      y[k] = leaky(y[k], side[k / placed.inner % placed.channels]);
    }
    return;
  }
  std::vector<float> factor(static_cast<std::size_t>(placed.channels), 1);
  std::vector<float> shift(factor);
  if (step.kind == Kind::norm) norm(call, inputs, step, factor.data(), shift.data());
  else std::copy_n(side, shift.size(), shift.begin());
  for (std::int64_t k = 0; k < count; ++k) {
    const auto c = static_cast<std::size_t>(k / placed.inner % placed.channels);
    y[k] = step.kind == Kind::norm ? y[k] * factor[c] + shift[c] : y[k] + shift[c];
  }
}

}  // namespace drystone::cpu::dnnl_part
