#include "windows.h"

#include <cmath>

#include "after.h"
#include "place.h"

namespace drystone::gpu {
namespace {

// A factor as the units of a GPU take it that compute in TF32. Its other threads do not round.
DS_BOTH float factor(const void* data, Type type, std::uint32_t at, bool tf32) {
  const float value = load<float>(data, type, at);
#if !defined(__CUDA_ARCH__)
  const std::uint32_t bits = bits_of_float(value);
  if (tf32 && type == Type::f32 && (bits & 0x7F800000u) != 0x7F800000u) {
    return float_of_bits((bits + 0x1000u) & ~0x1FFFu);
  }
#else
  static_cast<void>(tf32);
#endif
  return value;
}

// What a largest number begins with, as TensorFlow has it.
DS_BOTH float lowest(Type type) {
  switch (type) {
    case Type::f16: return -65504.0f;
    case Type::bf16: return float_of_bits(0xFF7F0000u);
    default: return float_of_bits(0xFF7FFFFFu);
  }
}

// Width channels by one thread.
template <int Width>
struct PoolBody {
  Window w;
  Pooling pooling;
  bool with_edges;
  Type type;
  const void* from;
  void* to;

  DS_BOTH void operator()(std::uint32_t block) const {
    const std::uint32_t i = block * Width;
    const Place p(i, w.out_height, w.out_width, w.channels);
    float found[Width];
    for (int j = 0; j < Width; ++j)
      found[j] = pooling == Pooling::max ? lowest(type) : 0.0f;
    std::int32_t seen = 0;
    for (std::int32_t fy = 0; fy < w.filter_h; ++fy) {
      const std::int32_t y = p.row * w.stride_h - w.top + fy;
      for (std::int32_t fx = 0; fx < w.filter_w; ++fx) {
        const std::int32_t x = p.column * w.stride_w - w.left + fx;
        const bool inside = y >= 0 && y < w.height && x >= 0 && x < w.width;
        if (!inside && !with_edges) continue;
        float values[Width] = {};
        const std::uint32_t at =
            ((p.picture * w.height + y) * w.width + x) * w.channels + p.channel;
        if (inside) load_row<float, Width>(from, type, at, values);
        for (int j = 0; j < Width; ++j) {
          found[j] = pooling == Pooling::max ? larger(found[j], values[j]) : found[j] + values[j];
        }
        ++seen;
      }
    }
    if (pooling == Pooling::average) {
      for (int j = 0; j < Width; ++j) found[j] /= static_cast<float>(seen);
    }
    store_row<float, Width>(to, type, i, found);
  }
};

struct PoolGradientBody {
  PoolGradient g;
  void* to;

  DS_BOTH std::uint32_t at(const Place& p, std::int32_t y, std::int32_t x) const {
    return ((p.picture * g.window.height + y) * g.window.width + x) * g.window.channels + p.channel;
  }

  // Whether the element is the first in the window that is the result.
  DS_BOTH bool is_first(const Place& p, std::int32_t top, std::int32_t left,
                        std::uint32_t window) const {
    const Window& w = g.window;
    const float largest = load<float>(g.result, g.type, window);
    for (std::int32_t fy = 0; fy < w.filter_h; ++fy) {
      for (std::int32_t fx = 0; fx < w.filter_w; ++fx) {
        const std::int32_t y = top + fy, x = left + fx;
        if (y < 0 || y >= w.height || x < 0 || x >= w.width) continue;
        if (load<float>(g.picture, g.type, at(p, y, x)) == largest) {
          return y == p.row && x == p.column;
        }
      }
    }
    return false;
  }

  DS_BOTH std::int32_t inside(std::int32_t first, std::int32_t length, std::int32_t size) const {
    const std::int32_t low = first < 0 ? 0 : first;
    const std::int32_t high = first + length < size ? first + length : size;
    return high - low;
  }

  DS_BOTH void operator()(std::uint32_t i) const {
    const Window& w = g.window;
    const Place p(i, w.height, w.width, w.channels);
    float sum = 0.0f;
    for (std::int32_t fy = 0; fy < w.filter_h; ++fy) {
      const std::int32_t y = p.row + w.top - fy;
      if (y < 0 || y % w.stride_h != 0 || y / w.stride_h >= w.out_height) continue;
      for (std::int32_t fx = 0; fx < w.filter_w; ++fx) {
        const std::int32_t x = p.column + w.left - fx;
        if (x < 0 || x % w.stride_w != 0 || x / w.stride_w >= w.out_width) continue;
        const std::int32_t top = p.row - fy, left = p.column - fx;
        const std::uint32_t window =
            ((p.picture * w.out_height + y / w.stride_h) * w.out_width + x / w.stride_w) *
                w.channels +
            p.channel;
        const float given = load<float>(g.gradient, g.type, window);
        if (g.picture == nullptr) {
          const std::int32_t seen =
              inside(top, w.filter_h, w.height) * inside(left, w.filter_w, w.width);
          sum += given / static_cast<float>(seen);
        } else if (is_first(p, top, left, window)) {
          sum += given;
        }
      }
    }
    store(to, g.type, i, sum);
  }
};

struct ConvolutionBody {
  Window w;
  std::int32_t groups;
  Type type;
  const void *from, *filter;
  After after;
  void* to;

  DS_BOTH void operator()(std::uint32_t i) const {
    const Place p(i, w.out_height, w.out_width, w.out_channels);
    const std::int32_t depth = w.channels / groups;
    const std::int32_t first = p.channel / (w.out_channels / groups) * depth;
    float sum = 0.0f;
    for (std::int32_t fy = 0; fy < w.filter_h; ++fy) {
      const std::int32_t y = p.row * w.stride_h - w.top + fy * w.dilation_h;
      if (y < 0 || y >= w.height) continue;
      for (std::int32_t fx = 0; fx < w.filter_w; ++fx) {
        const std::int32_t x = p.column * w.stride_w - w.left + fx * w.dilation_w;
        if (x < 0 || x >= w.width) continue;
        const std::uint32_t at = ((p.picture * w.height + y) * w.width + x) * w.channels + first;
        const std::uint32_t tap = (fy * w.filter_w + fx) * depth * w.out_channels + p.channel;
        for (std::int32_t c = 0; c < depth; ++c) {
          sum += factor(from, type, at + c, w.tf32) *
                 factor(filter, type, tap + c * w.out_channels, w.tf32);
        }
      }
    }
    store(to, type, i, finished(after, type, i, p.channel, sum));
  }
};

// Filter [filter_h, filter_w, channels / groups, out_channels]; the result is [batch, height, width,
// channels].
struct TransposedBody {
  Window w;
  std::int32_t groups;
  Type type;
  const void *from, *filter;
  After after;
  void* to;

  DS_BOTH void operator()(std::uint32_t i) const {
    const Place p(i, w.height, w.width, w.channels);
    const std::int32_t depth = w.channels / groups, count = w.out_channels / groups;
    const std::int32_t first = p.channel / depth * count;
    float sum = 0.0f;
    for (std::int32_t fy = 0; fy < w.filter_h; ++fy) {
      const std::int32_t y = p.row + w.top - fy * w.dilation_h;
      if (y < 0 || y % w.stride_h != 0 || y / w.stride_h >= w.out_height) continue;
      for (std::int32_t fx = 0; fx < w.filter_w; ++fx) {
        const std::int32_t x = p.column + w.left - fx * w.dilation_w;
        if (x < 0 || x % w.stride_w != 0 || x / w.stride_w >= w.out_width) continue;
        const std::uint32_t at =
            ((p.picture * w.out_height + y / w.stride_h) * w.out_width + x / w.stride_w) *
                w.out_channels +
            first;
        const std::uint32_t tap =
            ((fy * w.filter_w + fx) * depth + p.channel % depth) * w.out_channels + first;
        for (std::int32_t c = 0; c < count; ++c) {
          sum += load<float>(from, type, at + c) * load<float>(filter, type, tap + c);
        }
      }
    }
    store(to, type, i, finished(after, type, i, p.channel, sum));
  }
};

struct Add {
  DS_BOTH float operator()(float a, float b) const { return a + b; }
};

// The filter's gradient: each element is a sum over all places, by a team.
struct FilterGradientBody {
  Window w;
  std::int32_t groups;
  Type type;
  const void *picture, *gradient;
  void* to;

  DS_BOTH void operator()(std::uint32_t i, Team team) const {
    const std::int32_t depth = w.channels / groups;
    // Of [filter_h, filter_w, depth, out_channels]
    const Place p(i / static_cast<std::uint32_t>(w.out_channels), w.filter_h, w.filter_w, depth);
    const auto channel = static_cast<std::int32_t>(i % w.out_channels);
    const std::int32_t from = channel / (w.out_channels / groups) * depth + p.channel;
    const std::uint32_t places = w.batch * w.out_height * w.out_width;
    float sum = 0.0f;
    for (std::uint32_t at = team.index; at < places; at += team.size) {
      const Place o(at, w.out_height, w.out_width, 1);
      const std::int32_t y = o.row * w.stride_h - w.top + p.row * w.dilation_h;
      const std::int32_t x = o.column * w.stride_w - w.left + p.column * w.dilation_w;
      if (y < 0 || y >= w.height || x < 0 || x >= w.width) continue;
      const std::uint32_t seen = ((o.picture * w.height + y) * w.width + x) * w.channels + from;
      sum += load<float>(picture, type, seen) *
             load<float>(gradient, type, at * w.out_channels + channel);
    }
    sum = team.all(sum, 0.0f, Add());
    if (team.index == 0) store(to, type, i, sum);
  }
};

struct PatchesBody {
  Window w;
  Type type;
  const void* from;
  void* to;

  DS_BOTH void operator()(std::uint32_t i) const {
    std::uint32_t rest = i;
    const auto channel = static_cast<std::int32_t>(rest % w.channels);
    rest /= w.channels;
    const auto fx = static_cast<std::int32_t>(rest % w.filter_w);
    rest /= w.filter_w;
    const auto fy = static_cast<std::int32_t>(rest % w.filter_h);
    const Place p(rest / w.filter_h, w.out_height, w.out_width, 1);
    const std::int32_t y = p.row * w.stride_h - w.top + fy * w.dilation_h;
    const std::int32_t x = p.column * w.stride_w - w.left + fx * w.dilation_w;
    const bool inside = y >= 0 && y < w.height && x >= 0 && x < w.width;
    const std::uint32_t at =
        inside ? ((p.picture * w.height + y) * w.width + x) * w.channels + channel : 0;
    store(to, type, i, inside ? load<float>(from, type, at) : 0.0f);
  }
};

struct ResizeBody {
  Resize r;
  Resizing how;
  const void* from;
  void* to;

  DS_BOTH float value(std::int32_t picture, std::int32_t y, std::int32_t x, std::int32_t c) const {
    return load<float>(from, r.type, ((picture * r.height + y) * r.width + x) * r.channels + c);
  }

  DS_BOTH std::int32_t nearest(std::int32_t at, float scale, std::int32_t size) const {
    const float place =
        r.half_pixel ? (static_cast<float>(at) + 0.5f) * scale : static_cast<float>(at) * scale;
    const auto found = static_cast<std::int32_t>(r.align_corners ? roundf(place) : floorf(place));
    return found < size - 1 ? (found < 0 ? 0 : found) : size - 1;
  }

  DS_BOTH float between(const Place& p) const {
    const float half = r.half_pixel ? 0.5f : 0.0f;
    const float y = (static_cast<float>(p.row) + half) * r.scale_h - half;
    const float x = (static_cast<float>(p.column) + half) * r.scale_w - half;
    const float fy = floorf(y), fx = floorf(x);
    const auto y0 = static_cast<std::int32_t>(fy), x0 = static_cast<std::int32_t>(fx);
    const std::int32_t top = y0 < 0 ? 0 : y0, left = x0 < 0 ? 0 : x0;
    const auto y1 = static_cast<std::int32_t>(ceilf(y)), x1 = static_cast<std::int32_t>(ceilf(x));
    const std::int32_t low = y1 < r.height ? y1 : r.height - 1;
    const std::int32_t right = x1 < r.width ? x1 : r.width - 1;
    const float v00 = value(p.picture, top, left, p.channel);
    const float v01 = value(p.picture, top, right, p.channel);
    const float v10 = value(p.picture, low, left, p.channel);
    const float v11 = value(p.picture, low, right, p.channel);
    const float upper = v00 + (v01 - v00) * (x - fx), lower = v10 + (v11 - v10) * (x - fx);
    return upper + (lower - upper) * (y - fy);
  }

  DS_BOTH void operator()(std::uint32_t i) const {
    const Place p(i, r.out_height, r.out_width, r.channels);
    const float found = how == Resizing::linear
                            ? between(p)
                            : value(p.picture, nearest(p.row, r.scale_h, r.height),
                                    nearest(p.column, r.scale_w, r.width), p.channel);
    store(to, r.out_type, i, found);
  }
};

struct ProductBody {
  Product p;
  const void *a, *b;
  After after;
  void* to;

  DS_BOTH void operator()(std::uint32_t i) const {
    const auto columns = static_cast<std::uint32_t>(p.columns),
               inner = static_cast<std::uint32_t>(p.inner);
    const auto height = static_cast<std::uint32_t>(p.rows);
    const std::uint32_t column = i % columns, row = i / columns % height;
    const std::uint32_t matrix = i / columns / height;
    const std::uint32_t a_at =
        matrix * static_cast<std::uint32_t>(p.a_step) + (p.transpose_a ? row : row * inner);
    const std::uint32_t b_at =
        matrix * static_cast<std::uint32_t>(p.b_step) + (p.transpose_b ? column * inner : column);
    const std::uint32_t a_next = p.transpose_a ? height : 1, b_next = p.transpose_b ? 1 : columns;
    float sum = 0.0f;
    for (std::uint32_t k = 0; k < inner; ++k) {
      sum += factor(a, p.type, a_at + k * a_next, p.tf32) *
             factor(b, p.type, b_at + k * b_next, p.tf32);
    }
    store(to, p.type, i, finished(after, p.type, i, column, sum));
  }
};

}  // namespace

void run_pool(const Stream& stream, const Window& w, Pooling pooling, bool with_edges, Type type,
              const void* from, void* to) {
  const std::int64_t count = std::int64_t{w.batch} * w.out_height * w.out_width * w.channels;
  if (w.channels % 4 == 0) {
    each(stream, count / 4, PoolBody<4>{w, pooling, with_edges, type, from, to});
  } else {
    each(stream, count, PoolBody<1>{w, pooling, with_edges, type, from, to});
  }
}

void run_pool_gradient(const Stream& stream, const PoolGradient& g, void* to) {
  const Window& w = g.window;
  const std::int64_t count = std::int64_t{w.batch} * w.height * w.width * w.channels;
  each(stream, count, PoolGradientBody{g, to});
}

void run_convolution(const Stream& stream, const Window& w, std::int32_t groups, Type type,
                     const void* from, const void* filter, const After& after, void* to) {
  const std::int64_t count = std::int64_t{w.batch} * w.out_height * w.out_width * w.out_channels;
  each(stream, count, ConvolutionBody{w, groups, type, from, filter, after, to});
}

void run_transposed(const Stream& stream, const Window& w, std::int32_t groups, Type type,
                    const void* from, const void* filter, const After& after, void* to) {
  const std::int64_t count = std::int64_t{w.batch} * w.height * w.width * w.channels;
  each(stream, count, TransposedBody{w, groups, type, from, filter, after, to});
}

void run_filter_gradient(const Stream& stream, const Window& w, std::int32_t groups, Type type,
                         const void* picture, const void* gradient, void* to) {
  const std::int64_t count =
      std::int64_t{w.filter_h} * w.filter_w * (w.channels / groups) * w.out_channels;
  rows(stream, count, std::int64_t{w.batch} * w.out_height * w.out_width,
       FilterGradientBody{w, groups, type, picture, gradient, to});
}

void run_patches(const Stream& stream, const Window& w, Type type, const void* from, void* to) {
  const std::int64_t count =
      std::int64_t{w.batch} * w.out_height * w.out_width * w.filter_h * w.filter_w * w.channels;
  each(stream, count, PatchesBody{w, type, from, to});
}

void run_resize(const Stream& stream, const Resize& resize, Resizing how, std::int64_t count,
                const void* from, void* to) {
  each(stream, count, ResizeBody{resize, how, from, to});
}

void run_product(const Stream& stream, const Product& p, const void* a, const void* b,
                 const After& after, void* to) {
  each(stream, p.batch * p.rows * p.columns, ProductBody{p, a, b, after, to});
}

}  // namespace drystone::gpu
