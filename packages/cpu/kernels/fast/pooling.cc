// Average and maximum pooling.
#include <iterator>
#include <limits>

#include "core/family.h"
#include "core/pool_window.h"
#include "core/widen.h"
#include "fast/lanes.h"
#include "fast/neighbours.h"
#include "fast/plane_gradients.h"
#include "fast/plane_pooling.h"

namespace drystone::cpu {
namespace {

// Images of the op's rank: [N, H, W, C], or with one more dimension where `spatial` is 3.
void check_rank(const Tensor& x, int spatial) {
  require(x.rank() == spatial + 2, "the input's rank must fit");
}

// A kernel that is told how many dimensions of space its op has: compiled once for all of them.
template <class Kernel, int kSpatial>
struct In : Kernel {
  explicit In(const Node& node) : Kernel(node, kSpatial) {}
};

// body(image, window, part) for the windows of rows [begin, end), which are counted through all
// images.
template <class Body>
DRYSTONE_INLINE void walk_rows(const Pool& p, std::int64_t begin, std::int64_t end, Body&& body) {
  const std::int64_t rows = p.out[0] * p.out[1];
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t window = row % rows * p.out[2];
    Pool::Part part = p.part(window);
    for (std::int64_t w = 0; w < p.out[2]; ++w) {
      const std::int64_t start = w * p.stride[2] - p.before[2];
      part.first[2] = std::max<std::int64_t>(start, 0);
      part.last[2] = std::max(std::min(start + p.size[2], p.in[2]), part.first[2]);
      body(row / rows, window + w, part);
    }
  }
}

// The same for all windows of all images, by several threads.
template <class Body>
void each_window(const Pool& p, Body&& body) {
  if (p.windows() == 0) return;
  const std::int64_t cost = p.out[2] * (5 + p.taps() * p.channels / 16);
  parallel(p.batch * p.out[0] * p.out[1], cost,
           [&](std::int64_t begin, std::int64_t end) { walk_rows(p, begin, end, body); });
}

// Pool by planes where channels are first and rows of windows fill registers: work(a Worker of the
// thread's, plane) for each. Says whether it did.
template <class T, template <class> class Worker, class Work>
bool each_plane(const Pool& given, bool channels_first, Work&& work) {
  if constexpr (sizeof(Wide<T>) < 4) return false;
  else {
    if (!channels_first) return false;
    const Pool p = lying(given);
    if (!in_rows<T>(p)) return false;
    parallel(p.batch, plane_cost(p), [&](std::int64_t begin, std::int64_t end) {
      Worker<T> worker(p);
      for (std::int64_t plane = begin; plane < end; ++plane) work(worker, plane);
    });
    return true;
  }
}

// The same for a worker that makes one number of each window.
template <class T, template <class> class Worker>
bool pool_planes(const Pool& p, bool channels_first, const Tensor& x, T* to) {
  return each_plane<T, Worker>(p, channels_first, [&](auto& worker, std::int64_t plane) {
    const std::int64_t at = plane * p.places();
    worker.pool(x.as<T>() + at, x.count() - at - p.places(), to + plane * p.windows());
  });
}

template <class T>
T greater(T best, T x) {
  const Wide<T> wide = widen(x);
  if constexpr (std::is_integral_v<T>) return x > best ? x : best;
  else return wide > widen(best) || wide != wide ? x : best;
}

template <class T>
void max_windows(const Pool& p, const T* __restrict x, T* __restrict y) {
  const std::int64_t channels = p.channels;
  each_window(p, [&](std::int64_t image, std::int64_t window, const Pool::Part& part) {
    const T* image_at = x + image * p.places() * channels;
    T* out = y + (image * p.windows() + window) * channels;
    in_registers<T>(channels, [&](std::int64_t c, auto lanes, auto registers) {
      using Values = Lanes<Wide<T>, lanes>;
      Registers<Wide<T>, lanes, registers> best;
      for (Values& one : best) one = widen(lowest<T>()) - Values{};
      p.each(part, [&](std::int64_t place) {
        const T* from = image_at + place * channels + c;
        for (int k = 0; k < registers; ++k) {
          Values value;
          load<T, lanes>(value, from + k * lanes);
          take_greater<Wide<T>, lanes>(best[k], value);
        }
      });
      for (int k = 0; k < registers; ++k) store<T, lanes>(out + c + k * lanes, best[k]);
    });
  });
}

// The maximum over runs of channels.
template <class T>
void max_channels(const Call& call, const Tensor& x, const Dims& ksize, const Dims& strides) {
  const std::size_t last = ksize.size() - 1;
  const std::int64_t run = ksize[last];
  bool fits =
      strides.size() == ksize.size() && strides[last] == run && x.dim(x.rank() - 1) % run == 0;
  for (std::size_t k = 0; fits && k < last; ++k) fits = ksize[k] == 1 && strides[k] == 1;
  if (!fits) {
    fail(TF_UNIMPLEMENTED,
         "pooling over channels needs windows of channels only that divide them evenly");
  }
  Dims dims(x.dims().begin(), x.dims().end());
  dims.back() /= run;
  const Tensor y = call.output(0, dims);
  for (std::int64_t k = 0; k < y.count(); ++k) {
    const T* from = x.as<T>() + k * run;
    T best = from[0];
    for (std::int64_t j = 1; j < run; ++j) best = greater(best, from[j]);
    y.write<T>()[k] = best;
  }
}

// Sizes of the windows that an input holds.
Dims four(const Tensor& input) {
  require(input.rank() == 1 && input.count() == 4, "ksize and strides must hold 4 values");
  return {input.as<std::int32_t>(), input.as<std::int32_t>() + 4};
}

template <class T>
class MaxPool {
 public:
  MaxPool(const Node& node, int spatial) : windows_(node), spatial_(spatial) {}

  void compute(Call& call) const {
    const Tensor x = call.input(0);
    check_rank(x, spatial_);
    const bool given = call.inputs() == 3;
    const Dims ksize = given ? four(call.input(1)) : windows_.ksize();
    const Dims strides = given ? four(call.input(2)) : windows_.strides();
    const std::size_t channel = windows_.channels_first() ? 1 : spatial_ + 1;
    if (!windows_.channels_first() && std::ssize(ksize) == spatial_ + 2 && ksize[channel] > 1) {
      max_channels<T>(call, x, ksize, strides);
      return;
    }
    const Pool p = windows_.place(x.dims(), ksize, strides);
    const T* from = x.as<T>();
    T* to = call.output(0, p.result).template write<T>();
    if (pool_planes<T, PlaneMaxima>(p, windows_.channels_first(), x, to)) return;
    along_channels<T, 1>(p, windows_.channels_first(), {{{from, p.places()}}}, to, p.windows(),
                         [](const Pool& some, const auto& x, T* y) { max_windows(some, x[0], y); });
  }

 private:
  PoolWindows windows_;
  int spatial_;
};

template <class T>
class AvgPool {
 public:
  AvgPool(const Node& node, int spatial) : windows_(node), spatial_(spatial) {}

  void compute(Call& call) const {
    const Tensor x = call.input(0);
    check_rank(x, spatial_);
    const Pool p = windows_.place(x.dims());
    const T* from = x.as<T>();
    T* to = call.output(0, p.result).template write<T>();
    if (pool_planes<T, PlaneAverages>(p, windows_.channels_first(), x, to)) return;
    along_channels<T, 1>(p, windows_.channels_first(), {{{from, p.places()}}}, to, p.windows(),
                         [](const Pool& some, const auto& x, T* y) { average(some, x[0], y); });
  }

 private:
  static void average(const Pool& p, const T* __restrict x, T* __restrict y) {
    const std::int64_t channels = p.channels;
    each_window(p, [&](std::int64_t image, std::int64_t window, const Pool::Part& part) {
      const T* image_at = x + image * p.places() * channels;
      T* out = y + (image * p.windows() + window) * channels;
      const auto count = static_cast<Wide<T>>(part.count());
      in_registers<T>(channels, [&](std::int64_t c, auto lanes, auto registers) {
        Registers<Wide<T>, lanes, registers> sums{};
        p.each(part, [&](std::int64_t place) {
          const T* from = image_at + place * channels + c;
          for (int k = 0; k < registers; ++k) {
            Lanes<Wide<T>, lanes> value;
            load<T, lanes>(value, from + k * lanes);
            sums[k] += value;
          }
        });
        for (int k = 0; k < registers; ++k) {
          store<T, lanes>(out + c + k * lanes, sums[k] / count);
        }
      });
    });
  }

  PoolWindows windows_;
  int spatial_;
};

void check_gradient(const Tensor& dy, const Pool& p) {
  if (std::ranges::equal(dy.dims(), p.result)) return;
  fail(TF_INVALID_ARGUMENT, "the gradient must have the shape of the pooled output: " +
                                text(dy.dims()) + " instead of " + text(p.result));
}

// body(image) for all images: windows that overlap add to the same elements, so that an image stays
// with one thread.
template <class Body>
void each_image(const Pool& p, Body&& body) {
  parallel(p.batch, 1 + p.windows() * p.taps() * p.channels / 4,
           [&](std::int64_t begin, std::int64_t end) {
             for (std::int64_t image = begin; image < end; ++image) body(image);
           });
}

// The gradient goes to each window's first maximum.
template <class T>
class MaxPoolGrad {
 public:
  explicit MaxPoolGrad(const Node& node) : windows_(node) {}

  void compute(Call& call) const {
    const Tensor x = call.input(0);
    const Tensor dy = call.input(2);
    check_rank(x, 2);
    const bool given = call.inputs() == 5;
    const Pool p = given ? windows_.place(x.dims(), four(call.input(3)), four(call.input(4)))
                         : windows_.place(x.dims());
    check_gradient(dy, p);
    check_gradient(call.input(1), p);
    const Tensor dx = call.output(0, x.dims());
    const auto by_row = [&](auto& gradient, std::int64_t plane) {
      const std::int64_t at = plane * p.places();
      gradient.spread(x.as<T>() + at, x.count() - at - p.places(), dy.as<T>() + plane * p.windows(),
                      dx.write<T>() + at);
    };
    if (each_plane<T, PlaneMaximumGradient>(p, windows_.channels_first(), by_row)) return;
    const auto spread_all = [](const Pool& some, const auto& from, T* to) {
      each_image(some, [&](std::int64_t image) {
        const std::int64_t at = image * some.places() * some.channels;
        spread_image(some, from[0] + at, from[1] + image * some.windows() * some.channels, to + at);
      });
    };
    along_channels<T, 2>(p, windows_.channels_first(),
                         {{{x.as<T>(), p.places()}, {dy.as<T>(), p.windows()}}}, dx.write<T>(),
                         p.places(), spread_all);
  }

 private:
  static void spread_image(const Pool& p, const T* x, const T* dy, T* dx) {
    if constexpr (kIsNarrow<T>) {
      std::vector<float> sums(static_cast<std::size_t>(p.places() * p.channels));
      spread(p, x, dy, sums.data());
      std::transform(sums.begin(), sums.end(), dx, [](float sum) { return narrow<T>(sum); });
    } else {
      spread(p, x, dy, dx);
    }
  }

  static void spread(const Pool& p, const T* __restrict x, const T* __restrict dy,
                     Wide<T>* __restrict dx) {
    const std::int64_t channels = p.channels;
    std::fill_n(dx, p.places() * channels, Wide<T>{0});
    if (p.windows() == 0) return;
    walk_rows(p, 0, p.out[0] * p.out[1],
              [&](std::int64_t, std::int64_t window, const Pool::Part& part) {
                const T* grad = dy + window * channels;
                in_lanes<T>(channels, [&](std::int64_t c, auto lanes) {
                  spread_window<lanes>(p, part, x + c, grad + c, dx + c);
                });
              });
  }

  // Finds which of the window's places is the first with its maximum, then adds to that one.
  template <int lanes>
  DRYSTONE_INLINE static void spread_window(const Pool& p, const Pool::Part& part,
                                            const T* __restrict x, const T* __restrict dy,
                                            Wide<T>* __restrict dx) {
    using Values = Lanes<Wide<T>, lanes>;
    using Numbers = Lanes<std::int32_t, lanes>;
    Values best{};
    Numbers where = Numbers{} - 1;
    std::int32_t tap = 0;
    p.each(part, [&](std::int64_t place) {
      Values value;
      load<T, lanes>(value, x + place * p.channels);
      const Numbers better = __builtin_convertvector(best < value, Numbers) | (where < 0);
      best = __builtin_convertvector(better, decltype(best < value)) ? value : best;
      where = better ? tap - Numbers{} : where;
      ++tap;
    });
    Values grad;
    load<T, lanes>(grad, dy);
    tap = 0;
    p.each(part, [&](std::int64_t place) {
      Wide<T>* to = dx + place * p.channels;
      Values sum;
      load<Wide<T>, lanes>(sum, to);
      const Numbers here = where == tap;
      sum = __builtin_convertvector(here, decltype(best < grad)) ? sum + grad : sum;
      store<Wide<T>, lanes>(to, sum);
      ++tap;
    });
  }

  PoolWindows windows_;
};

template <class T>
class AvgPoolGrad {
 public:
  AvgPoolGrad(const Node& node, int spatial) : windows_(node), spatial_(spatial) {}

  void compute(Call& call) const {
    const Tensor sizes = call.input(0);
    const Tensor dy = call.input(1);
    check_rank(dy, spatial_);
    require(sizes.rank() == 1 && sizes.count() == spatial_ + 2,
            "orig_input_shape must have one entry per dimension");
    const Dims dims(sizes.as<std::int32_t>(), sizes.as<std::int32_t>() + sizes.count());
    for (const std::int64_t dim : dims) require(dim >= 0, "orig_input_shape must not be negative");
    const Pool p = windows_.place(dims);
    check_gradient(dy, p);
    const Tensor dx = call.output(0, dims);
    const auto by_row = [&](auto& gradient, std::int64_t plane) {
      gradient.spread(dy.as<T>() + plane * p.windows(), dx.write<T>() + plane * p.places());
    };
    if (each_plane<T, PlaneAverageGradient>(p, windows_.channels_first(), by_row)) return;
    const auto spread_all = [](const Pool& some, const auto& from, T* to) {
      each_image(some, [&](std::int64_t image) {
        spread(some, from[0] + image * some.windows() * some.channels,
               to + image * some.places() * some.channels);
      });
    };
    along_channels<T, 1>(p, windows_.channels_first(), {{{dy.as<T>(), p.windows()}}}, dx.write<T>(),
                         p.places(), spread_all);
  }

 private:
  static void spread(const Pool& p, const T* __restrict dy, T* __restrict dx) {
    const std::int64_t channels = p.channels;
    std::fill_n(dx, p.places() * channels, T{0});
    if (p.windows() == 0) return;
    const auto spread_one = [&](std::int64_t, std::int64_t window, const Pool::Part& part) {
      const T count = static_cast<T>(part.count());
      in_lanes<T>(channels, [&](std::int64_t c, auto lanes) {
        Lanes<T, lanes> share;
        load<T, lanes>(share, dy + window * channels + c);
        share /= count;
        p.each(part, [&](std::int64_t place) {
          T* to = dx + place * channels + c;
          Lanes<T, lanes> sum;
          load<T, lanes>(sum, to);
          sum += share;
          store<T, lanes>(to, sum);
        });
      });
    };
    walk_rows(p, 0, p.out[0] * p.out[1], spread_one);
  }

  PoolWindows windows_;
  int spatial_;
};

template <class T>
void add_max(TF_DataType dtype) {
  add<In<MaxPool<T>, 2>>("MaxPool", {{"T", {dtype}}});
  add<In<MaxPool<T>, 2>>("MaxPoolV2", {{"T", {dtype}}});
}

template <class T>
void add_max_with_gradient(TF_DataType dtype) {
  if (dtype != TF_UINT32 && dtype != TF_UINT64) add_max<T>(dtype);
  add<MaxPoolGrad<T>>("MaxPoolGrad", {{"T", {dtype}}});
  add<MaxPoolGrad<T>>("MaxPoolGradV2", {{"T", {dtype}}});
}

template <class T>
void add_average(TF_DataType dtype) {
  add<In<AvgPool<T>, 2>>("AvgPool", {{"T", {dtype}}});
  add<In<AvgPool<T>, 3>>("AvgPool3D", {{"T", {dtype}}});
}

template <class T>
void add_average_with_gradient(TF_DataType dtype) {
  add_average<T>(dtype);
  add<In<AvgPoolGrad<T>, 2>>("AvgPoolGrad", {{"T", {dtype}}});
  add<In<AvgPoolGrad<T>, 3>>("AvgPool3DGrad", {{"T", {dtype}}});
}

}  // namespace

const Family registered([] {
  add_average_with_gradient<float>(TF_FLOAT);
  add_average_with_gradient<double>(TF_DOUBLE);
  add_average<Half>(TF_HALF);
  add_average<BFloat16>(TF_BFLOAT16);
  add<In<MaxPool<float>, 3>>("MaxPool3D", {{"T", {TF_FLOAT}}});
  add_max_with_gradient<float>(TF_FLOAT);
  add_max_with_gradient<double>(TF_DOUBLE);
  add_max_with_gradient<Half>(TF_HALF);
  add_max_with_gradient<BFloat16>(TF_BFLOAT16);
  add_max_with_gradient<std::int8_t>(TF_INT8);
  add_max<std::int8_t>(TF_QINT8);
  add_max_with_gradient<std::uint8_t>(TF_UINT8);
  add_max_with_gradient<std::int16_t>(TF_INT16);
  add_max_with_gradient<std::uint16_t>(TF_UINT16);
  add_max_with_gradient<std::int32_t>(TF_INT32);
  add_max_with_gradient<std::uint32_t>(TF_UINT32);
  add_max_with_gradient<std::int64_t>(TF_INT64);
  add_max_with_gradient<std::uint64_t>(TF_UINT64);
});

}  // namespace drystone::cpu
