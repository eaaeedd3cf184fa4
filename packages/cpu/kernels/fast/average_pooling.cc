// Average pooling, and its gradient.
#include "core/family.h"
#include "core/widen.h"
#include "fast/pool_loops.h"

namespace drystone::cpu {
namespace {

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
});

}  // namespace drystone::cpu
