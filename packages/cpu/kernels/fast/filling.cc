// Tensors of zeros and ones, and sequences of numbers.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

#include "core/moving_text.h"
#include "fast/elementwise.h"

namespace drystone::cpu {
namespace {

void zeros_like(Call& call) {
  const Tensor x = call.input(0);
  const Tensor out = call.output(0, x.dims(), 0);
  std::memset(out.write<void>(), 0,
              static_cast<std::size_t>(out.count()) * element_size(x.dtype()));
}

template <class T>
void ones_like(Call& call) {
  const Tensor x = call.input(0);
  const Tensor out = call.output(0, x.dims(), 0);
  const T one = [] {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return from_float<T>(1);
    else return T(1);
  }();
  std::fill_n(out.write<T>(), out.count(), one);
}

template <class... T>
void add_ones(Types<T...>) {
  (add<ones_like<T>>("OnesLike", {{"T", {kType<T>}}}), ...);
}

// The element of an input that must have one.
template <class T>
T only(const Call& call, int input, const char* what) {
  const Tensor value = call.input(input);
  if (value.count() != 1) {
    fail(TF_INVALID_ARGUMENT,
         std::string(what) + " must be a scalar, not shape " + text(value.dims()));
  }
  return *value.as<T>();
}

template <class T>
std::int64_t range_size(T first, T last, T step) {
  require(step != T(0), "Requires delta != 0");
  require(step > T(0) ? first <= last : first >= last,
          "Requires delta to point from start to limit");
  if constexpr (std::is_integral_v<T>) {
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): the sign is kept
    const auto from = static_cast<std::uint64_t>(step > 0 ? first : last);
    const std::uint64_t apart = static_cast<std::uint64_t>(step > 0 ? last : first) - from;
    const auto by =
        step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
    const std::uint64_t count = apart == 0 ? 0 : (apart - 1) / by + 1;
    if (count > INT64_MAX) fail_too_many("[" + std::to_string(count) + "]");
    return static_cast<std::int64_t>(count);
  } else {
    const double ratio = std::ceil(std::fabs(
        (static_cast<double>(last) - static_cast<double>(first)) / static_cast<double>(step)));
    require(ratio < 0x1p63, "the range must be finite");
    return static_cast<std::int64_t>(ratio);
  }
}

template <class T>
void range(Call& call) {
  const Wide<T> first = wide(only<T>(call, 0, "start"));
  const Wide<T> last = wide(only<T>(call, 1, "limit"));
  const Wide<T> step = wide(only<T>(call, 2, "delta"));
  const std::int64_t count = range_size(first, last, step);
  T* out = call.output(0, {&count, 1}).write<T>();
  if constexpr (std::is_integral_v<T>) {
    using W = Wrapping<T>;
    for (std::int64_t k = 0; k < count; ++k) {
      out[k] = static_cast<T>(static_cast<W>(first) + static_cast<W>(k) * static_cast<W>(step));
    }
  } else {  // added up one by one, as TensorFlow does
    Wide<T> value = first;
    for (std::int64_t k = 0; k < count; ++k, value += step) out[k] = as_held<T>(value);
  }
}

template <class... T>
void add_range(Types<T...>) {
  (add<range<T>>("Range", {{"Tidx", {kType<T>}}}), ...);
}

template <class T>
void linspace(Call& call) {
  for (int k = 0; k < 3; ++k)
    require(call.input(k).rank() == 0, "start, stop and num must be scalars");
  const auto first = static_cast<double>(wide(*call.input(0).as<T>()));
  const auto last = static_cast<double>(wide(*call.input(1).as<T>()));
  const std::int64_t count = integer_at(call.input(2), 0);
  require(count > 0, "Requires num > 0");
  T* out = call.output(0, {&count, 1}).write<T>();
  const auto gaps = static_cast<double>(count - 1);
  const double apart = last - first;
  const double step = count > 1 ? apart / gaps : 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const auto at = static_cast<double>(k);
    const double moved = step != 0 ? at * step : (count > 1 ? at / gaps : at) * apart;
    out[k] = as_held<T>(static_cast<Wide<T>>(moved + first));
  }
  if (count > 1) out[count - 1] = *call.input(1).as<T>();
  out[0] = *call.input(0).as<T>();  // also where steps are not finite
}

template <class... T>
void add_linspace(Types<T...>) {
  (add<linspace<T>>("LinSpace", {{"T", {kType<T>}}, {"Tidx", {TF_INT32, TF_INT64}}}), ...);
}

}  // namespace

void add_filling() {
  add_moving<zeros_like>("ZerosLike");
  add_ones(Floats{});
  add_ones(Signed{});
  add_ones(Unsigned{});
  add_ones(Types<Half, BFloat16, bool>{});
  add<ones_like<std::complex<float>>>("OnesLike", {{"T", {TF_COMPLEX64}}});
  add<ones_like<std::complex<double>>>("OnesLike", {{"T", {TF_COMPLEX128}}});
  add_range(Floats{});
  add_range(Signed{});
  add_range(Types<std::uint16_t, std::uint32_t, std::uint64_t, Half, BFloat16>{});
  add_linspace(Types<float, double, Half, BFloat16>{});
}

}  // namespace drystone::cpu
