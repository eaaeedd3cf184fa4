// Gradients of convolutions, for the input and for the filter.
#include <algorithm>

#include "dnnl/entry.h"
#include "dnnl/weights.h"
#include "dnnl/window.h"

namespace drystone::cpu::dnnl_part {
namespace {

// The forward pass that the gradient belongs to, as oneDNN wants it said.
dnnl::convolution_forward::primitive_desc hint(const Geometry& g, const Desc& x, const Desc& y) {
  return {engine(),
          dnnl::prop_kind::forward_training,
          dnnl::algorithm::convolution_direct,
          x,
          free_filter(g),
          y,
          g.strides,
          g.dilations,
          g.before,
          g.after,
          attributes()};
}

struct Plan {
  std::unique_ptr<Primitive> primitive;
  std::unique_ptr<Packing> packing;
  std::int64_t bytes = 0;  // of a filter's gradient, in the primitive's order
};

std::unique_ptr<Plan> plan_input(const Geometry& g, const Windows& windows) {
  const Desc x = image(g, g.spatial, g.channels, windows.channels_first());
  const Desc y = image(g, g.out, g.count, windows.channels_first());
  const dnnl::convolution_backward_data::primitive_desc pd(
      engine(), dnnl::algorithm::convolution_direct, x, free_filter(g), y, g.strides, g.dilations,
      g.before, g.after, hint(g, x, y), attributes());
  auto plan = std::make_unique<Plan>();
  plan->packing = std::make_unique<Packing>(filter(g, windows.is_depthwise()), pd.weights_desc());
  plan->primitive = std::make_unique<Primitive>(
      dnnl::convolution_backward_data(pd),
      std::vector<std::pair<int, Desc>>{
          {DNNL_ARG_DIFF_SRC, x}, {DNNL_ARG_WEIGHTS, pd.weights_desc()}, {DNNL_ARG_DIFF_DST, y}},
      pd.scratchpad_desc());
  return plan;
}

std::unique_ptr<Plan> plan_filter(const Geometry& g, const Windows& windows) {
  const Desc x = image(g, g.spatial, g.channels, windows.channels_first());
  const Desc y = image(g, g.out, g.count, windows.channels_first());
  const dnnl::convolution_backward_weights::primitive_desc pd(
      engine(), dnnl::algorithm::convolution_direct, x, free_filter(g), y, g.strides, g.dilations,
      g.before, g.after, hint(g, x, y), attributes());
  auto plan = std::make_unique<Plan>();
  const Desc found = pd.diff_weights_desc();
  plan->bytes = static_cast<std::int64_t>(found.get_size());
  plan->packing = std::make_unique<Packing>(found, filter(g, windows.is_depthwise()));
  plan->primitive = std::make_unique<Primitive>(
      dnnl::convolution_backward_weights(pd),
      std::vector<std::pair<int, Desc>>{
          {DNNL_ARG_SRC, x}, {DNNL_ARG_DIFF_WEIGHTS, found}, {DNNL_ARG_DIFF_DST, y}},
      pd.scratchpad_desc());
  return plan;
}

// Dims that an input holds. `least`: entries that it may have instead of `rank`.
Dims sizes(const Tensor& input, std::size_t rank, std::size_t least) {
  const auto count = static_cast<std::size_t>(input.count());
  require(input.rank() == 1 && (count == rank || count == least),
          "sizes must be a vector with one entry per dimension");
  Dims out;
  for (std::size_t k = 0; k < count; ++k) {
    out.push_back(input.dtype() == TF_INT64 ? input.as<std::int64_t>()[k]
                                            : input.as<std::int32_t>()[k]);
  }
  return out;
}

void check_dims(const Dims& dims) {
  std::int64_t total = 4;
  for (const std::int64_t dim : dims) {
    require(dim >= 0 && !__builtin_mul_overflow(total, std::max<std::int64_t>(dim, 1), &total),
            "sizes must be the dims of a tensor");
  }
}

void check_gradient(const Tensor& grad, const Geometry& g, const Windows& windows) {
  const Dims needed = g.output(windows.channels_first());
  if (std::ranges::equal(grad.dims(), needed)) return;
  fail(TF_INVALID_ARGUMENT, "out_backprop must have the shape of the convolution's output: " +
                                text(grad.dims()) + " instead of " + text(needed));
}

template <std::size_t kSpatial, bool kIsDepthwise>
class InputGradient {
 public:
  explicit InputGradient(const Node& node) : windows_(node, kSpatial, kIsDepthwise) {}

  void compute(Call& call) {
    const Tensor w = call.input(1);
    const Tensor dy = call.input(2);
    require(w.rank() == kSpatial + 2 && dy.rank() == kSpatial + 2,
            "filter and out_backprop must have the rank of the convolution");
    Dims dims = sizes(call.input(0), kSpatial + 2, kIsDepthwise ? kSpatial + 2 : kSpatial);
    if (dims.size() == kSpatial) {
      dims.insert(dims.begin(), dy.dim(0));
      dims.push_back(w.dim(kSpatial));
    }
    check_dims(dims);
    const Geometry g = windows_.place(dims, w.dims());
    check_gradient(dy, g, windows_);
    const Tensor dx = call.output(0, dims);
    if (dx.count() == 0) return;
    if (dy.count() == 0 || w.count() == 0) {
      std::fill_n(dx.write<float>(), dx.count(), 0.0F);
      return;
    }
    Key key;
    key << DimsView(dims) << w.dims()
        << threads_for(g.operations(), dx.count() + w.count() + dy.count());
    plans_.with(
        key, [&] { return plan_input(g, windows_); },
        [&](const Plan& plan) {
          const Packed weights = weights_.packed(call, 1, w, *plan.packing);
          plan.primitive->run(call, {{DNNL_ARG_DIFF_SRC, dx.data()},
                                     {DNNL_ARG_WEIGHTS, weights.get()},
                                     {DNNL_ARG_DIFF_DST, dy.data()}});
        });
  }

 private:
  Windows windows_;
  Plans<Plan> plans_;
  Weights weights_;
};

template <std::size_t kSpatial, bool kIsDepthwise>
class FilterGradient {
 public:
  explicit FilterGradient(const Node& node) : windows_(node, kSpatial, kIsDepthwise) {}

  void compute(Call& call) {
    const Tensor x = call.input(0);
    const Tensor dy = call.input(2);
    require(x.rank() == kSpatial + 2 && dy.rank() == kSpatial + 2,
            "input and out_backprop must have the rank of the convolution");
    const Dims dims = sizes(call.input(1), kSpatial + 2, kSpatial + 2);
    check_dims(dims);
    const Geometry g = windows_.place(x.dims(), dims);
    check_gradient(dy, g, windows_);
    const Tensor dw = call.output(0, dims);
    if (dw.count() == 0) return;
    if (dy.count() == 0 || x.count() == 0) {
      std::fill_n(dw.write<float>(), dw.count(), 0.0F);
      return;
    }
    Key key;
    key << x.dims() << DimsView(dims)
        << threads_for(g.operations(), x.count() + dw.count() + dy.count());
    plans_.with(
        key, [&] { return plan_filter(g, windows_); },
        [&](const Plan& plan) { run(call, plan, x, dy, dw); });
  }

 private:
  static void run(const Call& call, const Plan& plan, const Tensor& x, const Tensor& dy,
                  const Tensor& dw) {
    const bool packs = plan.packing->is_needed();
    void* found = packs ? call.scratch<char>(plan.bytes) : dw.write<void>();
    plan.primitive->run(
        call,
        {{DNNL_ARG_SRC, x.data()}, {DNNL_ARG_DIFF_WEIGHTS, found}, {DNNL_ARG_DIFF_DST, dy.data()}});
    if (packs) plan.packing->run(call, found, dw.write<void>());
  }

  Windows windows_;
  Plans<Plan> plans_;
};

}  // namespace

void list_convolution_gradients(std::vector<Entry>& out) {
  list<InputGradient<2, false>>(out, "Conv2DBackpropInput");
  list<InputGradient<3, false>>(out, "Conv3DBackpropInputV2");
  list<InputGradient<2, true>>(out, "DepthwiseConv2dNativeBackpropInput");
  list<FilterGradient<2, false>>(out, "Conv2DBackpropFilter");
  list<FilterGradient<3, false>>(out, "Conv3DBackpropFilterV2");
  list<FilterGradient<2, true>>(out, "DepthwiseConv2dNativeBackpropFilter");
}

}  // namespace drystone::cpu::dnnl_part
