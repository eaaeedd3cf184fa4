// So many neighbours at once: vectors of the compiler's, for loops over channels whose running
// values stay in registers.
#ifndef DRYSTONE_CPU_FAST_LANES_H_
#define DRYSTONE_CPU_FAST_LANES_H_

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/widen.h"

#ifdef __AVX512F__
// GCC 12 warns of the undefined values in its own header, where they are masked out.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#endif

namespace drystone::cpu {

template <class T, int kCount>
struct LanesOf {
  typedef T type __attribute__((vector_size(kCount * sizeof(T))));
};
// `kCount` values of a type of the machine, with operators; comparing gives 0 or -1 in each.
template <class T, int kCount>
using Lanes = typename LanesOf<T, kCount>::type;

#define DRYSTONE_INLINE __attribute__((always_inline)) inline

// Numbers of 16 bits as ones of 32, and the low halves of such. GCC takes three instructions for what
// one does with a whole register.
template <int kCount>
DRYSTONE_INLINE Lanes<std::uint32_t, kCount> widen_bits(const Lanes<std::uint16_t, kCount>& from) {
#ifdef __AVX512F__
  if constexpr (kCount == 16) {
    return reinterpret_cast<Lanes<std::uint32_t, kCount>>(
        _mm512_cvtepu16_epi32(reinterpret_cast<__m256i>(from)));
  }
#endif
  return __builtin_convertvector(from, Lanes<std::uint32_t, kCount>);
}
template <int kCount>
DRYSTONE_INLINE Lanes<std::uint16_t, kCount> low_halves(const Lanes<std::uint32_t, kCount>& from) {
#ifdef __AVX512F__
  if constexpr (kCount == 16) {
    return reinterpret_cast<Lanes<std::uint16_t, kCount>>(
        _mm512_cvtepi32_epi16(reinterpret_cast<__m512i>(from)));
  }
#endif
  return __builtin_convertvector(from, Lanes<std::uint16_t, kCount>);
}

template <class T, int kCount>
DRYSTONE_INLINE void load(Lanes<Wide<T>, kCount>& to, const T* from) {
  if constexpr (std::is_same_v<T, BFloat16> && kCount > 1) {
    Lanes<std::uint16_t, kCount> bits;
    std::memcpy(&bits, from, sizeof(bits));
    const Lanes<std::uint32_t, kCount> wide = widen_bits<kCount>(bits) << 16;
    std::memcpy(&to, &wide, sizeof(to));
  } else if constexpr (kIsNarrow<T>) {
    for (int k = 0; k < kCount; ++k) to[k] = widen(from[k]);
  } else {
    std::memcpy(&to, from, sizeof(to));
  }
}

// The numbers rounded to bfloat16, in the upper halves, where none is NaN but what an operation on
// numbers of bfloat16 gives: the lower half of such is 0, so that rounding leaves it NaN.
template <int kCount>
DRYSTONE_INLINE Lanes<std::uint32_t, kCount> short_bits(const Lanes<float, kCount>& from) {
  Lanes<std::uint32_t, kCount> bits;
  std::memcpy(&bits, &from, sizeof(bits));
  return bits + 0x7fffu + ((bits >> 16) & 1u);
}

template <class T, int kCount>
DRYSTONE_INLINE void store(T* to, const Lanes<Wide<T>, kCount>& from) {
  if constexpr (std::is_same_v<T, BFloat16> && kCount > 1) {
    Lanes<std::uint32_t, kCount> bits;
    std::memcpy(&bits, &from, sizeof(bits));
    const Lanes<std::uint32_t, kCount> kept =  // as to_bfloat16() does
        (from != from ? (bits & 0x80000000u) | 0x7fc00000u : short_bits<kCount>(from)) >> 16;
    const Lanes<std::uint16_t, kCount> out = low_halves<kCount>(kept);
    std::memcpy(to, &out, sizeof(out));
  } else if constexpr (kIsNarrow<T>) {
    for (int k = 0; k < kCount; ++k) to[k] = narrow<T>(from[k]);
  } else {
    std::memcpy(to, &from, sizeof(from));
  }
}

// Bytes of a register: of vectors that are wider compilers compare element by element.
#if defined(__AVX512F__)
inline constexpr int kRegister = 64;
#elif defined(__AVX2__)
inline constexpr int kRegister = 32;
#else
inline constexpr int kRegister = 16;
#endif

// body(first, std::integral_constant<int, lanes>) for pieces of [0, count) that fill registers of
// values of T, or halves and quarters of the widest.
template <class T, class Body>
DRYSTONE_INLINE void in_lanes(std::int64_t count, Body&& body) {
  constexpr auto kSize = static_cast<int>(sizeof(Wide<T>));
  constexpr int kMost = kRegister / kSize;
  std::int64_t k = 0;
  for (; k + kMost <= count; k += kMost) body(k, std::integral_constant<int, kMost>());
  if constexpr (kRegister >= 32) {
    for (constexpr int kSome = kMost / 2; k + kSome <= count; k += kSome) {
      body(k, std::integral_constant<int, kSome>());
    }
  }
  if constexpr (kRegister >= 64) {
    for (constexpr int kSome = kMost / 4; k + kSome <= count; k += kSome) {
      body(k, std::integral_constant<int, kSome>());
    }
  }
  for (; k < count; ++k) body(k, std::integral_constant<int, 1>());
}

// So many registers of lanes: running values that do not wait for each other.
template <class T, int kLanes, int kCount>
using Registers = Lanes<T, kLanes>[kCount];

// body(first, std::integral_constant<int, lanes>, std::integral_constant<int, registers>) for pieces
// of [0, count): as many full registers at once as hide how long an operation takes, then as
// in_lanes() has them.
template <class T, class Body>
DRYSTONE_INLINE void in_registers(std::int64_t count, Body&& body) {
  constexpr int kMost = kRegister / static_cast<int>(sizeof(Wide<T>));
  constexpr int kAtOnce = 4;
  constexpr auto kPiece = std::int64_t{kAtOnce} * kMost;
  const std::int64_t whole = count / kPiece * kPiece;
  for (std::int64_t k = 0; k < whole; k += kPiece) {
    body(k, std::integral_constant<int, kMost>(), std::integral_constant<int, kAtOnce>());
  }
  in_lanes<T>(count - whole, [&](std::int64_t k, auto lanes) {
    body(whole + k, lanes, std::integral_constant<int, 1>());
  });
}

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_FAST_LANES_H_
