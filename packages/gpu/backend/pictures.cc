#include "pictures.h"

#include <algorithm>

#include "moving.h"

namespace drystone::gpu {
namespace {

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

}  // namespace

bool channels_in_front(const Building& b) { return b.text("data_format", "") == "NCHW"; }

int channels_last(Building& b, int value) {
  if (!channels_in_front(b)) return value;
  if (b.graph.at(value).dims.size() != 4) throw Refused("no pictures");
  return turned(b, value, {0, 2, 3, 1});
}

int as_given(Building& b, int value) {
  return channels_in_front(b) ? turned(b, value, {0, 3, 1, 2}) : value;
}

Window window_of(const Building& b, const Dims& from, std::int64_t filter_h, std::int64_t filter_w,
                 Around around) {
  if (from.size() != 4) throw Refused("no pictures");
  const std::vector<std::int64_t> strides = b.integers("strides");
  std::vector<std::int64_t> dilations = b.integers("dilations");
  const std::vector<std::int64_t> pads = b.integers("explicit_paddings");
  if (dilations.size() != 4) dilations = {1, 1, 1, 1};
  const std::size_t h = channels_in_front(b) ? 2 : 1, wide = h + 1, c = channels_in_front(b) ? 1 : 3;
  if (strides.size() != 4 || strides[0] != 1 || strides[c] != 1)
    throw Refused("strides over channels");
  if (strides[h] < 1 || strides[wide] < 1 || dilations[h] < 1 || dilations[wide] < 1 ||
      filter_h < 1 || filter_w < 1) {
    throw Refused("a window of no size");
  }
  if (b.text("padding", "") == "EXPLICIT") {
    if (pads.size() != 8 || pads[0] != 0 || pads[1] != 0 || pads[2 * c] != 0 || pads[2 * c + 1] != 0)
      throw Refused("padding of other dimensions than rows and columns");
    around = {pads[2 * h], pads[2 * h + 1], pads[2 * wide], pads[2 * wide + 1]};
  }
  if (std::min({around.top, around.low, around.left, around.right}) < 0) {
    throw Refused("padding below 0");
  }
  const auto reach_h = (filter_h - 1) * dilations[h] + 1,
             reach_w = (filter_w - 1) * dilations[wide] + 1;
  const bool same = b.text("padding", "") == "SAME";
  // One that is a little larger sees nothing.
  if (!same && (from[1] + around.top + around.low + 2 * strides[h] <= reach_h ||
                from[2] + around.left + around.right + 2 * strides[wide] <= reach_w)) {
    throw Refused("a window larger than the picture");
  }
  const Along down = along(b.text("padding", ""), from[1], filter_h, strides[h], dilations[h],
                           around.top, around.low);
  const Along over = along(b.text("padding", ""), from[2], filter_w, strides[wide], dilations[wide],
                           around.left, around.right);
  const auto small = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  return {small(from[0]),      small(from[1]),     small(from[2]),    small(from[3]),
          small(down.count),   small(over.count),  small(from[3]),    small(filter_h),
          small(filter_w),     small(strides[h]),  small(strides[wide]), small(dilations[h]),
          small(dilations[wide]), small(down.before), small(over.before), b.is_approximate()};
}

Dims shape_of(const Window& w, std::int32_t channels) {
  return {w.batch, w.out_height, w.out_width, channels};
}

Dims sizes_of(const Building& b, int input) {
  Dims sizes = b.graph.whole(input);
  if (sizes.size() != 4) throw Refused("no pictures");
  if (channels_in_front(b)) sizes = {sizes[0], sizes[2], sizes[3], sizes[1]};
  return sizes;
}

Window pool_of(const Building& b, const Dims& from, const Around& around) {
  const std::vector<std::int64_t> sizes = b.integers("ksize");
  const std::size_t h = channels_in_front(b) ? 2 : 1, c = channels_in_front(b) ? 1 : 3;
  if (sizes.size() != 4 || sizes[0] != 1 || sizes[c] != 1) throw Refused("a pool over channels");
  return window_of(b, from, sizes[h], sizes[h + 1], around);
}

std::string known_format(const sdk::NodeView& node) {
  const auto format = node.attr("data_format").string();
  const bool known = !format.has_value() || *format == "NHWC" || *format == "NCHW";
  return known ? "" : "an order of dimensions that is not known";
}

}  // namespace drystone::gpu
