// Layers: convolutions, pooling, resizing.
#include <algorithm>

#include "joining.h"
#include "pictures.h"

namespace drystone::gpu {
namespace {

// ---- Windows ---------------------------------------------------------------------------------

// The picture before zeros were put around it, where that is what the value is.
int without_zeros(Building& b, int value, Around* around) {
  if (b.text("padding", "") != "VALID" || channels_in_front(b)) return value;
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
  const int picture = without_zeros(b, channels_last(b, b.in[0]), &around);
  Layer layer = {};
  layer.kind = LayerKind::convolution;
  layer.window = window_of(b, b.graph.at(picture).dims, filter[0], filter[1], around);
  Window& w = layer.window;
  if (filter[2] == 0 || w.channels % filter[2] != 0) throw Refused("a filter of other channels");
  layer.groups = static_cast<std::int32_t>(w.channels / filter[2]);
  w.out_channels = static_cast<std::int32_t>(filter[3]);
  if (w.out_channels % layer.groups != 0) throw Refused("groups that leave a rest");
  layer.channels = w.out_channels;
  const Dims dims = shape_of(w, w.out_channels);
  b.out[0] = as_given(b, b.graph.add(layer, {picture, b.in[1]}, b.type(0), dims));
}

void depthwise(Building& b) {
  const Dims filter = b.dims(1);
  if (filter.size() != 4) throw Refused("a filter of other rank");
  Around around;
  const int picture = without_zeros(b, channels_last(b, b.in[0]), &around);
  Layer layer = {};
  layer.kind = LayerKind::depthwise;
  layer.window = window_of(b, b.graph.at(picture).dims, filter[0], filter[1], around);
  Window& w = layer.window;
  if (filter[2] != w.channels) throw Refused("a filter of other channels");
  w.out_channels = static_cast<std::int32_t>(filter[2] * filter[3]);
  layer.channels = w.out_channels;
  const Dims dims = shape_of(w, w.out_channels);
  b.out[0] = as_given(b, b.graph.add(layer, {picture, b.in[1]}, b.type(0), dims));
}

// Of a convolution in groups, of which a depthwise one has one for each channel.
void transposed(Building& b) {
  const Dims filter = b.dims(1);
  const int gradient = channels_last(b, b.in[2]);
  const Dims given = b.graph.at(gradient).dims;
  if (filter.size() != 4 || given.size() != 4) throw Refused("no pictures");
  Dims sizes = b.numbers(0);
  if (sizes.size() == 2 && b.op() == "Conv2DBackpropInput") {  // rows and columns alone
    sizes = {given[0], sizes[0], sizes[1], filter[2]};
  } else {
    sizes = sizes_of(b, b.in[0]);
  }
  Layer layer = {};
  layer.kind = LayerKind::transposed;
  layer.window = window_of(b, sizes, filter[0], filter[1], {});
  Window& w = layer.window;
  const bool is_depthwise = b.op() != "Conv2DBackpropInput";
  if (filter[2] == 0 || w.channels % filter[2] != 0) throw Refused("a filter of other channels");
  layer.groups = static_cast<std::int32_t>(is_depthwise ? w.channels : w.channels / filter[2]);
  w.out_channels = static_cast<std::int32_t>(is_depthwise ? filter[2] * filter[3] : filter[3]);
  if (shape_of(w, w.out_channels) != given || w.out_channels % layer.groups != 0 ||
      (is_depthwise && filter[2] != w.channels)) {
    throw Refused("a gradient of other shape");
  }
  layer.channels = w.channels;
  b.out[0] = as_given(b, b.graph.add(layer, {gradient, b.in[1]}, b.type(2), sizes));
}

// The largest of each few channels.
void pool_channels(Building& b, std::int64_t few) {
  const std::vector<std::int64_t> sizes = b.integers("ksize"), strides = b.integers("strides");
  const bool alone = count_of(sizes) == few && strides == sizes;
  const Dims dims = b.dims(0);
  if (!alone || b.op() != "MaxPool" || channels_in_front(b) || dims.size() != 4 || dims[3] % few != 0)
    throw Unknown("a pool over channels and more");
  const int split = b.graph.reshaped(b.in[0], {dims[0], dims[1], dims[2], dims[3] / few, few});
  b.out[0] = joined(b, split, {false, false, false, false, true}, false, Join::max);
}

void pool(Building& b) {
  const std::vector<std::int64_t> sizes = b.integers("ksize");
  const std::size_t c = channels_in_front(b) ? 1 : 3;
  if (sizes.size() == 4 && sizes[c] > 1) return pool_channels(b, sizes[c]);
  Pools detail = {};
  detail.pooling = b.op() == "AvgPool" ? Pooling::average : Pooling::max;
  Around around;
  const int picture = without_zeros(b, channels_last(b, b.in[0]), &around);
  detail.with_edges = !channels_in_front(b) && picture != b.in[0];
  detail.window = pool_of(b, b.graph.at(picture).dims, around);
  const Dims dims = shape_of(detail.window, detail.window.channels);
  b.out[0] = as_given(b, b.graph.add(detail, {picture}, b.type(0), dims));
}

// ---- Others ----------------------------------------------------------------------------------

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
  if (detail.how == Resizing::linear && from[1] == size[0] && from[2] == size[1]) {
    b.out[0] = r.type == Type::f32 ? b.in[0] : b.compute(Code::same, {b.in[0]}, Type::f32);
    return;
  }
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

}  // namespace

std::vector<Rule> layer_rules() {
  return {
      {"Conv2D", convolution, kFloats, 0, known_format, true},
      {"DepthwiseConv2dNative", depthwise, kFloats, 0, known_format, true},
      {"Conv2DBackpropInput", transposed, kFloats, 1, known_format, true},
      {"DepthwiseConv2dNativeBackpropInput", transposed, kFloats, 1, known_format, true},
      {"MaxPool", pool, kFloats, 0, known_format},
      {"AvgPool", pool, kFloats, 0, known_format},
      {"ResizeBilinear", resize, kFloats, 2},
      {"ResizeNearestNeighbor", resize, kFloats, 2},
  };
}

}  // namespace drystone::gpu
