// Convolutions, with what is fused to them.
#include <algorithm>
#include <string_view>

#include "dnnl/entry.h"
#include "dnnl/fusion.h"
#include "dnnl/row_product.h"
#include "dnnl/weights.h"
#include "dnnl/window.h"

namespace drystone::cpu::dnnl_part {
namespace {

struct Plan {
  std::unique_ptr<Primitive> primitive;
  std::unique_ptr<Packing> packing;
};

using Forward = dnnl::convolution_forward::primitive_desc;

// What describe() gives. For depthwise convolutions oneDNN offers an implementation by products
// first, which takes up to twice as long as the one that was written for them.
template <class Describe>
Forward choose(const Describe& describe) {
  const auto is = [](const Forward& pd, std::string_view name) {
    return std::string_view(pd.impl_info_str()).starts_with(name);
  };
  Forward first = describe();
  if (!is(first, "brdgmm_dw")) return first;
  Forward second = describe();
  return second.next_impl() && is(second, "jit_dw") ? second : first;
}

std::unique_ptr<Plan> make_plan(const Geometry& g, const Windows& windows, const Fusion& fusion,
                                bool in_place) {
  const bool first = windows.channels_first();
  const Desc x = image(g, g.spatial, g.channels, first);
  const Desc y = image(g, g.out, g.count, first);
  std::vector<std::pair<int, Desc>> operands;
  dnnl::primitive_attr attr = attributes();
  Shape channel(g.spatial.size() + 2, 1);
  channel[1] = g.count;
  fusion.attach(attr, operands, channel, y, in_place);
  const Desc bias = fusion.has_own_bias() ? dense({g.count}, g.type) : Desc();
  const Forward pd = choose([&] {
    return Forward(engine(), dnnl::prop_kind::forward_inference,
                   dnnl::algorithm::convolution_direct, x, free_filter(g), bias, y, g.strides,
                   g.dilations, g.before, g.after, attr);
  });
  if (fusion.has_own_bias()) operands.emplace_back(DNNL_ARG_BIAS, bias);
  operands.insert(operands.end(),
                  {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, pd.weights_desc()}, {DNNL_ARG_DST, y}});
  auto plan = std::make_unique<Plan>();
  plan->packing = std::make_unique<Packing>(filter(g, windows.is_depthwise()), pd.weights_desc());
  plan->primitive = std::make_unique<Primitive>(dnnl::convolution_forward(pd), std::move(operands),
                                                pd.scratchpad_desc());
  return plan;
}

// Each channel `times` times: so that a depthwise convolution has one filter per channel.
template <class Bits>
void repeat_channels(const void* from, std::int64_t outer, std::int64_t inner, std::int64_t times,
                     void* to) {
  const auto* x = static_cast<const Bits*>(from);
  auto* out = static_cast<Bits*>(to);
  parallel(outer, 1 + inner * times, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      for (std::int64_t j = 0; j < times; ++j) {
        if (inner == 1) out[k * times + j] = x[k];
        else std::copy_n(x + k * inner, inner, out + (k * times + j) * inner);
      }
    }
  });
}

enum class Layer { plain, depthwise, named };  // named: by the node's attribute

bool is_depthwise(const Node& node, Layer layer) {
  return layer == Layer::named ? node.string("layer") == "DepthwiseConv2dNative"
                               : layer == Layer::depthwise;
}

template <std::size_t kSpatial, Layer kLayer>
class Convolution {
 public:
  explicit Convolution(const Node& node)
      : windows_(node, kSpatial, is_depthwise(node, kLayer)), fusion_(node, Fusion::Bias::own) {
    if (node.has("filter_format") && node.string("filter_format") != "HWIO") {
      fail(TF_UNIMPLEMENTED, "filters must be in HWIO order");
    }
    take_stored_weights(node, 1);
  }

  void compute(Call& call) {
    const Tensor x = call.input(0);
    const Tensor w = call.input(1);
    Geometry g = windows_.place(x.dims(), w.dims());
    g.type = type_of(x.dtype());
    const bool first = windows_.channels_first();
    const Dims result = g.output(first);
    const std::int64_t area = product(g.out);
    const Placed placed{first ? g.batch : g.batch * area, g.count, first ? area : 1};
    const std::vector<Tensor> more = fusion_.inputs(call, 2, result, placed);
    const Tensor y = call.output(0, result, fusion_.first_added(2));
    if (y.count() == 0) return;
    if (x.count() == 0 || w.count() == 0) {
      clear(y);
      fusion_.finish(call, more, y, placed, 0);
      return;
    }
    if (is_row(call, x, g)) return run_row(call, x, w, y, more, placed);
    run(call, x, w, y, g, more);
    fusion_.finish(call, more, y, placed, fusion_.attached());
  }

 private:
  // Whether it is one row times a matrix: one place of one example, as layers after a global mean have.
  bool is_row(const Call& call, const Tensor& x, const Geometry& g) const {
    return x.count() == g.channels && g.batch * product(g.out) * product(g.size) == 1 &&
           std::ranges::all_of(g.before, [](std::int64_t zeros) { return zeros == 0; }) &&
           g.groups == 1 && x.dtype() == TF_FLOAT &&
           call.is_constant(1) && fusion_.is_light(g.count) && has_rows();
  }

  void run_row(const Call& call, const Tensor& x, const Tensor& w, const Tensor& y,
               const std::vector<Tensor>& more, const Placed& placed) {
    const bool has_bias = fusion_.starts_with_bias();
    const int threads = threads_for(2 * w.count(), x.count() + w.count() + y.count());
    rows_.run(call, 1, w, {x.count(), y.count()}, x.as<float>(),
              has_bias ? more[0].as<float>() : nullptr, y.write<float>(), threads);
    fusion_.finish(call, more, y, placed, has_bias ? 1 : 0);
  }

  void run(const Call& call, const Tensor& x, const Tensor& w, const Tensor& y, Geometry& g,
           const std::vector<Tensor>& more) {
    const bool in_place = is_in_place(y, more);
    Key key;
    key << x.dims() << w.dims() << threads_for(g.operations(), x.count() + w.count() + y.count())
        << (in_place ? 1 : 0);
    const void* source = x.data();
    if (windows_.is_depthwise() && g.count != g.channels) {
      const std::int64_t times = g.count / g.channels;
      const std::int64_t inner = windows_.channels_first() ? product(g.spatial) : 1;
      auto* wide = call.scratch<float>(x.count() * times);
      (g.type == Type::f32 ? repeat_channels<float> : repeat_channels<std::uint16_t>)(
          x.data(), x.count() / inner, inner, times, wide);
      source = wide;
      g.channels = g.groups = g.count;
    }
    plans_.with(
        key, [&] { return make_plan(g, windows_, fusion_, in_place); },
        [&](const Plan& plan) {
          const Packed weights = weights_.packed(call, 1, w, *plan.packing);
          plan.primitive->run(
              call, {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights.get()}, {DNNL_ARG_DST, y.data()}},
              fusion_.operands(call, more, in_place));
        });
  }

  // Whether the result took over the memory of what is added first.
  bool is_in_place(const Tensor& y, const std::vector<Tensor>& more) const {
    const int added = fusion_.first_added(0);
    return added >= 0 && more[static_cast<std::size_t>(added)].data() == y.data();
  }

  Windows windows_;
  Fusion fusion_;
  Plans<Plan> plans_;
  Weights weights_;
  RowProduct rows_;
};

}  // namespace

void list_convolutions(std::vector<Entry>& out) {
  list_narrow<Convolution<2, Layer::plain>>(out, "Conv2D");
  list_narrow<Convolution<2, Layer::plain>>(out, "_FusedConv2D");
  list_narrow<Convolution<3, Layer::plain>>(out, "Conv3D");
  list_narrow<Convolution<3, Layer::plain>>(out, "_FusedConv3D");
  list_narrow<Convolution<2, Layer::depthwise>>(out, "DepthwiseConv2dNative");
  list_narrow<Convolution<2, Layer::depthwise>>(out, "_FusedDepthwiseConv2dNative");
  list_narrow<Convolution<2, Layer::named>>(out, "Drystone>FusedConvolution");
}

}  // namespace drystone::cpu::dnnl_part
