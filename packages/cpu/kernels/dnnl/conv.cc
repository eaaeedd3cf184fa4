// Convolutions, with what is fused to them.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/stored.h"
#include "dnnl/im2col.h"
#include "dnnl/entry.h"
#include "dnnl/fusion.h"
#include "dnnl/nan_watch.h"
#include "dnnl/packed_gemv.h"
#include "dnnl/planes.h"
#include "dnnl/weights.h"
#include "dnnl/window.h"

namespace drystone::cpu::dnnl_part {
namespace {

struct Plan {
  std::unique_ptr<Primitive> primitive;
  std::unique_ptr<Packing> packing;
  bool is_reference = false;
  std::unique_ptr<Im2col> columns;  // the primitive is of their rows
  std::unique_ptr<Plan> rest;        // of the rows that are left
  std::unique_ptr<ChannelsLast> turns;      // the primitive is of channels last, and nothing is fused to it
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

// How a convolution is to be done, apart from its shapes.
struct How {
  bool channels_first;
  bool is_depthwise;
  bool in_place;
  const Fusion* fusion;  // NULL: nothing is fused
  std::size_t done;      // how many of its steps
};

std::unique_ptr<Plan> plan_as_it_is(const Geometry& g, const How& how) {
  const Desc x = image(g, g.spatial, g.channels, how.channels_first);
  const Desc y = image(g, g.out, g.count, how.channels_first);
  std::vector<std::pair<int, Desc>> operands;
  dnnl::primitive_attr attr = attributes();
  Shape channel(g.spatial.size() + 2, 1);
  channel[1] = g.count;
  if (how.fusion != nullptr) how.fusion->attach(attr, operands, channel, y, how.done, how.in_place);
  const bool has_bias = how.fusion != nullptr && how.fusion->has_own_bias();
  const Desc bias = has_bias ? dense({g.count}, g.type) : Desc();
  const Forward pd = choose([&] {
    return Forward(engine(), dnnl::prop_kind::forward_inference,
                   dnnl::algorithm::convolution_direct, x, free_filter(g), bias, y, g.strides,
                   g.dilations, g.before, g.after, attr);
  });
  if (has_bias) operands.emplace_back(DNNL_ARG_BIAS, bias);
  operands.insert(operands.end(),
                  {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, pd.weights_desc()}, {DNNL_ARG_DST, y}});
  auto plan = std::make_unique<Plan>();
  plan->is_reference = is_reference(pd.impl_info_str());
  plan->packing = std::make_unique<Packing>(filter(g, how.is_depthwise), pd.weights_desc());
  plan->primitive = std::make_unique<Primitive>(dnnl::convolution_forward(pd), std::move(operands),
                                                pd.scratchpad_desc());
  return plan;
}

// By rows of windows. NULL where that has only reference code, too.
std::unique_ptr<Plan> plan_columns(const Geometry& g, How how) {
  how.is_depthwise = false;  // the filter's order in memory is the same
  auto columns = std::make_unique<Im2col>(g);
  auto plan = plan_as_it_is(columns->of(columns->at_once()), how);
  if (plan->is_reference) return nullptr;
  const std::int64_t left = columns->places() % columns->at_once();
  if (left != 0) plan->rest = plan_as_it_is(columns->of(left), how);
  plan->columns = std::move(columns);
  return plan;
}

std::unique_ptr<Plan> make_plan(const Geometry& g, const How& how) {
  auto plan = plan_as_it_is(g, how);
  if (!plan->is_reference) return plan;
  if (!how.channels_first) {
    auto other = plan_columns(g, how);
    return other != nullptr ? std::move(other) : std::move(plan);
  }
  auto other = make_plan(g, {false, how.is_depthwise, false, nullptr, 0});
  if (other->is_reference) return plan;
  other->turns = std::make_unique<ChannelsLast>(g);
  return other;
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

// [outer, depth + 1, inner] of [outer, depth, inner], zeros behind each.
void add_zeros(const std::uint16_t* from, std::int64_t outer, std::int64_t depth,
               std::int64_t inner, std::uint16_t* to) {
  for (std::int64_t k = 0; k < outer; ++k) {
    to = std::copy_n(from + k * depth * inner, depth * inner, to);
    to = std::fill_n(to, inner, std::uint16_t{0});
  }
}

// What a convolution reads.
struct Source {
  const void* x;
  const void* w;  // NULL: the input as it is
};

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
    Geometry g = windows_.place(x.dims(), w.dims(), Empty::allowed);
    g.type = type_of(x.dtype());
    const bool first = windows_.channels_first();
    const Dims result = g.output(first);
    check_elements(x, w, g, product(result));
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
    if (Planes::suits(g, first, windows_.is_depthwise(), Planes::Way::forward))
      return run_planes(call, x, w, y, g, more, placed);
    run(call, x, w, y, g, more, placed);
  }

 private:
  // Fails where the reference refuses a filter without elements, or an image without channels.
  void check_elements(const Tensor& x, const Tensor& w, const Geometry& g, std::int64_t results) const {
    if (windows_.is_depthwise()) return;
    require(w.count() > 0 || (kSpatial == 2 && (x.count() == 0 || results == 0)),
            "the filter must have elements");
    require(g.channels > 0 || kSpatial == 2 || results == 0, "the input must have channels");
  }

  // Whether it is one row times a matrix: one place of one example, as layers after a global mean have.
  bool is_row(const Call& call, const Tensor& x, const Geometry& g) const {
    return x.count() == g.channels && g.batch * product(g.out) * product(g.size) == 1 &&
           std::ranges::all_of(g.before, [](std::int64_t zeros) { return zeros == 0; }) &&
           g.groups == 1 && x.dtype() == TF_FLOAT &&
           call.is_constant(1) && fusion_.is_light(g.count) && has_gemv();
  }

  void run_row(const Call& call, const Tensor& x, const Tensor& w, const Tensor& y,
               const std::vector<Tensor>& more, const Placed& placed) {
    const bool has_bias = fusion_.starts_with_bias();
    const int threads = threads_for(2 * w.count(), x.count() + w.count() + y.count());
    rows_.run(call, 1, w, {x.count(), y.count()}, x.as<float>(),
              has_bias ? more[0].as<float>() : nullptr, y.write<float>(), threads);
    fusion_.finish(call, more, y, placed, has_bias ? 1 : 0);
  }

  void run_planes(const Call& call, const Tensor& x, const Tensor& w, const Tensor& y,
                  const Geometry& g, const std::vector<Tensor>& more, const Placed& placed) {
    const std::vector<Tensor> kept = is_in_place(y, more) ? saved(call, more, y) : more;
    Clamp after;
    const std::size_t done = fusion_.clamp(kept, &after);
    const auto* filter = static_cast<const float*>(loaded(call, 1, w));
    Key key;
    key << x.dims() << w.dims();
    planes_.with(
        key, [&] { return std::make_unique<Planes>(g, Planes::Way::forward); },
        [&](const Planes& planes) { planes.run(x.as<float>(), filter, after, y.write<float>()); });
    fusion_.finish(call, kept, y, placed, done);
  }

  void run(const Call& call, const Tensor& x, const Tensor& w, const Tensor& y, Geometry& g,
           std::vector<Tensor> more, const Placed& placed) {
    const int threads = threads_for(g.operations(), x.count() + w.count() + y.count());
    const Source source = source_of(call, x, w, g);
    Geometry lying = g;
    lying.lie_down();
    const auto with_plan = [&](std::size_t done, bool in_place, const auto& body) {
      Key key;
      key << x.dims() << w.dims() << g.channels << threads << static_cast<std::int64_t>(done)
          << (in_place ? 1 : 0);
      const How how{windows_.channels_first(), windows_.is_depthwise(), in_place, &fusion_, done};
      plans_.with(key, [&] { return make_plan(lying, how); }, body);
    };
    bool in_place = is_in_place(y, more);
    const std::vector<std::size_t>& hiding = fusion_.hiding();
    if (in_place && !hiding.empty() && !is_finite(y)) {  // it will be asked for once more
      more = saved(call, more, y);
      in_place = false;
    }
    with_plan(fusion_.attached(), in_place, [&](const Plan& plan) {
      if (plan.turns != nullptr) return run_turned(call, plan, source, w, y, more, placed, in_place);
      const auto fused = [&](const Plan& made, void* to, std::size_t done, bool adds) {
        run_fused(call, made, source, w, static_cast<char*>(to), {&more, done, adds});
      };
      if (hiding.empty()) {
        fused(plan, y.write<void>(), fusion_.attached(), in_place);
      } else {
        const NanWatch watch;
        fused(plan, y.write<void>(), fusion_.attached(), in_place);
        if (watch.saw()) {
          void* before = call.scratch<char>(bytes_of(y));
          for (const std::size_t step : hiding) {
            const std::size_t done = in_place ? step - 1 : step;  // finite numbers add no NaN
            with_plan(done, false, [&](const Plan& other) { fused(other, before, done, false); });
            mark_nan(y, before);
          }
        }
      }
      fusion_.finish(call, more, y, placed, fusion_.attached());
    });
  }

  void run_turned(const Call& call, const Plan& plan, const Source& source, const Tensor& w,
                  const Tensor& y, const std::vector<Tensor>& more, const Placed& placed,
                  bool in_place) {
    const std::vector<Tensor> kept = in_place ? saved(call, more, y) : more;
    const ChannelsLast& turns = *plan.turns;
    const Source last{ChannelsLast::last(call, turns.x(), source.x), source.w};
    void* made = ChannelsLast::room(call, turns.y());
    run_fused(call, plan, last, w, static_cast<char*>(made), {});
    ChannelsLast::back(call, turns.y_back(), made, y.write<void>());
    fusion_.finish(call, kept, y, placed, 0);
  }

  Source source_of(const Call& call, const Tensor& x, const Tensor& w, Geometry& g) const {
    if (windows_.is_depthwise()) return {repeated(call, x, g), nullptr};
    // Elements of 16 bits are multiplied in pairs: oneDNN multiplies the last of an odd number of
    // channels, and the next place's first one by zero, which makes NaN of what is not finite.
    if (g.type == Type::f32 || g.depth % 2 == 0 || is_finite(x)) return {x.data(), nullptr};
    const std::int64_t inner = windows_.channels_first() ? product(g.spatial) : 1;
    const std::int64_t outer = x.count() / (g.depth * inner);
    auto* image = call.scratch<std::uint16_t>(outer * (g.depth + 1) * inner);
    add_zeros(x.as<std::uint16_t>(), outer, g.depth, inner, image);
    auto* filters = call.scratch<std::uint16_t>(w.count() / g.depth * (g.depth + 1));
    const auto* given = static_cast<const std::uint16_t*>(loaded(call, 1, w));
    add_zeros(given, product(g.size), g.depth, g.count, filters);
    ++g.depth;
    g.channels += g.groups;
    return {image, filters};
  }

  // The input, each channel as often as a depthwise convolution has filters for it.
  const void* repeated(const Call& call, const Tensor& x, Geometry& g) const {
    if (g.count == g.channels) return x.data();
    const std::int64_t times = g.count / g.channels;
    const std::int64_t inner = windows_.channels_first() ? product(g.spatial) : 1;
    auto* wide = call.scratch<float>(x.count() * times);
    (g.type == Type::f32 ? repeat_channels<float> : repeat_channels<std::uint16_t>)(
        x.data(), x.count() / inner, inner, times, wide);
    g.channels = g.groups = g.count;
    return wide;
  }

  // What is fused, with memory of its own for what the result takes the place of.
  std::vector<Tensor> saved(const Call& call, std::vector<Tensor> more, const Tensor& y) const {
    const std::int64_t bytes = bytes_of(y);
    auto* room = call.scratch<char>(bytes);
    std::memcpy(room, y.data(), static_cast<std::size_t>(bytes));
    Tensor& added = more[static_cast<std::size_t>(fusion_.first_added(0))];
    added = added.with(added.dtype(), room);
    return more;
  }

  // Inputs of what is fused, how many steps there are, and whether the first sum is in place.
  struct Fused {
    const std::vector<Tensor>* more = nullptr;  // NULL: nothing is fused
    std::size_t done = 0;
    bool in_place = false;
  };

  // The primitive, in turn on the rows of some places.
  void run_fused(const Call& call, const Plan& plan, const Source& source, const Tensor& w, char* y,
                 const Fused& fused) {
    const Im2col* columns = plan.columns.get();
    if (columns == nullptr) return run_one(call, plan, source, w, y, fused, 0);
    const std::int64_t size = is_narrow(w.dtype()) ? 2 : 4;
    const std::int64_t each = columns->at_once();
    auto* rows = call.scratch<char>(each * columns->width() * size);
    const std::int64_t channels = columns->of(1).count;
    for (std::int64_t k = 0; k < columns->places(); k += each) {
      const std::int64_t now = std::min(each, columns->places() - k);
      columns->gather(source.x, k, now, rows);
      run_one(call, now == each ? plan : *plan.rest, {rows, source.w}, w, y + k * channels * size,
              fused, k * channels);
    }
  }

  void run_one(const Call& call, const Plan& plan, const Source& source, const Tensor& w, void* y,
               const Fused& fused, std::int64_t first) {
    const Packed weights =
        source.w == nullptr ? weights_.packed(call, 1, w, *plan.packing) : Packed();
    const void* packed = source.w == nullptr ? weights.get() : plan.packing->made(call, source.w);
    plan.primitive->run(
        call, {{DNNL_ARG_SRC, source.x}, {DNNL_ARG_WEIGHTS, packed}, {DNNL_ARG_DST, y}},
        fused.more == nullptr
            ? std::vector<Operand>()
            : fusion_.operands(call, *fused.more, fused.done, fused.in_place, first));
  }

  // Whether the result took over the memory of what is added first.
  bool is_in_place(const Tensor& y, const std::vector<Tensor>& more) const {
    const int added = fusion_.first_added(0);
    return added >= 0 && more[static_cast<std::size_t>(added)].data() == y.data();
  }

  Windows windows_;
  Fusion fusion_;
  Plans<Plan> plans_;
  Plans<Planes> planes_;
  Weights weights_;
  PackedGemv rows_;
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
