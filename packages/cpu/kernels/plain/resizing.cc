// Images of another size, parts of images, and the gradients of resizing. Images are
// [batch, rows, columns, channels].
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/family.h"
#include "core/widen.h"
#include "plain/combine.h"

namespace drystone::cpu {
namespace {

// Which pixels an output pixel lies between along one axis, and how far it is from the first.
struct Tap {
  std::int64_t low;
  std::int64_t high;
  float share;
};

class Sampling {
 public:
  explicit Sampling(const Node& node)
      : align_(node.boolean("align_corners")), half_(node.boolean("half_pixel_centers")) {}

  const Tap* linear(const Call& call, std::int64_t size, std::int64_t out) const {
    auto* taps = call.scratch<Tap>(out);
    const float step = scale(size, out);
    for (std::int64_t k = 0; k < out; ++k) {
      const float at =
          half_ ? (static_cast<float>(k) + 0.5f) * step - 0.5f : static_cast<float>(k) * step;
      const float floor = std::floor(at);
      taps[k] = {inside(static_cast<std::int64_t>(floor), size),
                 inside(static_cast<std::int64_t>(std::ceil(at)), size), at - floor};
    }
    return taps;
  }
  const std::int64_t* nearest(const Call& call, std::int64_t size, std::int64_t out) const {
    auto* taps = call.scratch<std::int64_t>(out);
    const float step = scale(size, out);
    for (std::int64_t k = 0; k < out; ++k) {
      const float at = (static_cast<float>(k) + (half_ ? 0.5f : 0.0f)) * step;
      taps[k] = inside(static_cast<std::int64_t>(std::floor(align_ ? at + 0.5f : at)), size);
    }
    return taps;
  }

 private:
  // Input pixels per output pixel.
  float scale(std::int64_t size, std::int64_t out) const {
    if (align_ && out > 1) return static_cast<float>(size - 1) / static_cast<float>(out - 1);
    return static_cast<float>(size) / static_cast<float>(out);
  }
  static std::int64_t inside(std::int64_t at, std::int64_t size) {
    return std::clamp<std::int64_t>(at, 0, size - 1);
  }
  bool align_;
  bool half_;
};

// The dims of the result.
Dims resized(const Tensor& images, const Tensor& size) {
  require(images.rank() == 4, "input must be 4-dimensional");
  require(size.rank() == 1 && size.dim(0) == 2, "shape_t must have two elements");
  const std::int64_t rows = integer_at(size, 0);
  const std::int64_t columns = integer_at(size, 1);
  require(rows > 0 && columns > 0, "output dimensions must be positive");
  require(images.dim(1) > 0 && images.dim(2) > 0 && images.dim(3) > 0,
          "input image must be of non-zero size");
  Dims dims = {images.dim(0), rows, columns, images.dim(3)};
  check_dims(dims);
  return dims;
}

const float* as_floats(const Call& call, const Tensor& x) {
  if (x.dtype() == TF_FLOAT) return x.as<float>();
  auto* out = call.scratch<float>(x.count());
  if (x.dtype() == TF_HALF || x.dtype() == TF_BFLOAT16) {
    for (std::int64_t k = 0; k < x.count(); ++k) {
      out[k] = x.dtype() == TF_HALF ? to_float(x.as<Half>()[k]) : to_float(x.as<BFloat16>()[k]);
    }
    return out;
  }
  with_real(x.dtype(), [&](auto type) {
    for (std::int64_t k = 0; k < x.count(); ++k)
      out[k] = static_cast<float>(x.as<decltype(type)>()[k]);
  });
  return out;
}

// A pixel between four; `top` and `bottom` are rows of the input.
inline void mix(float* out, const float* top, const float* bottom, const Tap& x, float y_share,
                std::int64_t channels) {
  const std::int64_t left = x.low * channels;
  const std::int64_t right = x.high * channels;
  for (std::int64_t c = 0; c < channels; ++c) {
    const float upper = top[left + c] + (top[right + c] - top[left + c]) * x.share;
    const float lower = bottom[left + c] + (bottom[right + c] - bottom[left + c]) * x.share;
    out[c] = upper + (lower - upper) * y_share;
  }
}

class ResizeBilinear : Sampling {
 public:
  using Sampling::Sampling;
  void compute(Call& call) const {
    const Tensor images = call.input(0);
    const Dims dims = resized(images, call.input(1));
    const std::int64_t height = images.dim(1);
    const std::int64_t width = images.dim(2);
    const std::int64_t channels = images.dim(3);
    const bool same = dims[1] == height && dims[2] == width;
    if (same && images.dtype() == TF_FLOAT) return call.share(0, 0, dims);
    const Tensor y = call.output(0, dims);
    if (y.count() == 0) return;
    const float* in = as_floats(call, images);
    if (same) return copy_bytes(y.write<char>(), in, y.count() * 4);
    const Tap* across = linear(call, width, dims[2]);
    const Tap* down = linear(call, height, dims[1]);
    float* out = y.write<float>();
    parallel(
        dims[0] * dims[1], dims[2] * (2 + 3 * channels), [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t row = begin; row < end; ++row) {
            const Tap& at = down[row % dims[1]];
            const float* image = in + row / dims[1] * height * width * channels;
            const float* top = image + at.low * width * channels;
            const float* bottom = image + at.high * width * channels;
            for (std::int64_t k = 0; k < dims[2]; ++k) {
              mix(out + (row * dims[2] + k) * channels, top, bottom, across[k], at.share, channels);
            }
          }
        });
  }
};

class ResizeNearest : Sampling {
 public:
  using Sampling::Sampling;
  void compute(Call& call) const {
    const Tensor images = call.input(0);
    const Dims dims = resized(images, call.input(1));
    const Tensor y = call.output(0, dims);
    if (y.count() == 0) return;
    const std::int64_t* down = nearest(call, images.dim(1), dims[1]);
    const std::int64_t* across = nearest(call, images.dim(2), dims[2]);
    const auto pixel = static_cast<std::int64_t>(element_size(y.dtype())) * dims[3];
    parallel(
        dims[0] * dims[1], dims[2] * (2 + pixel / 8), [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t row = begin; row < end; ++row) {
            char* out = y.write<char>() + row * dims[2] * pixel;
            const bool again =
                row > begin && row % dims[1] > 0 && down[row % dims[1]] == down[row % dims[1] - 1];
            if (again) {
              std::memcpy(out, out - dims[2] * pixel, static_cast<std::size_t>(dims[2] * pixel));
              continue;
            }
            const std::int64_t from = row / dims[1] * images.dim(1) + down[row % dims[1]];
            pick_pixels(out, images.as<char>() + from * images.dim(2) * pixel, across, dims[2],
                        pixel);
          }
        });
  }

 private:
  static void pick_pixels(char* out, const char* in, const std::int64_t* at, std::int64_t count,
                          std::int64_t pixel) {
    if (pixel == 4) {
      for (std::int64_t k = 0; k < count; ++k) std::memcpy(out + k * 4, in + at[k] * 4, 4);
    } else if (pixel == 12) {
      for (std::int64_t k = 0; k < count; ++k) std::memcpy(out + k * 12, in + at[k] * 12, 12);
    } else {
      for (std::int64_t k = 0; k < count; ++k)
        std::memcpy(out + k * pixel, in + at[k] * pixel, static_cast<std::size_t>(pixel));
    }
  }
};

class ResizeNearestGrad : Sampling {
 public:
  using Sampling::Sampling;
  void compute(Call& call) const {
    const Tensor grads = call.input(0);
    const Dims dims = resized(grads, call.input(1));
    const Tensor y = call.output(0, dims);
    const auto size = static_cast<std::int64_t>(element_size(y.dtype()));
    std::memset(y.write<char>(), 0, static_cast<std::size_t>(y.count() * size));
    const std::int64_t* down = nearest(call, dims[1], grads.dim(1));
    const std::int64_t* across = nearest(call, dims[2], grads.dim(2));
    const Combine add_to = combine_of(Operation::kAdd, y.dtype());
    const std::int64_t pixel = dims[3] * size;
    parallel(dims[0], grads.dim(1) * grads.dim(2) * (3 + dims[3]),
             [&](std::int64_t begin, std::int64_t end) {
               const char* in = grads.as<char>() + begin * grads.dim(1) * grads.dim(2) * pixel;
               for (std::int64_t n = begin; n < end; ++n) {
                 for (std::int64_t row = 0; row < grads.dim(1); ++row) {
                   char* line = y.write<char>() + (n * dims[1] + down[row]) * dims[2] * pixel;
                   for (std::int64_t k = 0; k < grads.dim(2); ++k, in += pixel)
                     add_to(line + across[k] * pixel, in, dims[3], 1);
                 }
               }
             });
  }
};

class ResizeBilinearGrad : Sampling {
 public:
  using Sampling::Sampling;
  void compute(Call& call) const {
    const Tensor grads = call.input(0);
    const Tensor image = call.input(1);
    require(grads.rank() == 4 && image.rank() == 4,
            "input_grad and original_image must be 4-dimensional");
    require(grads.dim(0) == image.dim(0) && grads.dim(3) == image.dim(3),
            "both inputs must have the same batch and channels");
    require(image.dim(1) > 0 && image.dim(2) > 0, "original dimensions must be positive");
    require(grads.dim(1) > 0 && grads.dim(2) > 0, "resized dimensions must be positive");
    const Tensor y = call.output(0, image.dims());
    std::memset(y.write<char>(), 0, static_cast<std::size_t>(y.count()) * sizeof(float));
    if (y.count() == 0 || grads.count() == 0) return;
    const std::int64_t rows = grads.dim(1);
    const std::int64_t columns = grads.dim(2);
    const std::int64_t channels = grads.dim(3);
    const Tap* down = linear(call, y.dim(1), rows);
    const Tap* across = linear(call, y.dim(2), columns);
    parallel(grads.dim(0), rows * columns * (4 + 4 * channels),
             [&](std::int64_t begin, std::int64_t end) {
               const float* in = grads.as<float>() + begin * rows * columns * channels;
               for (std::int64_t n = begin; n < end; ++n) {
                 for (std::int64_t row = 0; row < rows; ++row) {
                   float* out = y.write<float>() + n * y.dim(1) * y.dim(2) * channels;
                   float* top = out + down[row].low * y.dim(2) * channels;
                   float* bottom = out + down[row].high * y.dim(2) * channels;
                   for (std::int64_t k = 0; k < columns; ++k, in += channels) {
                     spread(in, top, bottom, across[k], down[row].share, channels);
                   }
                 }
               }
             });
  }

 private:
  static void spread(const float* in, float* top, float* bottom, const Tap& x, float y_share,
                     std::int64_t channels) {
    for (std::int64_t c = 0; c < channels; ++c) {
      const float upper = in[c] * (1 - y_share);
      const float lower = in[c] * y_share;
      top[x.low * channels + c] += upper * (1 - x.share);
      top[x.high * channels + c] += upper * x.share;
      bottom[x.low * channels + c] += lower * (1 - x.share);
      bottom[x.high * channels + c] += lower * x.share;
    }
  }
};

class CropAndResize {
 public:
  explicit CropAndResize(const Node& node)
      : nearest_(node.string("method") == "nearest"), outside_(node.real("extrapolation_value")) {}
  void compute(Call& call) const {
    const Tensor image = call.input(0);
    const Tensor boxes = call.input(1);
    const Tensor index = call.input(2);
    const Dims dims = checked(image, boxes, index, call.input(3));
    const Tensor y = call.output(0, dims);
    if (y.count() == 0) return;
    const float* in = as_floats(call, image);
    auto* columns = call.scratch<float>(dims[0] * dims[2]);
    parallel(dims[0], dims[1] * dims[2] * (4 + 3 * dims[3]),
             [&](std::int64_t begin, std::int64_t end) {
               for (std::int64_t k = begin; k < end; ++k) {
                 const float* box = boxes.as<float>() + 4 * k;
                 float* across = columns + k * dims[2];
                 for (std::int64_t i = 0; i < dims[2]; ++i)
                   across[i] = place(box[1], box[3], image.dim(2), i, dims[2]);
                 const float* from =
                     in + index.as<std::int32_t>()[k] * image.dim(1) * image.dim(2) * dims[3];
                 for (std::int64_t row = 0; row < dims[1]; ++row) {
                   line(y.write<float>() + (k * dims[1] + row) * dims[2] * dims[3], from, image,
                        place(box[0], box[2], image.dim(1), row, dims[1]), across, dims[2]);
                 }
               }
             });
  }

 private:
  static Dims checked(const Tensor& image, const Tensor& boxes, const Tensor& index,
                      const Tensor& size) {
    require(image.rank() == 4 && image.dim(1) > 0 && image.dim(2) > 0,
            "image dimensions must be positive");
    require(
        boxes.rank() == 2 && boxes.dim(1) == 4 && index.rank() == 1 && index.dim(0) == boxes.dim(0),
        "boxes must be [boxes, 4] and box_ind [boxes]");
    require(size.rank() == 1 && size.dim(0) == 2, "crop_size must have two elements");
    require(integer_at(size, 0) > 0 && integer_at(size, 1) > 0, "crop dimensions must be positive");
    for (std::int64_t k = 0; k < index.count(); ++k) {
      const std::int64_t at = integer_at(index, k);
      if (at < 0 || at >= image.dim(0))
        fail(TF_OUT_OF_RANGE, "box_ind has values outside [0, batch_size)");
    }
    for (std::int64_t k = 0; k < boxes.count(); ++k) {
      require(std::isfinite(boxes.as<float>()[k]),
              "Boxes contains at least one element that is not finite");
    }
    Dims dims = {boxes.dim(0), integer_at(size, 0), integer_at(size, 1), image.dim(3)};
    check_dims(dims);
    return dims;
  }
  // Where output pixel k of a box lies along one axis.
  static float place(float low, float high, std::int64_t size, std::int64_t k, std::int64_t out) {
    const auto last = static_cast<float>(size - 1);
    if (out == 1) return 0.5f * (low + high) * last;
    return low * last + static_cast<float>(k) * ((high - low) * last / static_cast<float>(out - 1));
  }
  static bool is_inside(float at, std::int64_t size) {
    return at >= 0 && at <= static_cast<float>(size - 1);
  }
  static Tap tap(float at, std::int64_t size) {
    const float floor = std::floor(at);
    const auto low = static_cast<std::int64_t>(floor);
    return {low, std::min(static_cast<std::int64_t>(std::ceil(at)), size - 1), at - floor};
  }

  void line(float* out, const float* in, const Tensor& image, float y, const float* across,
            std::int64_t columns) const {
    const std::int64_t channels = image.dim(3);
    const std::int64_t step = image.dim(2) * channels;
    const bool is_row = is_inside(y, image.dim(1));
    const Tap down = is_row ? tap(y, image.dim(1)) : Tap{0, 0, 0};
    for (std::int64_t k = 0; k < columns; ++k, out += channels) {
      const float x = across[k];
      if (!is_row || !is_inside(x, image.dim(2))) {
        std::fill_n(out, channels, outside_);
      } else if (nearest_) {
        const auto row =
            std::min(static_cast<std::int64_t>(std::floor(y + 0.5f)), image.dim(1) - 1);
        const auto column =
            std::min(static_cast<std::int64_t>(std::floor(x + 0.5f)), image.dim(2) - 1);
        std::copy_n(in + row * step + column * channels, channels, out);
      } else {
        mix(out, in + down.low * step, in + down.high * step, tap(x, image.dim(2)), down.share,
            channels);
      }
    }
  }
  bool nearest_;
  float outside_;
};

}  // namespace

const Family registered([] {
  std::vector<TF_DataType> numbers = real_types();
  numbers.insert(numbers.end(), {TF_HALF, TF_BFLOAT16});
  add<ResizeBilinear>("ResizeBilinear", {{"T", numbers}});
  add<ResizeNearest>("ResizeNearestNeighbor", {{"T", numbers}});
  add<ResizeBilinearGrad>("ResizeBilinearGrad", {{"T", {TF_FLOAT}}});
  add<ResizeNearestGrad>("ResizeNearestNeighborGrad",
                         {{"T", {TF_FLOAT, TF_DOUBLE, TF_INT32, TF_INT8, TF_UINT8}}});
  add<CropAndResize>("CropAndResize", {{"T", numbers}});
});

}  // namespace drystone::cpu
