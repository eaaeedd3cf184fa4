// Functions of gamma and error type that are not in every C library's vector form: by numbers of 64
// bits, rounded once.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/family.h"
#include "core/moving.h"
#include "core/widen.h"

namespace drystone::cpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kSlope = 0.5 / std::numbers::inv_sqrtpi;  // of the inverse of erf at 0

bool is_pole(double x) { return x <= 0 && x == std::floor(x); }

double lgamma_of(double x) {
  if (std::isinf(x) || is_pole(x)) return kInfinity;
  int sign = 0;  // not std::lgamma, which writes the sign to a global variable
  return ::lgamma_r(x, &sign);
}

// Reflection, recurrence up to 10, then Stirling's series (Abramowitz and Stegun, 6.3.5 to 6.3.18).
double digamma_of(double x) {
  // B(2k) / 2k for k = 7 ... 1, B being the Bernoulli numbers.
  constexpr double kSeries[] = {1.0 / 12,  -691.0 / 32760, 1.0 / 132, -1.0 / 240,
                                1.0 / 252, -1.0 / 120,     1.0 / 12};
  if (is_pole(x)) return kNaN;
  if (std::isinf(x)) return x;
  double out = 0;
  if (x < 0) {
    out = -std::numbers::pi / std::tan(std::numbers::pi * (x - std::rint(x)));
    x = 1 - x;
  }
  while (x < 10) {
    out -= 1 / x;
    x += 1;
  }
  const double square = 1 / (x * x);
  double tail = 0;
  for (const double c : kSeries) tail = (tail + c) * square;
  return std::log(x) - 0.5 / x - tail + out;
}

// The y >= 0 with erfc(y) = tail for 0 < tail <= 1, by Newton's method on the logarithm, which is
// nearly a parabola; it begins where erf is approximated (Winitzki, 2008).
double upper_quantile(double tail) {
  const double log_tail = std::log(tail);
  const double squared = log_tail + std::log(2 - tail);  // of 1 - erf(y)^2
  const double middle = 2 / (std::numbers::pi * 0.147) + squared / 2;
  double y = std::sqrt(std::max(std::sqrt(middle * middle - squared / 0.147) - middle, 0.0));
  for (int k = 0; k < 5; ++k) {
    const double found = std::erfc(y);
    const double density = std::exp(-y * y);
    if (found <= 0 || density <= 0) break;
    y += (std::log(found) - log_tail) * kSlope * found / density;
  }
  return y;
}

double erfinv_of(double x) {
  const double size = std::fabs(x);
  if (std::isnan(x) || size > 1) return kNaN;
  if (size == 1) return std::copysign(kInfinity, x);
  if (size > 0.5) return std::copysign(upper_quantile(1 - size), x);
  double y = kSlope * x;
  for (int k = 0; k < 6; ++k) y += kSlope * std::exp(y * y) * (x - std::erf(y));
  return y;
}

double ndtri_of(double p) {
  if (!(p > 0 && p < 1)) return p == 0 ? -kInfinity : p == 1 ? kInfinity : kNaN;
  return std::numbers::sqrt2 * (p < 0.25 ? -upper_quantile(2 * p) : erfinv_of(2 * p - 1));
}

// As NumPy casts: halfs at once, bfloat16 by way of float.
template <class T>
T rounded(double x) {
  if constexpr (std::is_same_v<T, Half>) return to_half(to_odd(x));
  else return narrow<T>(static_cast<Wide<T>>(x));
}

template <double (*function)(double), class T>
void each(Call& call) {
  constexpr std::int64_t kCost = 60;
  const Tensor x = call.input(0);
  const Tensor y = call.output(0, x.dims(), 0);
  parallel(x.count(), kCost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      y.write<T>()[k] = rounded<T>(function(static_cast<double>(widen(x.as<T>()[k]))));
    }
  });
}

template <double (*function)(double)>
void add_for(const char* op) {
  add<each<function, float>>(op, {{"T", {TF_FLOAT}}});
  add<each<function, double>>(op, {{"T", {TF_DOUBLE}}});
  add<each<function, Half>>(op, {{"T", {TF_HALF}}});
  add<each<function, BFloat16>>(op, {{"T", {TF_BFLOAT16}}});
}

}  // namespace

const Family registered([] {
  add_for<lgamma_of>("Lgamma");
  add_for<digamma_of>("Digamma");
  add_for<erfinv_of>("Erfinv");
  add_for<ndtri_of>("Ndtri");
});

}  // namespace drystone::cpu
