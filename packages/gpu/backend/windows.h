// Kernels over windows of pictures, [batch, height, width, channels].
#pragma once

#include <cstdint>

#include "launch.h"

namespace drystone::gpu {

// Sizes, and where windows begin; the filter is [filter_h, filter_w, ...]. `tf32`: factors of
// convolutions in float32 may be rounded to ten bits behind the point.
struct Window {
  std::int32_t batch, height, width, channels;
  std::int32_t out_height, out_width, out_channels;
  std::int32_t filter_h, filter_w, stride_h, stride_w, dilation_h, dilation_w, top, left;
  bool tf32;
};

// What follows a layer, in this order; null or none where it does not.
enum class Activation : std::uint8_t { none, relu, relu6 };
struct After {
  const void* bias = nullptr;      // by channel
  const void* residual = nullptr;  // of the result's shape
  Activation activation = Activation::none;
};

// `with_edges`: what lies around the picture is zeros that count, and not left out.
enum class Pooling : std::uint8_t { max, average };
void run_pool(const Stream& stream, const Window& window, Pooling pooling, bool with_edges,
              Type type, const void* from, void* to);

// To each element of the picture, of all windows that it is the first largest of, or of all windows
// where `picture` and `result` are null: then their mean.
struct PoolGradient {
  Window window;
  Type type;
  const void *gradient, *picture, *result;
};
void run_pool_gradient(const Stream& stream, const PoolGradient& gradient, void* to);

// Filter [filter_h, filter_w, channels, out_channels / channels]; `before` is done to each element
// of the picture that is read.
void run_depthwise(const Stream& stream, const Window& window, Type type, Activation before,
                   const void* from, const void* filter, const After& after, void* to);

// Filter [filter_h, filter_w, channels / groups, out_channels]: every convolution there is, slowly.
void run_convolution(const Stream& stream, const Window& window, std::int32_t groups, Type type,
                     const void* from, const void* filter, const After& after, void* to);

// The gradient to its input: from [batch, out_height, out_width, out_channels].
void run_transposed(const Stream& stream, const Window& window, std::int32_t groups, Type type,
                    const void* from, const void* filter, const After& after, void* to);

// The gradient to its filter, slowly where there are not many groups.
void run_filter_gradient(const Stream& stream, const Window& window, std::int32_t groups, Type type,
                         const void* picture, const void* gradient, void* to);

// Rows [batch * out_height * out_width, filter_h * filter_w * channels] for a matrix product.
void run_patches(const Stream& stream, const Window& window, Type type, const void* from, void* to);

enum class Resizing : std::uint8_t { linear, nearest };
struct Resize {
  std::int32_t height, width, channels, out_height, out_width;
  float scale_h, scale_w;
  bool half_pixel, align_corners;
  Type type, out_type;
};
void run_resize(const Stream& stream, const Resize& resize, Resizing how, std::int64_t count,
                const void* from, void* to);

// to[i, j] = after(sum over k of a[i, k] * b[k, j]): any product, slowly. Either may be transposed;
// `tf32` as of windows.
struct Product {
  std::int64_t batch, rows, columns, inner;
  std::int64_t a_step, b_step;  // elements from one matrix of the batch to the next
  bool transpose_a, transpose_b;
  Type type;
  bool tf32;
};
void run_product(const Stream& stream, const Product& product, const void* a, const void* b,
                 const After& after, void* to);

}  // namespace drystone::gpu
