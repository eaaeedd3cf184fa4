// Maximum pooling, and its gradient.
#include <limits>

#include "core/family.h"
#include "core/widen.h"
#include "fast/pool_loops.h"

namespace drystone::cpu {
namespace {

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
                const auto piece = [&](std::int64_t c, auto lanes) {
                  spread_window<lanes>(p, part, x + c, grad + c, dx + c);
                };
                if constexpr (std::is_integral_v<T>) {  // nobody trains those
                  for (std::int64_t c = 0; c < channels; ++c) piece(c, std::integral_constant<int, 1>());
                } else {
                  in_lanes<T>(channels, piece);
                }
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

}  // namespace

const Family registered([] {
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
