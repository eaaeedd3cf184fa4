// Floats of 16 bits: to and from float, rounded to nearest, ties to even. Without branches, so that
// loops over them vectorize for any processor.
#ifndef DRYSTONE_CPU_CORE_NARROW_H_
#define DRYSTONE_CPU_CORE_NARROW_H_

#include <bit>
#include <cmath>
#include <cstdint>

namespace drystone::cpu {

struct Half {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

inline float to_float(BFloat16 x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}

inline float to_float(Half x) {
  const std::uint32_t sign = (x.bits & 0x8000u) << 16;
  const std::uint32_t rest = (x.bits & 0x7fffu) << 13;
  // A multiplication moves the exponent, and makes denormals normal.
  const std::uint32_t number = std::bit_cast<std::uint32_t>(std::bit_cast<float>(rest) * 0x1p112f);
  const std::uint32_t size = rest >= 0x0f800000u ? rest | 0x7f800000u : number;
  return std::bit_cast<float>(sign | size);
}

inline BFloat16 to_bfloat16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  const std::uint32_t nan = ((bits >> 16) & 0x8000u) | 0x7fc0u;
  return {static_cast<std::uint16_t>(is_nan ? nan : rounded)};
}

inline Half to_half(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t size = bits & 0x7fffffffu;
  // From 2^-14 on: the exponent is moved, the mantissa rounded; what overflows becomes infinity.
  const std::uint32_t normal = (size - 0x38000000u + 0xfffu + ((size >> 13) & 1u)) >> 13;
  // Below: adding 1/2 puts the last bit of a half where the last bit of a float is.
  const std::uint32_t tiny =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5f) - 0x3f000000u;
  std::uint32_t out = size < 0x38800000u ? tiny : normal;
  out = size >= 0x47800000u ? 0x7c00u : out;
  out = size > 0x7f800000u ? 0x7e00u : out;
  return {static_cast<std::uint16_t>(sign | out)};
}

// Rounded to a float with an odd last bit where it is inexact, so that the next rounding, to fewer
// bits, sees on which side of a tie it was.
inline float to_odd(double x) {
  const auto near = static_cast<float>(x);
  const double back = near;
  const std::uint32_t beyond = std::fabs(back) > std::fabs(x) ? 1 : 0;
  const std::uint32_t inexact = back != x ? 1 : 0;
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(near) - beyond) | inexact);
}

template <class T>
T from_float(float x);
template <>
inline Half from_float<Half>(float x) {
  return to_half(x);
}
template <>
inline BFloat16 from_float<BFloat16>(float x) {
  return to_bfloat16(x);
}

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_CORE_NARROW_H_
