// Activations of neural networks.
#include <algorithm>
#include <cmath>

#include "fast/elementwise.h"
#include "fast/vector_math.h"

namespace drystone::cpu {
namespace {

namespace vm = vector_math;

// NaN stays in all of these.
struct ReluOp {
  template <class T>
  T operator()(T x) const {
    return x < T(0) ? T(0) : x;
  }
};
struct Relu6Op {
  template <class T>
  T operator()(T x) const {
    const T low = x < T(0) ? T(0) : x;
    return low > T(6) ? T(6) : low;
  }
};

inline float expm1_of(float x) { return vm::expm1(x); }
inline double expm1_of(double x) { return std::expm1(x); }

struct EluOp {
  static constexpr std::uint16_t kCost = 6;
  template <class T>
  T operator()(T x) const {
    const T low = expm1_of(x);
    return x < 0 ? low : x;
  }
};
struct SeluOp {
  static constexpr std::uint16_t kCost = 6;
  template <class T>
  T operator()(T x) const {
    const T low = static_cast<T>(1.0507009873554805 * 1.6732632423543772) * expm1_of(x);
    const T high = static_cast<T>(1.0507009873554805) * x;
    return x < 0 ? low : high;
  }
};
struct SoftplusOp {
  static constexpr std::uint16_t kCost = 12;
  float operator()(float x) const { return vm::softplus(x); }
  double operator()(double x) const {
    return (x > 0 ? x : 0) + std::log1p(std::exp(-std::fabs(x)));
  }
};
struct SoftsignOp {
  template <class T>
  T operator()(T x) const {
    return x / (std::fabs(x) + 1);
  }
};

inline float tanh_of(float x) { return vm::tanh(x); }
inline double tanh_of(double x) { return std::tanh(x); }

struct GeluExactOp {
  static constexpr std::uint16_t kCost = 5;
  float operator()(float x) const { return vm::gelu(x); }
  double operator()(double x) const { return 0.5 * x * (1 + std::erf(x * 0.70710678118654752)); }
};
struct GeluApproximateOp {
  static constexpr std::uint16_t kCost = 8;
  template <class T>
  T operator()(T x) const {
    const T inner = static_cast<T>(0.79788456080286536) * (x + static_cast<T>(0.044715) * x * x * x);
    return T(0.5) * x * (T(1) + tanh_of(inner));
  }
};

constexpr std::int64_t kBlock = 1024;  // elements that a thread takes at least

// LeakyRelu, and its gradient: the slope is an attribute.
template <class T, bool is_gradient>
class Leaky {
 public:
  explicit Leaky(const Node& node) : alpha_(node.real("alpha")) {}
  void compute(Call& call) const {
    const Tensor factor = call.input(0);
    const Tensor x = is_gradient ? call.input(1) : factor;
    if (!std::ranges::equal(factor.dims(), x.dims())) {
      fail(TF_INVALID_ARGUMENT,
           "Inputs must have the same shape: " + text(factor.dims()) + " vs. " + text(x.dims()));
    }
    T* out = call.output(0, x.dims(), 0).template write<T>();
    const std::int64_t count = x.count();
    parallel((count + kBlock - 1) / kBlock, kBlock / 4, [&](std::int64_t first, std::int64_t last) {
      run(out, factor.as<T>(), x.as<T>(), first * kBlock, std::min(last * kBlock, count));
    });
  }

 private:
  void run(T* out, const T* factor, const T* x, std::int64_t begin, std::int64_t end) const {
    const auto alpha = static_cast<Wide<T>>(alpha_);
#pragma GCC ivdep
    for (std::int64_t k = begin; k < end; ++k) {
      const auto value = wide(factor[k]);
      const auto low = value * alpha;
      out[k] = as_held<T>(wide(x[k]) > 0 ? value : low);
    }
  }
  float alpha_;
};

template <class... T>
void add_leaky(Types<T...>) {
  (add<Leaky<T, false>>("LeakyRelu", {{"T", {kType<T>}}}), ...);
  (add<Leaky<T, true>>("LeakyReluGrad", {{"T", {kType<T>}}}), ...);
}

}  // namespace

void add_activation() {
  add_float_unary<ReluOp>("Relu");
  add_unary<ReluOp>("Relu", Signed{});
  add_unary<ReluOp>("Relu", Unsigned{});
  add_float_unary<Relu6Op>("Relu6");
  add_unary<Relu6Op>("Relu6", Signed{});
  add_unary<Relu6Op>("Relu6", Unsigned{});
  add_float_unary<EluOp>("Elu");
  add_float_unary<SeluOp>("Selu");
  add_float_unary<SoftplusOp>("Softplus");
  add_float_unary<SoftsignOp>("Softsign");
  add_float_unary<GeluExactOp>("Drystone>GeluExact");
  add_float_unary<GeluApproximateOp>("Drystone>GeluApproximate");
  add_leaky(Types<float, double, Half, BFloat16>{});
}

}  // namespace drystone::cpu
