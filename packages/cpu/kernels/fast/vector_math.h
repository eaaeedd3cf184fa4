// Math functions of floats without branches and tables, so that loops over them vectorize: none is
// ever called, for a loop with a call does not.
//
// Within 4 units in the last place of the true value, for denormals, infinities and NaN too:
// packages/cpu/tests/test_ulp.py. The polynomials are least-squares fits with weights for the
// relative error, made for these intervals.
#ifndef DRYSTONE_CPU_FAST_VECTOR_MATH_H_
#define DRYSTONE_CPU_FAST_VECTOR_MATH_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "fast/lanes.h"

namespace drystone::cpu::vector_math {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// a * b + c, rounded once where the processor can.
DRYSTONE_INLINE float mad(float a, float b, float c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
DRYSTONE_INLINE double mad(double a, double b, double c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

// The polynomial with these coefficients, the constant first.
template <class T, class... Rest>
DRYSTONE_INLINE T poly(T x, T first, Rest... rest) {
  if constexpr (sizeof...(rest) == 0) return first;
  else return mad(x, poly(x, rest...), first);
}

// 2^n; of an n that is out of range the result does not count.
DRYSTONE_INLINE float pow2(std::int32_t n) {
  return std::bit_cast<float>((static_cast<std::uint32_t>(n) + 127U) << 23);
}

// x = power * ln 2 + rest with |rest| <= ln 2 / 2.
struct Reduced {
  float rest;
  std::int32_t power;
};
DRYSTONE_INLINE Reduced reduce_exp(float x) {
  constexpr float kMagic = 12582912.0F;  // 1.5 * 2^23: a sum with it is rounded to a whole
  const float shifted = mad(x, 1.44269504F, kMagic);
  const float whole = shifted - kMagic;
  const float rest = mad(whole, 2.12194440e-4F, mad(whole, -0.693359375F, x));
  return {rest, std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kMagic)};
}
// e^r - 1 for |r| <= ln 2 / 2.
DRYSTONE_INLINE float small_expm1(float r) {
  const float q = poly(r, 5.000000078e-01F, 1.666666686e-01F, 4.166626927e-02F, 8.333265344e-03F,
                       1.394611705e-03F, 1.991787136e-04F);
  return mad(r * r, q, r);
}

DRYSTONE_INLINE float exp(float x) {
  const float held = x < -104.0F ? -104.0F : x > 89.0F ? 89.0F : x;  // NaN stays
  const Reduced at = reduce_exp(held);
  const std::int32_t half = at.power >> 1;  // in two steps, for what is denormal or overflows
  return (1.0F + small_expm1(at.rest)) * pow2(half) * pow2(at.power - half);
}

DRYSTONE_INLINE float expm1(float x) {
  const float held = x < -20.0F ? -20.0F : x > 89.0F ? 89.0F : x;
  const Reduced at = reduce_exp(held);
  const float half = pow2(at.power - 1);
  const float out = 2.0F * mad(small_expm1(at.rest), half, half - 0.5F);
  return std::fabs(x) < 0x1p-25F ? x : out;
}

// log(1 + f) - f for 1 + f between the roots of 1/2 and 2.
DRYSTONE_INLINE float small_log(float f) {
  const float q = poly(f, 3.333331034e-01F, -2.499998678e-01F, 2.000223440e-01F, -1.666924453e-01F,
                       1.421847900e-01F, -1.238437150e-01F, 1.187444815e-01F, -1.179020717e-01F,
                       6.912264653e-02F);
  const float square = f * f;
  return mad(f * square, q, -0.5F * square);
}
// x = mantissa * 2^power, the mantissa between the roots of 1/2 and 2.
struct Parts {
  float mantissa;
  std::int32_t power;
};
DRYSTONE_INLINE Parts split(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::int32_t power = static_cast<std::int32_t>(bits - 0x3f3504f3U) >> 23;
  const std::uint32_t moved = bits - (static_cast<std::uint32_t>(power) << 23);
  return {std::bit_cast<float>(moved), power};
}
// power * ln 2 + f + more
DRYSTONE_INLINE float join_log(std::int32_t power, float f, float more) {
  const auto k = static_cast<float>(power);
  return mad(k, 0.693359375F, f + mad(k, -2.12194440e-4F, more));
}

DRYSTONE_INLINE float log(float x) {
  const bool tiny = x < 0x1p-126F;
  const Parts at = split(tiny ? x * 0x1p23F : x);
  const float f = at.mantissa - 1.0F;
  const float out = join_log(tiny ? at.power - 23 : at.power, f, small_log(f));
  const float outside = x == 0.0F ? -kInfinity : kNaN;
  const float inside = x == kInfinity ? x : out;
  return x > 0.0F ? inside : outside;
}

DRYSTONE_INLINE float log1p(float x) {
  const float sum = 1.0F + x;
  const Parts at = split(sum);
  const bool near = at.power == 0;
  const float f = near ? x : at.mantissa - 1.0F;
  const float lost = near ? 0.0F : (x - (sum - 1.0F)) / sum;  // in rounding the sum
  const float out = join_log(at.power, f, small_log(f) + lost);
  const float outside = x == -1.0F ? -kInfinity : kNaN;
  const float inside = std::fabs(x) < 0x1p-25F || x == kInfinity ? x : out;
  return x > -1.0F ? inside : outside;
}

DRYSTONE_INLINE float tanh(float x) {
  const float size = std::fabs(x);
  const float held = size > 10.0F ? 10.0F : size;
  const float t = expm1(2.0F * held);
  const float out = t / (t + 2.0F);
  return std::copysign(size < 0x1p-13F ? size : out, x);
}

DRYSTONE_INLINE float sigmoid(float x) {
  const float small = exp(-std::fabs(x));  // cannot overflow: both tails keep their precision
  return (x >= 0.0F ? 1.0F : small) / (1.0F + small);
}

DRYSTONE_INLINE float softplus(float x) {
  return (x > 0.0F ? x : 0.0F) + log1p(exp(-std::fabs(x)));
}

DRYSTONE_INLINE float erf(float x) {
  const float size = std::fabs(x);
  const float u = x * x;
  const float p = poly(u, 1.283791665e-01F, -3.761263229e-01F, 1.128367255e-01F, -2.685810429e-02F,
                       5.197797167e-03F, -8.105965117e-04F, 8.215423699e-05F);
  const float near = mad(x, p, x);
  const float held = size > 4.0F ? 4.0F : size;
  const float tail =
      poly(held, -1.705520382e-04F, 1.129495159e+00F, 6.333866465e-01F, 1.082366194e-01F,
           -2.509149682e-02F, 4.160527007e-03F, -4.323030081e-04F, 2.090955585e-05F);
  const float far = std::copysign(1.0F - exp(-tail), x);
  return size < 0.95F ? near : far;
}

// x times the normal distribution up to x, within 1e-7 of x. One minus the error function is e^-tail:
// the polynomial is fitted up to 3.9, and grows after that.
DRYSTONE_INLINE float gelu(float x) {
  const float t = std::fabs(x) * 0.70710678F;
  const float tail = t * poly(t, 1.128380251e+00F, 6.365977357e-01F, 1.029196006e-01F,
                              -1.958392687e-02F, 5.368881835e-04F, 1.032434007e-03F,
                              -3.088137702e-04F, 3.144178889e-05F);
  const float beyond = 0.5F * exp(-tail);
  return x * (x < 0.0F ? beyond : 1.0F - beyond);
}

// Sine and cosine, for |x| <= kMostAngle: the angle is reduced in double.
inline constexpr float kMostAngle = 1e5F;
struct Angle {
  float rest;            // within a quarter of pi
  std::int32_t quarter;  // halves of pi
};
DRYSTONE_INLINE Angle reduce_angle(float x) {
  constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52
  const double wide = x;
  const double shifted = wide * 0.63661977236758134308 + kMagic;
  const double whole = shifted - kMagic;
  const double rest = (wide - whole * 1.57079632673412561417) - whole * 6.07710050650619224932e-11;
  return {static_cast<float>(rest),
          static_cast<std::int32_t>(std::bit_cast<std::int64_t>(shifted))};
}
DRYSTONE_INLINE float small_sin(float r) {
  const float u = r * r;
  return mad(r * u,
             poly(u, -1.666666664e-01F, 8.333329383e-03F, -1.983933384e-04F, 2.718301926e-06F), r);
}
DRYSTONE_INLINE float small_cos(float r) {
  const float u = r * r;
  const float q = poly(u, 4.166664685e-02F, -1.388736671e-03F, 2.443835617e-05F);
  return mad(u * u, q, mad(u, -0.5F, 1.0F));
}
DRYSTONE_INLINE float of_quarter(Angle at) {
  const float out = (at.quarter & 1) != 0 ? small_cos(at.rest) : small_sin(at.rest);
  return (at.quarter & 2) != 0 ? -out : out;
}
DRYSTONE_INLINE float sin(float x) {
  const float out = of_quarter(reduce_angle(x));
  return std::fabs(x) < 0x1p-13F ? x : out;
}
DRYSTONE_INLINE float cos(float x) {
  Angle at = reduce_angle(x);
  ++at.quarter;
  return of_quarter(at);
}
DRYSTONE_INLINE float tan(float x) {
  const Angle at = reduce_angle(x);
  const float s = small_sin(at.rest);
  const float c = small_cos(at.rest);
  const float out = (at.quarter & 1) != 0 ? -c / s : s / c;
  return std::fabs(x) < 0x1p-13F ? x : out;
}

// log2 of a positive finite number; what it gives for others does not count.
DRYSTONE_INLINE double log2_of(double x) {
  const auto bits = std::bit_cast<std::int64_t>(x);
  const std::int64_t power = (bits - 0x3fe6a09e667f3bcd) >> 52;
  const double m = std::bit_cast<double>(static_cast<std::uint64_t>(bits) -
                                         (static_cast<std::uint64_t>(power) << 52));
  // Without a conversion of 64-bit integers, which older processors lack for vectors.
  const double whole = std::bit_cast<double>(power + 0x4338000000000000) - 6755399441055744.0;
  const double s = (m - 1.0) / (m + 1.0);
  const double u = s * s;
  const double g =
      poly(u, 6.66666666665871266e-01, 4.00000000523442534e-01, 2.85714171184888843e-01,
           2.22233725302558943e-01, 1.81236118943113145e-01, 1.68202453263862184e-01);
  return whole + mad(s * u, g, 2.0 * s) * 1.44269504088896340736;
}
// 2^x for |x| <= 1000.
DRYSTONE_INLINE double exp2_of(double x) {
  constexpr double kMagic = 6755399441055744.0;
  const double shifted = x + kMagic;
  const double f = x - (shifted - kMagic);
  const std::int64_t power =
      std::bit_cast<std::int64_t>(shifted) - std::bit_cast<std::int64_t>(kMagic);
  const double p = poly(f, 1.0, 6.93147180545931385e-01, 2.40226506954686447e-01,
                        5.55041094121002457e-02, 9.61812922837339788e-03, 1.33334505650316076e-03,
                        1.54034116889823880e-04, 1.53100800332169557e-05, 1.32640596581328425e-06);
  return p * std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52);
}

DRYSTONE_INLINE float pow(float x, float y) {
  const float size = std::fabs(x);
  const double found = log2_of(size);
  const double finite = size == 0.0F ? -static_cast<double>(kInfinity) : found;
  const double log = size < kInfinity ? finite : static_cast<double>(size);  // NaN stays
  const double product = log * static_cast<double>(y);
  const double held = product < -200.0 ? -200.0 : product > 200.0 ? 200.0 : product;
  const auto power = static_cast<float>(exp2_of(held));
  const float half = 0.5F * y;
  const bool whole = std::floor(y) == y;
  const bool odd = whole & (std::floor(half) != half);
  const float of_sign = odd ? std::copysign(power, x) : power;
  const bool none = (x < 0.0F) & !whole & (size < kInfinity);
  const float out = none ? kNaN : of_sign;
  const bool one = (y == 0.0F) | (x == 1.0F) | ((size == 1.0F) & (std::fabs(y) == kInfinity));
  return one ? 1.0F : out;
}

}  // namespace drystone::cpu::vector_math

#endif  // DRYSTONE_CPU_FAST_VECTOR_MATH_H_
