// Geometry of convolutions: see dnnl/window.h.
#include "dnnl/window.h"

#include <algorithm>

namespace drystone::cpu::dnnl_part {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 40;  // of an attribute: sums stay in range

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

bool in_range(std::int64_t value) { return value > 0 && value < kLargest; }

}  // namespace

Dims Geometry::dims(const Dims& inner, std::int64_t channel, bool channels_first) const {
  Dims result{batch};
  if (channels_first) result.push_back(channel);
  result.insert(result.end(), inner.begin(), inner.end());
  if (!channels_first) result.push_back(channel);
  return result;
}

void Geometry::lie_down() {
  std::size_t to = 0;
  for (std::size_t k = 0; k < spatial.size(); ++k) {
    if (spatial[k] != 1 || size[k] != 1 || out[k] != 1 || before[k] + after[k] != 0) continue;
    strides[k] = 1;
    dilations[k] = 0;
    const auto move = [&](auto& values) {
      std::rotate(values.begin() + static_cast<std::ptrdiff_t>(to),
                  values.begin() + static_cast<std::ptrdiff_t>(k),
                  values.begin() + static_cast<std::ptrdiff_t>(k) + 1);
    };
    move(spatial), move(size), move(out);
    move(strides), move(dilations), move(before), move(after);
    ++to;
  }
}

Windows::Windows(const Node& node, std::size_t spatial, bool is_depthwise)
    : spatial_(spatial),
      is_depthwise_(is_depthwise),
      channels_first_(node.has("data_format") && node.string("data_format").starts_with("NC")),
      padding_(node.string("padding")),
      strides_(node.integers("strides")),
      dilations_(node.integers("dilations")) {
  if (node.has("explicit_paddings")) explicit_ = node.integers("explicit_paddings");
}

void Windows::check() const {
  const std::size_t rank = spatial_ + 2;
  require(strides_.size() == rank, "strides must have one entry per dimension");
  require(dilations_.size() == rank, "dilations must have one entry per dimension");
  const std::size_t channel = channels_first_ ? 1 : rank - 1;
  for (const std::size_t outer : {std::size_t{0}, channel}) {
    require(strides_[outer] == 1 && dilations_[outer] == 1,
            "strides and dilations in the batch and channel dimensions must be 1");
  }
  for (std::size_t k = 0; k < rank; ++k) {
    require(in_range(strides_[k]) && in_range(dilations_[k]),
            "windows, strides and dilations must be positive");
  }
  if (padding_ != "EXPLICIT") {
    require(explicit_.empty(), "explicit_paddings needs padding EXPLICIT");
    return;
  }
  require(explicit_.size() == 2 * rank, "explicit_paddings must hold a pair per dimension");
  for (const std::int64_t value : explicit_) {
    require(value >= 0 && value < kLargest, "explicit_paddings must not be negative");
  }
}

void Windows::slide(Geometry& g, std::size_t k, Empty empty) const {
  const std::size_t axis = k + (channels_first_ ? 2 : 1);
  const std::int64_t stride = strides_[axis];
  const std::int64_t dilation = dilations_[axis];
  require(in_range(g.size[k]) || (g.size[k] == 0 && empty == Empty::allowed),
          "windows, strides and dilations must be positive");
  std::int64_t extent = 0;
  require(!__builtin_mul_overflow(g.size[k] - 1, dilation, &extent) && extent < 4 * kLargest - 1,
          "the window is too large");
  ++extent;
  std::int64_t count = 0;
  std::int64_t before = 0;
  std::int64_t after = 0;
  if (padding_ == "SAME") {
    count = (g.spatial[k] + stride - 1) / stride;
    const std::int64_t total =
        std::max<std::int64_t>((count - 1) * stride + extent - g.spatial[k], 0);
    before = total / 2;
    after = total - before;
  } else {
    if (padding_ == "EXPLICIT") {
      before = explicit_[2 * axis];
      after = explicit_[2 * axis + 1];
    }
    count = floor_divide(g.spatial[k] + before + after - extent, stride) + 1;
  }
  require(count >= 0, "computed output size would be negative");
  g.out.push_back(count);
  g.strides.push_back(stride);
  g.dilations.push_back(dilation - 1);
  g.before.push_back(before);
  g.after.push_back(after);
}

Geometry Windows::place(DimsView input, DimsView filter, Empty empty) const {
  const std::size_t rank = spatial_ + 2;
  require(input.size() == rank, "the input must have the rank of the convolution");
  require(filter.size() == rank, "the filter must have the rank of the convolution");
  Geometry g{};
  g.batch = input[0];
  g.channels = input[channels_first_ ? 1 : rank - 1];
  const std::int64_t depth = filter[rank - 2];
  const std::int64_t last = filter[rank - 1];
  if (is_depthwise_) {
    require(depth == g.channels, "the filter must have the input's channels");
    g.groups = g.channels;
    g.depth = 1;
    require(!__builtin_mul_overflow(depth, last, &g.count), "the filter is too large");
  } else {
    require(
        (g.channels > 0 || empty == Empty::allowed) && depth > 0 && g.channels % depth == 0 &&
            last % std::max<std::int64_t>(g.channels / depth, 1) == 0,
        "input channels must be a multiple of the filter's, and its outputs of the groups");
    g.groups = g.channels / depth;
    g.depth = depth;
    g.count = last;
  }
  check();
  for (std::size_t k = 0; k < spatial_; ++k) {
    g.spatial.push_back(input[k + (channels_first_ ? 2 : 1)]);
    g.size.push_back(filter[k]);
  }
  for (std::size_t k = 0; k < spatial_; ++k) slide(g, k, empty);
  return g;
}

Desc image(const Geometry& g, const Dims& spatial, std::int64_t channels, bool channels_first) {
  Shape dims{g.batch, channels};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  if (channels_first) return dense(dims, g.type);
  Shape strides(dims.size(), 1);
  std::int64_t step = channels;
  for (std::size_t k = dims.size(); k-- > 2;) {
    strides[k] = step;
    step *= dims[k];
  }
  strides[0] = step;
  return {dims, g.type, strides};
}

namespace {

Shape filter_dims(const Geometry& g) {
  Shape dims{g.groups, g.count / g.groups, g.depth};
  dims.insert(dims.end(), g.size.begin(), g.size.end());
  if (g.groups == 1) dims.erase(dims.begin());
  return dims;
}

}  // namespace

Desc filter(const Geometry& g, bool is_depthwise) {
  // In memory [size, depth, groups, count of a group]; of a depthwise one [size, groups,
  // multiplier].
  const std::int64_t each = g.count / g.groups;
  Shape strides{each, 1, is_depthwise ? 1 : g.count};
  std::int64_t step = g.count * g.depth;
  Shape inner(g.size.size());
  for (std::size_t k = inner.size(); k-- > 0;) {
    inner[k] = step;
    step *= g.size[k];
  }
  strides.insert(strides.end(), inner.begin(), inner.end());
  if (g.groups == 1) strides.erase(strides.begin());
  return {filter_dims(g), g.type, strides};
}

Desc free_filter(const Geometry& g) { return any(filter_dims(g), g.type); }

}  // namespace drystone::cpu::dnnl_part
