// Layers: products, convolutions, pooling, normalization, resizing.
#include <algorithm>

#include "rules.h"

namespace drystone::gpu {
namespace {

// ---- Windows ---------------------------------------------------------------------------------

// One dimension of a window: how much is padded in front, and how many there are.
struct Along {
  std::int64_t before, count;
};

Along along(std::string_view padding, std::int64_t size, std::int64_t filter, std::int64_t stride,
            std::int64_t dilation, std::int64_t before, std::int64_t after) {
  const std::int64_t reach = (filter - 1) * dilation + 1;
  if (padding == "SAME") {
    const std::int64_t count = (size + stride - 1) / stride;
    return {std::max<std::int64_t>((count - 1) * stride + reach - size, 0) / 2, count};
  }
  return {before, std::max<std::int64_t>((size + before + after - reach) / stride + 1, 0)};
}

struct Around {
  std::int64_t top = 0, low = 0, left = 0, right = 0;
};

// The window of a layer over [batch, height, width, channels] by its attributes.
Window window_of(const Building& b, const Dims& from, std::int64_t filter_h, std::int64_t filter_w,
                 Around around) {
  if (from.size() != 4) throw Refused("no pictures");
  const std::vector<std::int64_t> strides = b.integers("strides");
  std::vector<std::int64_t> dilations = b.integers("dilations");
  const std::vector<std::int64_t> pads = b.integers("explicit_paddings");
  if (dilations.size() != 4) dilations = {1, 1, 1, 1};
  if (strides.size() != 4 || strides[0] != 1 || strides[3] != 1)
    throw Refused("strides over channels");
  if (strides[1] < 1 || strides[2] < 1 || dilations[1] < 1 || dilations[2] < 1 || filter_h < 1 ||
      filter_w < 1) {
    throw Refused("a window of no size");
  }
  if (b.text("padding", "") == "EXPLICIT" && pads.size() == 8)
    around = {pads[2], pads[3], pads[4], pads[5]};
  if (std::min({around.top, around.low, around.left, around.right}) < 0) {
    throw Refused("padding below 0");
  }
  const auto reach_h = (filter_h - 1) * dilations[1] + 1,
             reach_w = (filter_w - 1) * dilations[2] + 1;
  const bool same = b.text("padding", "") == "SAME";
  if (!same && (from[1] + around.top + around.low < reach_h ||
                from[2] + around.left + around.right < reach_w)) {
    throw Refused("a window larger than the picture");
  }
  const Along down = along(b.text("padding", ""), from[1], filter_h, strides[1], dilations[1],
                           around.top, around.low);
  const Along over = along(b.text("padding", ""), from[2], filter_w, strides[2], dilations[2],
                           around.left, around.right);
  const auto small = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  return {small(from[0]),      small(from[1]),     small(from[2]),    small(from[3]),
          small(down.count),   small(over.count),  small(from[3]),    small(filter_h),
          small(filter_w),     small(strides[1]),  small(strides[2]), small(dilations[1]),
          small(dilations[2]), small(down.before), small(over.before)};
}

Dims shape_of(const Window& w, std::int32_t channels) {
  return {w.batch, w.out_height, w.out_width, channels};
}

// The picture before zeros were put around it, where that is what the value is.
int without_zeros(Building& b, int value, Around* around) {
  if (b.text("padding", "") != "VALID") return value;
  for (const Operation& op : b.graph.operations) {
    const auto* moves = std::get_if<Moves>(&op.detail);
    if (op.out != value || moves == nullptr || !moves->fills || moves->fill != 0) continue;
    const Dims &from = b.graph.at(op.in[0]).dims, &to = b.graph.at(value).dims;
    if (from.size() != 4 || from[0] != to[0] || from[3] != to[3] || to[3] == 0) return value;
    const std::int64_t row = to[2] * to[3], first = moves->parts[0].to_first;
    if (first % to[3] != 0) return value;
    around->top = first / row;
    around->left = first % row / to[3];
    around->low = to[1] - from[1] - around->top;
    around->right = to[2] - from[2] - around->left;
    return op.in[0];
  }
  return value;
}

void convolution(Building& b) {
  const Dims filter = b.dims(1);
  if (filter.size() != 4) throw Refused("a filter of other rank");
  Around around;
  const int picture = without_zeros(b, b.in[0], &around);
  Layer layer = {};
  layer.kind = LayerKind::convolution;
  layer.window = window_of(b, b.graph.at(picture).dims, filter[0], filter[1], around);
  Window& w = layer.window;
  if (filter[2] == 0 || w.channels % filter[2] != 0) throw Refused("a filter of other channels");
  layer.groups = static_cast<std::int32_t>(w.channels / filter[2]);
  w.out_channels = static_cast<std::int32_t>(filter[3]);
  if (w.out_channels % layer.groups != 0) throw Refused("groups that leave a rest");
  layer.channels = w.out_channels;
  b.out[0] = b.graph.add(layer, {picture, b.in[1]}, b.type(0), shape_of(w, w.out_channels));
}

void depthwise(Building& b) {
  const Dims filter = b.dims(1);
  if (filter.size() != 4) throw Refused("a filter of other rank");
  Around around;
  const int picture = without_zeros(b, b.in[0], &around);
  Layer layer = {};
  layer.kind = LayerKind::depthwise;
  layer.window = window_of(b, b.graph.at(picture).dims, filter[0], filter[1], around);
  Window& w = layer.window;
  if (filter[2] != w.channels) throw Refused("a filter of other channels");
  w.out_channels = static_cast<std::int32_t>(filter[2] * filter[3]);
  layer.channels = w.out_channels;
  b.out[0] = b.graph.add(layer, {picture, b.in[1]}, b.type(0), shape_of(w, w.out_channels));
}

void transposed(Building& b) {
  const Dims sizes = b.graph.whole(b.in[0]), filter = b.dims(1), given = b.dims(2);
  if (sizes.size() != 4 || filter.size() != 4 || given.size() != 4) throw Refused("no pictures");
  Layer layer = {};
  layer.kind = LayerKind::transposed;
  layer.window = window_of(b, sizes, filter[0], filter[1], {});
  Window& w = layer.window;
  w.out_channels = static_cast<std::int32_t>(filter[3]);
  if (shape_of(w, w.out_channels) != given || filter[2] != w.channels)
    throw Refused("a gradient of other shape");
  layer.channels = w.channels;
  b.out[0] = b.graph.add(layer, {b.in[2], b.in[1]}, b.type(2), sizes);
}

void pool(Building& b) {
  const std::vector<std::int64_t> sizes = b.integers("ksize");
  if (sizes.size() != 4 || sizes[0] != 1 || sizes[3] != 1) throw Refused("a pool over channels");
  Pools detail = {};
  detail.pooling = b.op() == "AvgPool" ? Pooling::average : Pooling::max;
  Around around;
  const int picture = without_zeros(b, b.in[0], &around);
  detail.with_edges = picture != b.in[0];
  detail.window = window_of(b, b.graph.at(picture).dims, sizes[1], sizes[2], around);
  const Dims dims = shape_of(detail.window, detail.window.channels);
  b.out[0] = b.graph.add(detail, {picture}, b.type(0), dims);
}

// ---- Products --------------------------------------------------------------------------------

void product(Building& b) {
  const Dims a = b.dims(0), c = b.dims(1);
  if (a.size() < 2 || c.size() < 2) throw Refused("no matrices");
  const bool batched = b.op() != "MatMul";
  Layer layer = {};
  layer.kind = LayerKind::product;
  Product& p = layer.product;
  p.transpose_a = b.flag(batched ? "adj_x" : "transpose_a");
  p.transpose_b = b.flag(batched ? "adj_y" : "transpose_b");
  p.type = b.type(0);
  const Dims batch_a(a.begin(), a.end() - 2), batch_c(c.begin(), c.end() - 2);
  Dims dims = broadcast({batch_a, batch_c});
  const std::int64_t count = count_of(dims), count_a = count_of(batch_a),
                     count_c = count_of(batch_c);
  if ((count_a != count && count_a != 1) || (count_c != count && count_c != 1)) {
    throw Refused("batches that are repeated in part");
  }
  p.batch = count;
  p.rows = a[a.size() - (p.transpose_a ? 1 : 2)];
  p.inner = a[a.size() - (p.transpose_a ? 2 : 1)];
  p.columns = c[c.size() - (p.transpose_b ? 2 : 1)];
  if (c[c.size() - (p.transpose_b ? 1 : 2)] != p.inner) throw Refused("matrices that do not fit");
  p.a_step = count_a == 1 ? 0 : p.rows * p.inner;
  p.b_step = count_c == 1 ? 0 : p.inner * p.columns;
  layer.channels = p.columns;
  dims.insert(dims.end(), {p.rows, p.columns});
  b.out[0] = b.graph.add(layer, {b.in[0], b.in[1]}, b.type(0), dims);
}

// ---- Others ----------------------------------------------------------------------------------

// x * scale + shift with numbers that are computed once; layers in front take both in.
void batch_norm(Building& b) {
  const Type type = b.type(0), own = b.type(1);
  if (b.dims(0).size() != 4 || b.dims(1) != Dims{b.dims(0)[3]}) throw Refused("no pictures");
  const int least = b.number(own, static_cast<double>(b.real("epsilon", 1e-4f)));
  const int variance = b.compute(Code::add, {b.in[4], least}, own);
  const int deviation = b.compute(Code::rsqrt, {variance}, own);
  const int scale = b.compute(Code::mul, {b.in[1], deviation}, own);
  const int away = b.compute(Code::mul, {b.in[3], scale}, own);
  const int shift = b.compute(Code::sub, {b.in[2], away}, own);
  const int scaled = b.compute(Code::mul, {b.in[0], scale}, type);
  b.out[0] = b.compute(Code::add, {scaled, shift}, type);
  for (std::size_t k = 1; k < b.out.size(); ++k) b.out[k] = b.in[k % 2 == 1 ? 3 : 4];
}

void resize(Building& b) {
  const Dims from = b.dims(0);
  const std::vector<std::int64_t> size = b.graph.whole(b.in[1]);
  if (from.size() != 4 || size.size() != 2 || size[0] < 1 || size[1] < 1 || from[1] < 1 ||
      from[2] < 1) {
    throw Refused("no pictures");
  }
  Resizes detail = {};
  Resize& r = detail.resize;
  const auto small = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  r = {small(from[1]),          small(from[2]), small(from[3]), small(size[0]),
       small(size[1]),          0.0f,           0.0f,           b.flag("half_pixel_centers"),
       b.flag("align_corners"), b.type(0),      Type::f32};
  detail.how = b.op() == "ResizeBilinear" ? Resizing::linear : Resizing::nearest;
  if (detail.how == Resizing::nearest) r.out_type = b.type(0);
  const auto scale = [&r](std::int32_t in, std::int32_t out) {
    return r.align_corners && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                      : static_cast<float>(in) / static_cast<float>(out);
  };
  r.scale_h = scale(r.height, r.out_height);
  r.scale_w = scale(r.width, r.out_width);
  const Type type = r.out_type;
  b.out[0] = b.graph.add(detail, {b.in[0]}, type, {from[0], size[0], size[1], from[3]});
}

std::string only_nhwc(const sdk::NodeView& node) {
  const auto format = node.attr("data_format").string();
  return format.has_value() && *format != "NHWC" ? "channels in front" : "";
}

std::string only_inference(const sdk::NodeView& node) {
  if (node.attr("is_training").boolean().value_or(true)) return "it trains";
  return only_nhwc(node);
}

}  // namespace

std::vector<Rule> layer_rules() {
  return {
      {"MatMul", product, kFloats, 0, nullptr, true},
      {"BatchMatMul", product, kFloats, 0, nullptr, true},
      {"BatchMatMulV2", product, kFloats, 0, nullptr, true},
      {"Conv2D", convolution, kFloats, 0, only_nhwc, true},
      {"DepthwiseConv2dNative", depthwise, kFloats, 0, only_nhwc, true},
      {"Conv2DBackpropInput", transposed, kFloats, 1, only_nhwc, true},
      {"MaxPool", pool, kFloats, 0, only_nhwc},
      {"AvgPool", pool, kFloats, 0, only_nhwc},
      {"FusedBatchNorm", batch_norm, kFloats, 0, only_inference},
      {"FusedBatchNormV2", batch_norm, kFloats, 0, only_inference},
      {"FusedBatchNormV3", batch_norm, kFloats, 0, only_inference},
      {"ResizeBilinear", resize, kFloats, 2},
      {"ResizeNearestNeighbor", resize, kFloats, 2},
  };
}

}  // namespace drystone::gpu
