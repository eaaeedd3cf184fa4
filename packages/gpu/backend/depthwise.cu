// Convolutions with filters for each channel.
#include "after.h"
#include "divider.h"
#include "place.h"
#include "windows.h"

namespace drystone::gpu {
namespace {

struct DepthwiseBody {
  Window w;
  Type type;
  Activation before;
  const void *from, *filter;
  After after;
  void* to;

  DS_BOTH void operator()(std::uint32_t i) const {
    const Place p(i, w.out_height, w.out_width, w.out_channels);
    const std::int32_t times = w.out_channels / w.channels, channel = p.channel / times;
    float sum = 0.0f;
    for (std::int32_t fy = 0; fy < w.filter_h; ++fy) {
      const std::int32_t y = p.row * w.stride_h - w.top + fy * w.dilation_h;
      if (y < 0 || y >= w.height) continue;
      for (std::int32_t fx = 0; fx < w.filter_w; ++fx) {
        const std::int32_t x = p.column * w.stride_w - w.left + fx * w.dilation_w;
        if (x < 0 || x >= w.width) continue;
        const std::uint32_t at = ((p.picture * w.height + y) * w.width + x) * w.channels + channel;
        const std::uint32_t tap = (fy * w.filter_w + fx) * w.out_channels + p.channel;
        sum += activated(before, load<float>(from, type, at)) * load<float>(filter, type, tap);
      }
    }
    store(to, type, i, finished(after, type, i, p.channel, sum));
  }
};

// Four channels by one thread, where there is one filter for each channel.
struct DepthwiseRowBody {
  Window w;
  Type type;
  Activation before;
  const void *from, *filter;
  After after;
  void* to;

  DS_BOTH void operator()(std::uint32_t block) const {
    const std::uint32_t i = block * 4;
    const Place p(i, w.out_height, w.out_width, w.out_channels);
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (std::int32_t fy = 0; fy < w.filter_h; ++fy) {
      const std::int32_t y = p.row * w.stride_h - w.top + fy * w.dilation_h;
      if (y < 0 || y >= w.height) continue;
      for (std::int32_t fx = 0; fx < w.filter_w; ++fx) {
        const std::int32_t x = p.column * w.stride_w - w.left + fx * w.dilation_w;
        if (x < 0 || x >= w.width) continue;
        float values[4], taps[4];
        const std::uint32_t at =
            ((p.picture * w.height + y) * w.width + x) * w.channels + p.channel;
        load_row<float, 4>(from, type, at, values);
        load_row<float, 4>(filter, type, (fy * w.filter_w + fx) * w.channels + p.channel, taps);
        for (int j = 0; j < 4; ++j) sum[j] += activated(before, values[j]) * taps[j];
      }
    }
    for (int j = 0; j < 4; ++j) sum[j] = finished(after, type, i + j, p.channel + j, sum[j]);
    store_row<float, 4>(to, type, i, sum);
  }
};

// 3 x 3 with one filter for each channel: kWidth channels of kColumns places side by side by one
// thread, so that what windows share is read once. Threads of a block go down columns.
template <Type kType, int kStride, int kColumns>
struct DepthwiseTileBody {
  static constexpr int kWidth = kType == Type::f32 ? 4 : 8;
  static constexpr int kRead = (kColumns - 1) * kStride + 3;
  Window w;
  Activation before;
  const void *from, *filter;
  After after;
  void* to;
  Divider groups, rows, blocks;

  DepthwiseTileBody(const Window& window, Activation first, const void* picture, const void* taps,
                    const After& then, void* result)
      : w(window),
        before(first),
        from(picture),
        filter(taps),
        after(then),
        to(result),
        groups(static_cast<std::uint32_t>(w.channels / kWidth)),
        rows(static_cast<std::uint32_t>(w.out_height)),
        blocks(static_cast<std::uint32_t>((w.out_width + kColumns - 1) / kColumns)) {}

  std::int64_t count() const {
    return std::int64_t{w.batch} * blocks.by() * rows.by() * groups.by();
  }

  // What one row of the picture adds to the sums.
  DS_BOTH void add_row(std::uint32_t row_at, std::int32_t x, const float (*taps)[kWidth],
                       float (*sums)[kWidth]) const {
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int k = 0; k < kRead; ++k) {
      float values[kWidth] = {};
      if (x + k >= 0 && x + k < w.width) {
        load_row<float, kWidth>(from, kType, row_at + static_cast<std::uint32_t>((x + k) * w.channels),
                                values);
        if (before != Activation::none) {
          for (int j = 0; j < kWidth; ++j) values[j] = activated(before, values[j]);
        }
      }
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
      for (int c = 0; c < kColumns; ++c) {
        const int tap = k - c * kStride;
        if (tap < 0 || tap > 2) continue;
        for (int j = 0; j < kWidth; ++j) sums[c][j] += values[j] * taps[tap][j];
      }
    }
  }

  DS_BOTH void operator()(std::uint32_t i) const {
    std::uint32_t channel = i;
    std::uint32_t row = groups.split(&channel);
    std::uint32_t block = rows.split(&row);
    const std::uint32_t picture = blocks.split(&block);
    channel *= kWidth;
    const auto first = static_cast<std::int32_t>(block) * kColumns;
    const auto channels = static_cast<std::uint32_t>(w.channels);
    float sums[kColumns][kWidth] = {};
    for (std::int32_t fy = 0; fy < 3; ++fy) {
      const std::int32_t y = static_cast<std::int32_t>(row) * kStride - w.top + fy;
      if (y < 0 || y >= w.height) continue;
      float taps[3][kWidth];
      for (int fx = 0; fx < 3; ++fx) {
        load_row<float, kWidth>(filter, kType, (fy * 3 + fx) * channels + channel, taps[fx]);
      }
      add_row((picture * w.height + y) * w.width * channels + channel, first * kStride - w.left, taps,
              sums);
    }
    const std::uint32_t line = (picture * w.out_height + row) * w.out_width;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int c = 0; c < kColumns; ++c) {
      if (first + c >= w.out_width) break;
      const std::uint32_t at = (line + first + c) * channels + channel;
      finish_row<kWidth>(after, kType, at, channel, sums[c]);
      store_row<float, kWidth>(to, kType, at, sums[c]);
    }
  }
};

// Wide where that is enough threads to fill a GPU.
template <Type kType, int kStride>
void depthwise_tiles(const Stream& stream, const Window& w, Activation before, const void* from,
                     const void* filter, const After& after, void* to) {
  constexpr std::int64_t kEnough = 65536;
  const DepthwiseTileBody<kType, kStride, 4> wide(w, before, from, filter, after, to);
  if (wide.count() >= kEnough || stream.is_host()) return each(stream, wide.count(), wide);
  const DepthwiseTileBody<kType, kStride, 1> narrow(w, before, from, filter, after, to);
  each(stream, narrow.count(), narrow);
}

template <Type kType>
bool depthwise_tiles(const Stream& stream, const Window& w, Activation before, const void* from,
                     const void* filter, const After& after, void* to) {
  const bool small = w.filter_h == 3 && w.filter_w == 3 && w.dilation_h == 1 && w.dilation_w == 1;
  const bool fits = w.channels % DepthwiseTileBody<kType, 1, 4>::kWidth == 0 &&
                    w.stride_h == w.stride_w && w.stride_h <= 2;
  if (!small || !fits) return false;
  if (w.stride_h == 1) {
    depthwise_tiles<kType, 1>(stream, w, before, from, filter, after, to);
  } else {
    depthwise_tiles<kType, 2>(stream, w, before, from, filter, after, to);
  }
  return true;
}

bool depthwise_tiles(const Stream& stream, const Window& w, Type type, Activation before,
                     const void* from, const void* filter, const After& after, void* to) {
  switch (type) {
    case Type::f32:
      return depthwise_tiles<Type::f32>(stream, w, before, from, filter, after, to);
    case Type::f16:
      return depthwise_tiles<Type::f16>(stream, w, before, from, filter, after, to);
    default: return depthwise_tiles<Type::bf16>(stream, w, before, from, filter, after, to);
  }
}

}  // namespace

void run_depthwise(const Stream& stream, const Window& w, Type type, Activation before,
                   const void* from, const void* filter, const After& after, void* to) {
  const std::int64_t count = std::int64_t{w.batch} * w.out_height * w.out_width * w.out_channels;
  const bool single = w.out_channels == w.channels;
  if (single && depthwise_tiles(stream, w, type, before, from, filter, after, to)) return;
  if (single && w.channels % 4 == 0) {
    each(stream, count / 4, DepthwiseRowBody{w, type, before, from, filter, after, to});
  } else {
    each(stream, count, DepthwiseBody{w, type, before, from, filter, after, to});
  }
}

}  // namespace drystone::gpu
