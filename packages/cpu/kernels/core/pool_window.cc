// Geometry of pooling: see core/pool_window.h.
#include "core/pool_window.h"

namespace drystone::cpu {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 40;  // of an attribute: sums stay in range

struct Slide {
  std::int64_t count;
  std::int64_t before;
};

Slide slide(std::int64_t size, std::int64_t window, std::int64_t stride, const std::string& padding,
            std::int64_t before, std::int64_t after) {
  if (padding == "SAME") {
    const std::int64_t count = (size + stride - 1) / stride;
    return {count, std::max<std::int64_t>((count - 1) * stride + window - size, 0) / 2};
  }
  const std::int64_t rest = size + before + after - window;
  return {(rest >= 0 ? rest / stride : -((-rest + stride - 1) / stride)) + 1, before};
}

}  // namespace

PoolWindows::PoolWindows(const Node& node)
    : channels_first_(false), padding_(node.string("padding")) {
  if (node.has("data_format")) channels_first_ = node.string("data_format").starts_with("NC");
  if (node.has("ksize")) ksize_ = node.integers("ksize");
  if (node.has("strides")) strides_ = node.integers("strides");
  if (node.has("explicit_paddings")) explicit_ = node.integers("explicit_paddings");
}

void PoolWindows::check_padding(std::size_t rank) const {
  if (padding_ != "EXPLICIT") {
    require(explicit_.empty(), "explicit_paddings needs padding EXPLICIT");
    return;
  }
  require(explicit_.size() == 2 * rank, "explicit_paddings must hold a pair per dimension");
  for (const std::int64_t value : explicit_) {
    require(value >= 0 && value < kLargest, "explicit_paddings must not be negative");
  }
}

Pool PoolWindows::place(DimsView input, const Dims& ksize, const Dims& strides) const {
  const std::size_t rank = input.size();
  const std::size_t channel = channels_first_ ? 1 : rank - 1;
  require(ksize.size() == rank, "ksize must have one entry per dimension");
  for (const std::int64_t k : ksize) require(k > 0 && k < kLargest, "ksize must be positive");
  if (ksize[0] != 1 || ksize[channel] != 1) {
    fail(TF_UNIMPLEMENTED, "pooling over the batch or channel dimension is not supported");
  }
  require(strides.size() == rank, "strides must have one entry per dimension");
  require(strides[0] == 1 && strides[channel] == 1,
          "strides in the batch and channel dimensions must be 1");
  for (const std::int64_t s : strides) require(s > 0 && s < kLargest, "strides must be positive");
  check_padding(rank);
  Pool out;
  out.batch = channels_first_ ? input[0] * input[1] : input[0];
  out.channels = channels_first_ ? 1 : input[channel];
  out.result.assign(input.begin(), input.end());
  const std::size_t spatial = rank - 2;
  for (std::size_t k = 0; k < spatial; ++k) {
    const std::size_t axis = k + (channels_first_ ? 2 : 1);
    const std::size_t to = k + 3 - spatial;
    const bool given = padding_ == "EXPLICIT";
    const Slide slid = slide(input[axis], ksize[axis], strides[axis], padding_,
                             given ? explicit_[2 * axis] : 0, given ? explicit_[2 * axis + 1] : 0);
    require(slid.count >= 0, "computed output size would be negative");
    out.in[to] = input[axis];
    out.size[to] = ksize[axis];
    out.stride[to] = strides[axis];
    out.before[to] = slid.before;
    out.out[to] = slid.count;
    out.result[axis] = slid.count;
  }
  return out;
}

}  // namespace drystone::cpu
