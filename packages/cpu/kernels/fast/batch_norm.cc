// Batch normalization, with what is fused to it, and its gradient; for channels in the last dim or
// in dim 1.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/family.h"
#include "core/widen.h"
#include "fast/folds.h"

namespace drystone::cpu {
namespace {

constexpr std::int64_t kWide = 64;     // rows are handled at least about that wide
constexpr std::int64_t kChunk = 1024;  // rows whose sums are made at once

// An image or volume as planes of rows: the channels are neighbours in a row, or each is a row.
struct Layout {
  std::int64_t channels;
  std::int64_t batch;   // channels first: how often the channels come
  std::int64_t inside;  // channels first: neighbours that are of one channel
  std::int64_t rows;    // elements of a channel
  bool last;
};

Layout layout_of(const Tensor& x, const std::string& format) {
  if (x.rank() != static_cast<int>(format.size())) {
    fail(TF_INVALID_ARGUMENT, "input must be " + std::to_string(format.size()) +
         "-dimensional, not " +
                                  text(x.dims()));
  }
  Layout out{};
  out.last = format.rfind("NC", 0) != 0;
  out.channels = x.dim(out.last ? x.rank() - 1 : 1);
  out.rows = out.channels == 0 ? 0 : x.count() / out.channels;
  out.batch = out.last ? 1 : x.dim(0);
  out.inside = out.batch == 0 ? 0 : out.rows / out.batch;
  return out;
}

void check_vector(const Tensor& vector, std::int64_t channels, const char* name) {
  if (vector.rank() != 1 || vector.dim(0) != channels) {
    fail(TF_INVALID_ARGUMENT, std::string(name) + " must have one element per channel (" +
                                  std::to_string(channels) + "), not shape " + text(vector.dims()));
  }
}

// body(index, count, channel) for each stretch of elements: `channel` is that of the first. With
// channels last, of all channels `times` times; else all of them are of one channel.
template <class Body>
void for_stretches(const Layout& at, std::int64_t times, std::int64_t cost, Body&& body) {
  if (at.last) {
    const std::int64_t wide = at.channels * times;
    const std::int64_t total = at.rows * at.channels;
    const std::int64_t stretches = wide == 0 ? 0 : (total + wide - 1) / wide;
    parallel(stretches, 1 + wide * cost / 8, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        body(k * wide, std::min(wide, total - k * wide), 0);
      }
    });
  } else {
    parallel(at.batch * at.channels, 1 + at.inside * cost / 8,
             [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) body(k * at.inside, at.inside, k % at.channels);
    });
  }
}

std::int64_t times_of(const Layout& at) {
  return at.last && at.channels != 0 && at.channels < kWide ? kWide / at.channels : 1;
}

// A vector of channels, `times` times one after the other.
float* repeated(Call& call, const Layout& at, std::int64_t times) {
  return call.scratch<float>(at.channels * times);
}
void repeat(float* vector, std::int64_t channels, std::int64_t times) {
  for (std::int64_t k = 1; k < times; ++k) std::copy_n(vector, channels, vector + k * channels);
}

// Per channel c two sums in double, sums[c] and sums[channels + c], of what
// terms(index, c, one, two) adds to each for every element.
template <class Terms>
void sums_of_planes(const Layout& at, const Terms& terms, double* sums) {
  parallel(at.channels, 1 + at.rows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c) {
      constexpr std::int64_t kLanes = 16;
      double one[kLanes] = {};
      double two[kLanes] = {};
      for (std::int64_t n = 0; n < at.batch; ++n) {
        const std::int64_t from = (n * at.channels + c) * at.inside;
        std::int64_t k = 0;
        for (; k + kLanes <= at.inside; k += kLanes) {
          for (std::int64_t i = 0; i < kLanes; ++i) terms(from + k + i, c, one[i], two[i]);
        }
        for (std::int64_t i = 0; k + i < at.inside; ++i) terms(from + k + i, c, one[i], two[i]);
      }
      for (std::int64_t i = 0; i < kLanes; ++i) {
        sums[c] += one[i];
        sums[at.channels + c] += two[i];
      }
    }
  });
}

// The same for channels in the last dim. Narrow rows are taken several at a time, so that vectors
// are full and sums do not wait for each other: terms() is given c up to channels * times_of(at).
template <class Terms>
void two_sums(Call& call, const Layout& at, const Terms& terms, double* sums) {
  const std::int64_t width = at.channels;
  std::fill_n(sums, 2 * width, 0.0);
  if (!at.last) return sums_of_planes(at, terms, sums);
  const std::int64_t wide = width * times_of(at);
  const std::int64_t chunks = (at.rows + kChunk - 1) / kChunk;
  double* parts = call.scratch<double>(chunks * 2 * wide);
  parallel(chunks, 1 + kChunk * width / 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      double* one = parts + part * 2 * wide;
      double* two = one + wide;
      std::fill_n(one, 2 * wide, 0.0);
      const std::int64_t last = std::min(at.rows, (part + 1) * kChunk) * width;
      for (std::int64_t from = part * kChunk * width; from < last; from += wide) {
        const std::int64_t count = std::min(wide, last - from);
#pragma GCC ivdep
        for (std::int64_t c = 0; c < count; ++c) terms(from + c, c, one[c], two[c]);
      }
    }
  });
  for (std::int64_t part = 0; part < chunks; ++part) {
    const double* one = parts + part * 2 * wide;
    for (std::int64_t k = 0; k < wide; ++k) {
      sums[k % width] += one[k];
      sums[width + k % width] += one[wide + k];
    }
  }
}

// Mean and variance of each channel. Sums are taken of what remains after the first element of the
// channel, so that nothing is lost when the mean is far from zero.
template <class T>
void moments(Call& call, const Layout& at, const T* x, float* mean, float* variance) {
  if (at.rows == 0) {
    std::fill_n(mean, at.channels, std::numeric_limits<float>::quiet_NaN());
    std::fill_n(variance, at.channels, std::numeric_limits<float>::quiet_NaN());
    return;
  }
  float* first = repeated(call, at, times_of(at));
  for (std::int64_t c = 0; c < at.channels; ++c) {
    const float value = widen(x[at.last ? c : c * at.inside]);
    first[c] = std::isfinite(value) ? value : 0.0F;
  }
  repeat(first, at.channels, times_of(at));
  double* sums = call.scratch<double>(2 * at.channels);
  const auto terms = [x, first](std::int64_t k, std::int64_t c, double& one, double& two) {
    const double away = static_cast<double>(widen(x[k])) - static_cast<double>(first[c]);
    one += away;
    two += away * away;
  };
  two_sums(call, at, terms, sums);
  const auto count = static_cast<double>(at.rows);
  for (std::int64_t c = 0; c < at.channels; ++c) {
    const double away = sums[c] / count;
    const double spread = sums[at.channels + c] / count - away * away;
    mean[c] = static_cast<float>(first[c] + away);
    variance[c] = static_cast<float>(spread < 0 ? 0.0 : spread);
  }
}

struct Vectors {
  const float* mean;
  const float* variance;
  const float* scale;
  const float* offset;
};

// y = (x - mean) / sqrt(variance + epsilon) * scale + offset
template <class T>
void normalize(Call& call, const Layout& at, const Vectors& by, float epsilon, const T* x, T* y) {
  const std::int64_t times = times_of(at);
  float* mean = repeated(call, at, times);
  float* factor = repeated(call, at, times);
  float* offset = repeated(call, at, times);
  for (std::int64_t c = 0; c < at.channels; ++c) {
    mean[c] = by.mean[c];
    factor[c] = by.scale[c] / std::sqrt(by.variance[c] + epsilon);
    offset[c] = by.offset[c];
  }
  for (float* vector : {mean, factor, offset}) repeat(vector, at.channels, times);
  for_stretches(at, times, 2, [&](std::int64_t from, std::int64_t count, std::int64_t channel) {
    const T* in = x + from;
    T* out = y + from;
    if (at.last) {
#pragma GCC ivdep
      for (std::int64_t k = 0; k < count; ++k) {
        out[k] = narrow<T>((widen(in[k]) - mean[k]) * factor[k] + offset[k]);
      }
    } else {
      const float m = mean[channel];
      const float f = factor[channel];
      const float o = offset[channel];
#pragma GCC ivdep
      for (std::int64_t k = 0; k < count; ++k) out[k] = narrow<T>((widen(in[k]) - m) * f + o);
    }
  });
}

template <class T>
class FusedBatchNorm {
 public:
  explicit FusedBatchNorm(const Node& node)
      : epsilon_(node.real("epsilon")), factor_(node.real("exponential_avg_factor")),
        format_(node.string("data_format")), training_(node.boolean("is_training")) {
    if (!node.has("activation_mode")) return;
    const std::string mode = node.string("activation_mode");
    relu_ = mode == "Relu";
    if (!relu_ && mode != "Identity") fail(TF_UNIMPLEMENTED, "activation " + mode);
  }

  void compute(Call& call) const {
    const Tensor x = call.input(0);
    const Layout at = layout_of(x, format_);
    const Tensor scale = call.input(1);
    const Tensor offset = call.input(2);
    const Tensor mean = call.input(3);
    const Tensor variance = call.input(4);
    check_vector(scale, at.channels, "scale");
    check_vector(offset, at.channels, "offset");
    require(mean.rank() == 1 && variance.rank() == 1, "mean and variance must be 1-dimensional");
    const bool mixes = training_ && factor_ != 1.0F;
    if (!training_ || mixes) {
      check_vector(mean, at.channels, "mean");
      check_vector(variance, at.channels, "variance");
    }
    Vectors by = {mean.as<float>(), variance.as<float>(), scale.as<float>(), offset.as<float>()};
    if (training_) {
      train(call, at, x, by);
    } else {
      for (int k = 1; k <= 4; ++k) call.share(k, k % 2 == 1 ? 3 : 4, mean.dims());
    }
    const Tensor y = call.output(0, x.dims(), 0);
    normalize(call, at, by, epsilon_, x.as<T>(), y.write<T>());
    for (int k = 5; k < call.inputs(); ++k) add_side(call.input(k), y);
    if (relu_) relu(y);
    if (call.outputs() > 5) *call.output(5, {}).write<float>() = 0.0F;
  }

 private:
  // The moments of this batch replace the given ones, and mix with them in outputs 1 and 2.
  void train(Call& call, const Layout& at, const Tensor& x, Vectors& by) const {
    const Dims dims = {at.channels};
    float* mean = call.output(3, dims).write<float>();
    float* variance = call.output(4, dims).write<float>();
    moments(call, at, x.as<T>(), mean, variance);
    float* running_mean = call.output(1, dims).write<float>();
    float* running_variance = call.output(2, dims).write<float>();
    const auto count = static_cast<double>(at.rows);
    const auto unbiased = static_cast<float>(count / std::max(count - 1, 1.0));
    for (std::int64_t c = 0; c < at.channels; ++c) {
      running_mean[c] = mean[c];
      running_variance[c] = at.rows == 0 ? variance[c] : variance[c] * unbiased;
      if (factor_ == 1.0F) continue;
      running_mean[c] = (1 - factor_) * by.mean[c] + factor_ * running_mean[c];
      running_variance[c] = (1 - factor_) * by.variance[c] + factor_ * running_variance[c];
    }
    by.mean = mean;
    by.variance = variance;
  }

  static void add_side(const Tensor& side, const Tensor& y) {
    require(std::ranges::equal(side.dims(), y.dims()), "side_input must have the shape of x");
    const T* from = side.as<T>();
    T* to = y.write<T>();
    parallel(y.count(), 1, [&](std::int64_t begin, std::int64_t end) {
#pragma GCC ivdep
      for (std::int64_t k = begin; k < end; ++k) to[k] = narrow<T>(widen(to[k]) + widen(from[k]));
    });
  }
  static void relu(const Tensor& y) {
    T* to = y.write<T>();
    parallel(y.count(), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        const Wide<T> value = widen(to[k]);
        to[k] = narrow<T>(value < 0 ? Wide<T>(0) : value);  // NaN stays
      }
    });
  }

  float epsilon_;
  float factor_;
  std::string format_;
  bool training_;
  bool relu_ = false;
};

// What a gradient does to the elements of a channel: (dy - shift - (x - mean) * slope) * factor,
// and dy * factor when the moments were given.
struct Pull {
  bool training;
  float* mean;
  float* shift;
  float* slope;
  float* factor;
};

template <class T>
void pull(const Layout& at, std::int64_t times, const Pull& by, const T* dy, const T* x, T* dx) {
  for_stretches(at, times, 3, [&](std::int64_t from, std::int64_t count, std::int64_t channel) {
    const T* in = x + from;
    const T* up = dy + from;
    T* out = dx + from;
    const auto each = [&](auto step) {
      const std::int64_t c = channel;
      if (by.training) {
#pragma GCC ivdep
        for (std::int64_t k = 0; k < count; ++k) {
          const std::int64_t at_k = c + k * step;
          const float away = (widen(in[k]) - by.mean[at_k]) * by.slope[at_k];
          out[k] = narrow<T>((widen(up[k]) - by.shift[at_k] - away) * by.factor[at_k]);
        }
      } else {
#pragma GCC ivdep
        for (std::int64_t k = 0; k < count; ++k) {
          out[k] = narrow<T>(widen(up[k]) * by.factor[c + k * step]);
        }
      }
    };
    if (at.last) each(std::integral_constant<std::int64_t, 1>());
    else each(std::integral_constant<std::int64_t, 0>());
  });
}

template <class T>
class FusedBatchNormGrad {
 public:
  explicit FusedBatchNormGrad(const Node& node)
      : epsilon_(node.real("epsilon")), format_(node.string("data_format")),
        training_(node.boolean("is_training")) {}

  void compute(Call& call) const {
    const Tensor dy = call.input(0);
    const Tensor x = call.input(1);
    const Layout at = layout_of(x, format_);
    layout_of(dy, format_);
    require(std::ranges::equal(dy.dims(), x.dims()), "x and y_backprop must have the same shape");
    const Tensor vectors[] = {call.input(2), call.input(3), call.input(4)};
    check_vector(vectors[0], at.channels, "scale");
    check_vector(vectors[1], at.channels, "mean");
    check_vector(vectors[2], at.channels, "variance");
    const std::int64_t times = times_of(at);
    float* mean = repeated(call, at, times);
    std::copy_n(vectors[1].as<float>(), at.channels, mean);
    repeat(mean, at.channels, times);
    double* sums = call.scratch<double>(2 * at.channels);
    const T* up = dy.as<T>();
    const T* in = x.as<T>();
    const auto terms = [up, in, mean](std::int64_t k, std::int64_t c, double& one, double& two) {
      const double gradient = widen(up[k]);
      one += gradient;
      two += gradient * (static_cast<double>(widen(in[k])) - static_cast<double>(mean[c]));
    };
    two_sums(call, at, terms, sums);
    const Pull by = factors(call, at, times, sums, vectors);
    const Tensor dx = call.output(0, x.dims(), 0);
    pull(at, times, by, up, in, dx.write<T>());
    call.output(3, {{0}});
    call.output(4, {{0}});
  }

 private:
  // Outputs 1 and 2, and what the elements are pulled with.
  Pull factors(Call& call, const Layout& at, std::int64_t times, const double* sums,
               const Tensor* vectors) const {
    const Pull by = {training_, repeated(call, at, times), repeated(call, at, times),
                     repeated(call, at, times), repeated(call, at, times)};
    float* d_scale = call.output(1, {{at.channels}}).write<float>();
    float* d_offset = call.output(2, {{at.channels}}).write<float>();
    const auto count = static_cast<float>(std::max<std::int64_t>(at.rows, 1));
    for (std::int64_t c = 0; c < at.channels; ++c) {
      const float inverse = 1 / std::sqrt(vectors[2].as<float>()[c] + epsilon_);
      d_offset[c] = static_cast<float>(sums[c]);
      d_scale[c] = static_cast<float>(sums[at.channels + c]) * inverse;
      by.mean[c] = vectors[1].as<float>()[c];
      by.shift[c] = d_offset[c] / count;
      by.slope[c] = inverse * d_scale[c] / count;
      by.factor[c] = vectors[0].as<float>()[c] * inverse;
    }
    for (float* vector : {by.mean, by.shift, by.slope, by.factor}) {
      repeat(vector, at.channels, times);
    }
    return by;
  }

  float epsilon_;
  std::string format_;
  bool training_;
};

template <class T>
void add_type(TF_DataType type) {
  for (const char* op : {"FusedBatchNormV2", "FusedBatchNormV3", "_FusedBatchNormEx"}) {
    add<FusedBatchNorm<T>>(op, {{"T", {type}}, {"U", {TF_FLOAT}}});
  }
  for (const char* op : {"FusedBatchNormGradV2", "FusedBatchNormGradV3"}) {
    add<FusedBatchNormGrad<T>>(op, {{"T", {type}}, {"U", {TF_FLOAT}}});
  }
}

}  // namespace

const Family registered([] {
  add<FusedBatchNorm<float>>("FusedBatchNorm", {{"T", {TF_FLOAT}}});
  add<FusedBatchNormGrad<float>>("FusedBatchNormGrad", {{"T", {TF_FLOAT}}});
  add_type<float>(TF_FLOAT);
  add_type<Half>(TF_HALF);
  add_type<BFloat16>(TF_BFLOAT16);
});

}  // namespace drystone::cpu
