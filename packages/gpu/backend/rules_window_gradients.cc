// Gradients of layers over windows: filters and pools.
#include "pictures.h"

namespace drystone::gpu {
namespace {

// Rows of what each place of the result sees, in one product with the gradient.
// picture, filter's shape, gradient
void filter_gradient(Building& b) {
  const Dims filter = b.graph.whole(b.in[1]);
  const int picture = channels_last(b, b.in[0]), gradient = channels_last(b, b.in[2]);
  const Dims from = b.graph.at(picture).dims, given = b.graph.at(gradient).dims;
  if (filter.size() != 4 || from.size() != 4) throw Refused("no pictures");
  const Type type = b.type(0);
  Window w = window_of(b, from, filter[0], filter[1], {});
  w.out_channels = static_cast<std::int32_t>(filter[3]);
  if (filter[2] == 0 || from[3] % filter[2] != 0) throw Refused("a filter of other channels");
  if (shape_of(w, w.out_channels) != given) throw Refused("a gradient of other shape");
  if (filter[2] != from[3]) {
    const FilterGradients detail = {w, static_cast<std::int32_t>(from[3] / filter[2])};
    if (w.out_channels % detail.groups != 0) throw Refused("groups that leave a rest");
    b.out[0] = b.graph.add(detail, {picture, gradient}, type, filter);
    return;
  }
  const std::int64_t rows = given[0] * given[1] * given[2], length = filter[0] * filter[1] * from[3];
  const int seen = b.graph.add(Patches{w}, {picture}, type, {rows, length});
  Layer layer = {};
  layer.kind = LayerKind::product;
  layer.product = {1, length, filter[3], rows, length * rows, rows * filter[3], true, false, type,
                   w.tf32};
  layer.channels = filter[3];
  const int lines = b.graph.reshaped(gradient, {rows, filter[3]});
  const int sum = b.graph.add(layer, {seen, lines}, type, {length, filter[3]});
  b.out[0] = b.graph.reshaped(sum, filter);
}

// picture, filter's shape, gradient
void depthwise_filter_gradient(Building& b) {
  const Dims filter = b.graph.whole(b.in[1]);
  const int picture = channels_last(b, b.in[0]), gradient = channels_last(b, b.in[2]);
  const Dims from = b.graph.at(picture).dims;
  if (filter.size() != 4 || from.size() != 4) throw Refused("no pictures");
  FilterGradients detail = {window_of(b, from, filter[0], filter[1], {}), 1};
  detail.groups = detail.window.channels;
  detail.window.out_channels = static_cast<std::int32_t>(filter[2] * filter[3]);
  if (filter[2] != from[3] ||
      shape_of(detail.window, detail.window.out_channels) != b.graph.at(gradient).dims) {
    throw Refused("a gradient of other shape");
  }
  b.out[0] = b.graph.add(detail, {picture, gradient}, b.type(0), filter);
}

// picture, result, gradient
void max_pool_grad(Building& b) {
  const int picture = channels_last(b, b.in[0]), result = channels_last(b, b.in[1]);
  const int gradient = channels_last(b, b.in[2]);
  const Dims from = b.graph.at(picture).dims;
  const PoolGradients detail = {pool_of(b, from, {}), Pooling::max};
  const Dims dims = shape_of(detail.window, detail.window.channels);
  if (b.graph.at(gradient).dims != dims || b.graph.at(result).dims != dims) {
    throw Refused("a gradient of other shape");
  }
  b.out[0] = as_given(b, b.graph.add(detail, {gradient, picture, result}, b.type(0), from));
}

// picture's shape, gradient
void average_pool_grad(Building& b) {
  const Dims from = sizes_of(b, b.in[0]);
  const int gradient = channels_last(b, b.in[1]);
  const PoolGradients detail = {pool_of(b, from, {}), Pooling::average};
  if (b.graph.at(gradient).dims != shape_of(detail.window, detail.window.channels)) {
    throw Refused("a gradient of other shape");
  }
  b.out[0] = as_given(b, b.graph.add(detail, {gradient}, b.type(1), from));
}

}  // namespace

std::vector<Rule> window_gradient_rules() {
  return {
      {"Conv2DBackpropFilter", filter_gradient, kFloats, 2, known_format, true},
      {"DepthwiseConv2dNativeBackpropFilter", depthwise_filter_gradient, kFloats, 2, known_format,
       true},
      {"MaxPoolGrad", max_pool_grad, kFloats, 0, known_format},
      {"AvgPoolGrad", average_pool_grad, kFloats, 1, known_format},
  };
}

}  // namespace drystone::gpu
