// Layers of integers of eight bits: oneDNN sums them in 32 bits; what follows is done in floats.
#include <algorithm>

#include "core/grid.h"
#include "dnnl/entry.h"
#include "dnnl/fusion.h"
#include "dnnl/weights.h"
#include "dnnl/window.h"

namespace drystone::cpu::dnnl_part {
namespace {

struct Plan {
  std::unique_ptr<Primitive> primitive;
  std::unique_ptr<Packing> packing;
};

Type small_type(TF_DataType dtype) {
  return dtype == TF_UINT8 ? Type::u8 : dtype == TF_INT8 ? Type::s8 : Type::f32;
}

// What a primitive needs to know beside its shapes, and where that is in a run.
class Scaling {
 public:
  Scaling(const Node& node, const Grid& grid, TF_DataType out)
      : x_zero_(static_cast<std::int32_t>(node.integer("x_zero"))), grid_(grid), out_(out) {}

  // `channels`: which dims of the weights those are of the result, as bits.
  void attach(dnnl::primitive_attr& attr, std::vector<std::pair<int, Desc>>& operands,
              std::int64_t count, int channels, Type y) const {
    operands.emplace_back(DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, dense({count}));
    attr.set_scales_mask(DNNL_ARG_WEIGHTS, channels);
    if (x_zero_ != 0) zero_point(attr, operands, DNNL_ARG_SRC);
    if (y == Type::f32) return;
    if (grid_.is_narrower(out_)) cut(attr);
    operands.emplace_back(DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, dense({1}));
    attr.set_scales_mask(DNNL_ARG_DST, 0);
    if (grid_.zero != 0) zero_point(attr, operands, DNNL_ARG_DST);
  }

  void add_operands(std::vector<Operand>& out, const void* scales, bool gives_integers) const {
    out.push_back({DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, scales});
    if (x_zero_ != 0) out.push_back({DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, &x_zero_});
    if (!gives_integers) return;
    out.push_back({DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, &grid_.scale});
    if (grid_.zero != 0) out.push_back({DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_DST, &grid_.zero});
  }

 private:
  static void zero_point(dnnl::primitive_attr& attr, std::vector<std::pair<int, Desc>>& operands,
                         int argument) {
    operands.emplace_back(DNNL_ARG_ATTR_ZERO_POINTS | argument, dense({1}, Type::s32));
    attr.set_zero_points_mask(argument, 0);
  }
  // The type's own limits hold anyway; these are others.
  void cut(dnnl::primitive_attr& attr) const {
    dnnl::post_ops post = attr.get_post_ops();
    post.append_eltwise(dnnl::algorithm::eltwise_clip_v2,
                        static_cast<float>(grid_.first - grid_.zero) * grid_.scale,
                        static_cast<float>(grid_.last - grid_.zero) * grid_.scale);
    attr.set_post_ops(post);
  }

  std::int32_t x_zero_;
  Grid grid_;
  TF_DataType out_;
};

// Makes `plan` of a primitive's description, whose operands but the weights are given.
template <class Kind, class Description>
std::unique_ptr<Plan> plan_of(const Description& pd, const Desc& given,
                              std::vector<std::pair<int, Desc>>&& operands) {
  operands.emplace_back(DNNL_ARG_WEIGHTS, pd.weights_desc());
  auto plan = std::make_unique<Plan>();
  plan->packing = std::make_unique<Packing>(given, pd.weights_desc());
  plan->primitive =
      std::make_unique<Primitive>(Kind(pd), std::move(operands), pd.scratchpad_desc());
  return plan;
}

std::unique_ptr<Plan> plan_product(const Shape& dims, Type x_type, Type y_type,
                                   const Scaling& scaling, const Fusion& fusion) {
  const std::int64_t rows = dims[0];
  const std::int64_t inner = dims[1];
  const std::int64_t columns = dims[2];
  const Desc x = dense({rows, inner}, x_type);
  const Desc y = dense({rows, columns}, y_type);
  std::vector<std::pair<int, Desc>> operands{{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}};
  dnnl::primitive_attr attr = attributes();
  fusion.attach(attr, operands, {1, columns}, dense({rows, columns}), fusion.attached());
  scaling.attach(attr, operands, columns, 1 << 1, y_type);
  const dnnl::matmul::primitive_desc pd(engine(), x, any({inner, columns}, Type::s8), y, attr);
  return plan_of<dnnl::matmul>(pd, dense({inner, columns}, Type::s8), std::move(operands));
}

Desc image_of(Geometry g, const Dims& spatial, std::int64_t channels, bool first, Type type) {
  g.type = type;
  return image(g, spatial, channels, first);
}

std::unique_ptr<Plan> plan_convolution(Geometry g, const Windows& windows, Type x_type,
                                       Type y_type, const Scaling& scaling,
                                       const Fusion& fusion) {
  const bool first = windows.channels_first();
  const Desc x = image_of(g, g.spatial, g.channels, first, x_type);
  const Desc y = image_of(g, g.out, g.count, first, y_type);
  std::vector<std::pair<int, Desc>> operands{{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}};
  dnnl::primitive_attr attr = attributes();
  Shape channel(g.spatial.size() + 2, 1);
  channel[1] = g.count;
  fusion.attach(attr, operands, channel, image_of(g, g.out, g.count, first, Type::f32),
                fusion.attached());
  scaling.attach(attr, operands, g.count, g.groups == 1 ? 1 : 3, y_type);
  const Desc bias = fusion.starts_with_bias() ? dense({g.count}) : Desc();
  if (fusion.starts_with_bias()) operands.emplace_back(DNNL_ARG_BIAS, bias);
  g.type = Type::s8;
  const dnnl::convolution_forward::primitive_desc pd(
      engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, x,
      free_filter(g), bias, y, g.strides, g.dilations, g.before, g.after, attr);
  return plan_of<dnnl::convolution_forward>(pd, filter(g, windows.is_depthwise()),
                                            std::move(operands));
}

class QuantizedLayer {
 public:
  explicit QuantizedLayer(const Node& node)
      : is_product_(node.string("layer") == "MatMul"),
        out_(node.type("Tout")),
        windows_(node, 2, node.string("layer") == "DepthwiseConv2dNative"),
        fusion_(node, is_product_ ? Fusion::Bias::step : Fusion::Bias::own),
        grid_(node, out_),
        scaling_(node, grid_, out_) {}

  void compute(Call& call) {
    const Tensor x = call.input(0);
    const Tensor w = call.input(1);
    const Tensor scales = call.input(2);
    Geometry g{};
    const Dims result = is_product_ ? multiplied(x, w) : convolved(x, w, g);
    const Placed placed = place(result, g);
    require(scales.rank() == 1 && scales.count() == placed.channels,
            "there must be a scale for each channel");
    const std::vector<Tensor> more = fusion_.inputs(call, 3, result, placed);
    const Tensor y = call.output(0, result);
    if (y.count() == 0) return;
    const bool attaches = fusion_.attached() == fusion_.size() && x.count() != 0 && w.count() != 0;
    const bool in_floats = out_ != TF_FLOAT && !attaches;
    const Tensor made = in_floats ? y.with(TF_FLOAT, call.scratch<float>(y.count())) : y;
    if (x.count() == 0 || w.count() == 0) {
      clear(made);
      fusion_.finish(call, more, made, placed, 0);
    } else {
      run(call, x, w, scales, made, g, more);
      fusion_.finish(call, more, made, placed, fusion_.attached());
    }
    if (in_floats) put(made, y);
  }

 private:
  static Dims multiplied(const Tensor& x, const Tensor& w) {
    require(x.rank() >= 2 && w.rank() == 2 && x.dim(x.rank() - 1) == w.dim(0),
            "the filter must be a matrix with a row for each element of the input's rows");
    Dims out(x.dims().begin(), x.dims().end());
    out.back() = w.dim(1);
    return out;
  }

  Dims convolved(const Tensor& x, const Tensor& w, Geometry& g) const {
    g = windows_.place(x.dims(), w.dims());
    return g.output(windows_.channels_first());
  }

  Placed place(const Dims& result, const Geometry& g) const {
    if (is_product_) {
      return {product(DimsView(result).first(result.size() - 1)), result.back(), 1};
    }
    const std::int64_t area = product(g.out);
    const bool first = windows_.channels_first();
    return {first ? g.batch : g.batch * area, g.count, first ? area : 1};
  }

  void run(const Call& call, const Tensor& x, const Tensor& w, const Tensor& scales,
           const Tensor& y, const Geometry& g, const std::vector<Tensor>& more) {
    const Type x_type = small_type(x.dtype());
    const Type y_type = small_type(y.dtype());
    const std::int64_t inner = x.dim(x.rank() - 1);
    const std::int64_t work = is_product_ ? 2 * y.count() * inner : g.operations();
    Key key;
    // Four times as many in an instruction as of floats.
    key << x.dims() << w.dims() << threads_for(work / 4, x.count() + w.count() + y.count());
    plans_.with(
        key,
        [&] {
          if (!is_product_) {
            Geometry lying = g;
            lying.lie_down();
            return plan_convolution(lying, windows_, x_type, y_type, scaling_, fusion_);
          }
          return plan_product({x.count() / inner, inner, w.dim(1)}, x_type, y_type, scaling_,
                              fusion_);
        },
        [&](const Plan& plan) {
          const Packed weights = weights_.packed(call, 1, w, *plan.packing);
          std::vector<Operand> operands = fusion_.operands(call, more, fusion_.attached());
          scaling_.add_operands(operands, scales.data(), y_type != Type::f32);
          plan.primitive->run(call,
                              {{DNNL_ARG_SRC, x.data()},
                               {DNNL_ARG_WEIGHTS, weights.get()},
                               {DNNL_ARG_DST, y.data()}},
                              operands);
        });
  }

  void put(const Tensor& from, const Tensor& to) const {
    const auto* x = from.as<float>();
    if (out_ == TF_UINT8) grid_.put<false>(x, to.count(), to.write<std::uint8_t>());
    else grid_.put<false>(x, to.count(), to.write<std::int8_t>());
  }

  bool is_product_;
  TF_DataType out_;
  Windows windows_;
  Fusion fusion_;
  Grid grid_;
  Scaling scaling_;
  Plans<Plan> plans_;
  Weights weights_;
};

}  // namespace

void list_quantized(std::vector<Entry>& out) {
  out.push_back(entry<QuantizedLayer>("Drystone>QuantizedLayer", false));
}

}  // namespace drystone::cpu::dnnl_part
