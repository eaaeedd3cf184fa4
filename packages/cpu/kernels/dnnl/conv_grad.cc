// Gradients of convolutions, for the input and for the filter.
#include <algorithm>

#include "core/moving.h"
#include "dnnl/im2col.h"
#include "dnnl/entry.h"
#include "dnnl/planes.h"
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
  bool is_reference = false;
  std::unique_ptr<Im2col> columns;  // the primitive is of their rows
  std::unique_ptr<Plan> rest;        // of the rows that are left
  std::unique_ptr<ChannelsLast> turns;      // the primitive is of channels last
};

std::unique_ptr<Plan> plan_input(const Geometry& g, bool channels_first, bool is_depthwise) {
  const Desc x = image(g, g.spatial, g.channels, channels_first);
  const Desc y = image(g, g.out, g.count, channels_first);
  const dnnl::convolution_backward_data::primitive_desc pd(
      engine(), dnnl::algorithm::convolution_direct, x, free_filter(g), y, g.strides, g.dilations,
      g.before, g.after, hint(g, x, y), attributes());
  auto plan = std::make_unique<Plan>();
  plan->is_reference = is_reference(pd.impl_info_str());
  plan->packing = std::make_unique<Packing>(filter(g, is_depthwise), pd.weights_desc());
  plan->primitive = std::make_unique<Primitive>(
      dnnl::convolution_backward_data(pd),
      std::vector<std::pair<int, Desc>>{
          {DNNL_ARG_DIFF_SRC, x}, {DNNL_ARG_WEIGHTS, pd.weights_desc()}, {DNNL_ARG_DIFF_DST, y}},
      pd.scratchpad_desc());
  return plan;
}

std::unique_ptr<Plan> plan_filter(const Geometry& g, bool channels_first, bool is_depthwise) {
  const Desc x = image(g, g.spatial, g.channels, channels_first);
  const Desc y = image(g, g.out, g.count, channels_first);
  const dnnl::convolution_backward_weights::primitive_desc pd(
      engine(), dnnl::algorithm::convolution_direct, x, free_filter(g), y, g.strides, g.dilations,
      g.before, g.after, hint(g, x, y), attributes());
  auto plan = std::make_unique<Plan>();
  const Desc found = pd.diff_weights_desc();
  plan->is_reference = is_reference(pd.impl_info_str());
  plan->bytes = static_cast<std::int64_t>(found.get_size());
  plan->packing = std::make_unique<Packing>(found, filter(g, is_depthwise));
  plan->primitive = std::make_unique<Primitive>(
      dnnl::convolution_backward_weights(pd),
      std::vector<std::pair<int, Desc>>{
          {DNNL_ARG_SRC, x}, {DNNL_ARG_DIFF_WEIGHTS, found}, {DNNL_ARG_DIFF_DST, y}},
      pd.scratchpad_desc());
  return plan;
}

using MakePlan = std::unique_ptr<Plan>(const Geometry&, bool, bool);

// make()'s plan, or another one of the same where that has only reference code.
std::unique_ptr<Plan> plan_of(MakePlan& make, const Geometry& g, bool channels_first,
                              bool is_depthwise) {
  auto plan = make(g, channels_first, is_depthwise);
  if (!plan->is_reference) return plan;
  if (channels_first) {
    auto other = plan_of(make, g, false, is_depthwise);
    if (other->is_reference) return plan;
    other->turns = std::make_unique<ChannelsLast>(g);
    return other;
  }
  auto columns = std::make_unique<Im2col>(g);
  auto other = make(columns->of(columns->at_once()), false, false);
  if (other->is_reference) return plan;
  const std::int64_t left = columns->places() % columns->at_once();
  if (left != 0) other->rest = make(columns->of(left), false, false);
  other->columns = std::move(columns);
  return other;
}

// body(the plan of so many places, the first of them, how many) for all rows of a plan.
template <class Body>
void each_part(const Plan& plan, Body&& body) {
  const std::int64_t each = plan.columns->at_once();
  const std::int64_t places = plan.columns->places();
  for (std::int64_t k = 0; k < places; k += each) {
    const std::int64_t now = std::min(each, places - k);
    body(now == each ? plan : *plan.rest, k, now);
  }
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
    const Geometry g = windows_.place(dims, w.dims(), Empty::allowed);
    require(kIsDepthwise || g.channels > 0, "there must be channels to take a gradient for");
    check_gradient(dy, g, windows_);
    const Tensor dx = call.output(0, dims);
    if (dx.count() == 0) return;
    if (dy.count() == 0 || w.count() == 0) {
      std::fill_n(dx.write<float>(), dx.count(), 0.0F);
      return;
    }
    if (Planes::suits(g, windows_.channels_first(), kIsDepthwise, Planes::Way::input_gradient)) {
      Key key;
      key << DimsView(dims) << w.dims();
      const auto* filter = static_cast<const float*>(w.data());
      planes_.with(
          key, [&] { return std::make_unique<Planes>(g, Planes::Way::input_gradient); },
          [&](const Planes& planes) { planes.run(dy.as<float>(), filter, {}, dx.write<float>()); });
      return;
    }
    Geometry lying = g;
    lying.lie_down();
    Key key;
    key << DimsView(dims) << w.dims()
        << threads_for(g.operations(), dx.count() + w.count() + dy.count());
    plans_.with(
        key, [&] { return plan_of(plan_input, lying, windows_.channels_first(), kIsDepthwise); },
        [&](const Plan& plan) { run(call, plan, w, dy, dx); });
  }

 private:
  void run(const Call& call, const Plan& plan, const Tensor& w, const Tensor& dy,
           const Tensor& dx) {
    if (plan.turns == nullptr) {
      return run_last(call, plan, w, dy.as<float>(), dx.write<float>(), dx.count());
    }
    const void* from = ChannelsLast::last(call, plan.turns->y(), dy.data());
    void* made = ChannelsLast::room(call, plan.turns->x());
    run_last(call, plan, w, static_cast<const float*>(from), static_cast<float*>(made), dx.count());
    ChannelsLast::back(call, plan.turns->x_back(), made, dx.write<void>());
  }

  void run_last(const Call& call, const Plan& plan, const Tensor& w, const float* dy, float* dx,
                std::int64_t count) {
    if (plan.columns == nullptr) return run_one(call, plan, w, dy, dx);
    std::fill_n(dx, count, 0.0F);
    const Im2col& columns = *plan.columns;
    auto* rows = call.scratch<float>(columns.at_once() * columns.width());
    const std::int64_t channels = columns.of(1).count;
    each_part(plan, [&](const Plan& part, std::int64_t first, std::int64_t places) {
      run_one(call, part, w, dy + first * channels, rows);
      columns.scatter(rows, first, places, dx);
    });
  }

  void run_one(const Call& call, const Plan& plan, const Tensor& w, const float* dy, float* dx) {
    const Packed weights = weights_.packed(call, 1, w, *plan.packing);
    plan.primitive->run(call, {{DNNL_ARG_DIFF_SRC, dx},
                               {DNNL_ARG_WEIGHTS, weights.get()},
                               {DNNL_ARG_DIFF_DST, dy}});
  }

  Windows windows_;
  Plans<Plan> plans_;
  Plans<Planes> planes_;
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
    const Geometry g = windows_.place(x.dims(), dims, Empty::allowed);
    require(kIsDepthwise || g.channels > 0 || (kSpatial == 2 && product(dims) == 0),
            "there must be channels to take a gradient for");
    check_gradient(dy, g, windows_);
    const Tensor dw = call.output(0, dims);
    if (dw.count() == 0) return;
    if (dy.count() == 0 || x.count() == 0) {
      std::fill_n(dw.write<float>(), dw.count(), 0.0F);
      return;
    }
    if (Planes::suits(g, windows_.channels_first(), kIsDepthwise, Planes::Way::filter_gradient)) {
      Key key;
      key << x.dims() << DimsView(dims);
      planes_.with(
          key, [&] { return std::make_unique<Planes>(g, Planes::Way::filter_gradient); },
          [&](const Planes& planes) {
            planes.filter_gradient(x.as<float>(), dy.as<float>(), dw.write<float>());
          });
      return;
    }
    Geometry lying = g;
    lying.lie_down();
    Key key;
    key << x.dims() << DimsView(dims)
        << threads_for(g.operations(), x.count() + dw.count() + dy.count());
    plans_.with(
        key, [&] { return plan_of(plan_filter, lying, windows_.channels_first(), kIsDepthwise); },
        [&](const Plan& plan) { run(call, plan, x, dy, dw); });
  }

 private:
  static void run(const Call& call, const Plan& plan, const Tensor& x, const Tensor& dy,
                  const Tensor& dw) {
    if (plan.turns == nullptr) return run_last(call, plan, x.data(), dy.data(), dw);
    run_last(call, plan, ChannelsLast::last(call, plan.turns->x(), x.data()),
             ChannelsLast::last(call, plan.turns->y(), dy.data()), dw);
  }

  static void run_last(const Call& call, const Plan& plan, const void* x, const void* dy,
                       const Tensor& dw) {
    auto* sums = dw.write<float>();
    if (plan.columns == nullptr) return run_one(call, plan, x, dy, sums);
    const Im2col& columns = *plan.columns;
    auto* rows = call.scratch<float>(columns.at_once() * columns.width());
    auto* terms = call.scratch<float>(dw.count());
    const std::int64_t channels = columns.of(1).count;
    each_part(plan, [&](const Plan& part, std::int64_t first, std::int64_t places) {
      columns.gather(x, first, places, rows);
      const auto* from = static_cast<const float*>(dy) + first * channels;
      run_one(call, part, rows, from, first == 0 ? sums : terms);
      if (first == 0) return;
      for (std::int64_t k = 0; k < dw.count(); ++k) sums[k] += terms[k];
    });
  }

  static void run_one(const Call& call, const Plan& plan, const void* x, const void* dy, float* dw) {
    const bool packs = plan.packing->is_needed();
    void* found = packs ? call.scratch<char>(plan.bytes) : static_cast<void*>(dw);
    plan.primitive->run(
        call, {{DNNL_ARG_SRC, x}, {DNNL_ARG_DIFF_WEIGHTS, found}, {DNNL_ARG_DIFF_DST, dy}});
    if (packs) plan.packing->run(call, found, dw);
  }

  Windows windows_;
  Plans<Plan> plans_;
  Plans<Planes> planes_;
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
