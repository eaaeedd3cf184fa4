// Pooling with channels first: images of one channel, some of which are turned to be neighbours.
#ifndef DRYSTONE_CPU_FAST_NEIGHBOURS_H_
#define DRYSTONE_CPU_FAST_NEIGHBOURS_H_

#include <algorithm>
#include <array>
#include <memory>

#include "core/moving.h"
#include "core/pool_window.h"
#include "fast/lanes.h"

namespace drystone::cpu {

// Planes of so many elements each, one after the other.
template <class T>
struct PlanesOf {
  const T* data;
  std::int64_t area;
};

#ifdef __AVX512F__
template <class E, int... kAt>
DRYSTONE_INLINE void weave(const Lanes<E, sizeof...(kAt)>* from, Lanes<E, sizeof...(kAt)>* to,
                           std::integer_sequence<int, kAt...>) {
  constexpr int kSide = sizeof...(kAt);
#pragma GCC unroll 8
  for (int k = 0; k < kSide / 2; ++k) {
    const Lanes<E, kSide>& a = from[k];
    const Lanes<E, kSide>& b = from[k + kSide / 2];
    to[2 * k] = __builtin_shufflevector(a, b, (kAt % 2 * kSide + kAt / 2)...);
    to[2 * k + 1] = __builtin_shufflevector(a, b, (kAt % 2 * kSide + kAt / 2 + kSide / 2)...);
  }
}

// Elements that a mask takes, at any address.
template <class E>
DRYSTONE_INLINE Lanes<E, 64 / sizeof(E)> read_some(const E* from, std::int64_t count) {
  const auto mask = static_cast<std::uint32_t>((1U << std::min<std::int64_t>(count, 64 / sizeof(E))) - 1);
  if constexpr (sizeof(E) == 4)
    return reinterpret_cast<Lanes<E, 16>>(_mm512_maskz_loadu_epi32(static_cast<__mmask16>(mask), from));
  else
    return reinterpret_cast<Lanes<E, 8>>(_mm512_maskz_loadu_epi64(static_cast<__mmask8>(mask), from));
}
template <class E>
DRYSTONE_INLINE void write_some(E* to, const Lanes<E, 64 / sizeof(E)>& values, std::int64_t count) {
  const auto mask = static_cast<std::uint32_t>((1U << std::min<std::int64_t>(count, 64 / sizeof(E))) - 1);
  const auto bits = reinterpret_cast<__m512i>(values);
  if constexpr (sizeof(E) == 4) _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(mask), bits);
  else _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(mask), bits);
}

// [outer, inner] as [inner, outer], a square of registers at a time: rows that are interleaved with
// those half of them further, as often as it takes for each to meet each, are columns.
template <class E>
void turn_squares(const E* from, std::int64_t outer, std::int64_t inner, E* to) {
  constexpr int kSide = 64 / sizeof(E);
  constexpr auto kAt = std::make_integer_sequence<int, kSide>();
  for (std::int64_t c = 0; c < outer; c += kSide) {
    for (std::int64_t k = 0; k < inner; k += kSide) {
      Lanes<E, kSide> rows[kSide], woven[kSide];
#pragma GCC unroll 16
      for (int i = 0; i < kSide; ++i)
        rows[i] = c + i < outer ? read_some(from + (c + i) * inner + k, inner - k) : Lanes<E, kSide>{};
      weave<E>(rows, woven, kAt);
      weave<E>(woven, rows, kAt);
      weave<E>(rows, woven, kAt);
      if constexpr (kSide == 16) weave<E>(woven, rows, kAt);
      const Lanes<E, kSide>* columns = kSide == 16 ? rows : woven;
#pragma GCC unroll 16
      for (int i = 0; i < kSide; ++i)
        if (k + i < inner) write_some(to + (k + i) * outer + c, columns[i], outer - c);
    }
  }
}
#endif

// [outer, inner] as [inner, outer].
template <class T>
void turn(const T* from, std::int64_t outer, std::int64_t inner, T* to) {
#ifdef __AVX512F__
  using E = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8)
    return turn_squares(reinterpret_cast<const E*>(from), outer, inner, reinterpret_cast<E*>(to));
#endif
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t dims[] = {inner, outer};
  const std::int64_t steps[] = {kSize, inner * kSize};
  gather_box(sizeof(T), dims, to, from, steps);
}

// body(pool, inputs, output), which goes along neighbouring channels, for what windows slide over. With
// channels last, once. Else for so many planes at a time that they stay in a cache: these are turned
// to the channels of one image, and what is made of them is turned back.
template <class T, std::size_t kInputs, class Body>
void along_channels(const Pool& p, bool channels_first, const std::array<PlanesOf<T>, kInputs>& given,
                    T* out, std::int64_t out_area, Body&& body) {
  std::array<const T*, kInputs> inputs;
  std::int64_t each = out_area;
  for (std::size_t i = 0; i < kInputs; ++i) {
    inputs[i] = given[i].data;
    each += given[i].area;
  }
  if (!channels_first) return body(p, inputs, out);
  constexpr std::int64_t kBytes = std::int64_t{1} << 18;
  constexpr std::int64_t kLeast = 64 / sizeof(T);
  const std::int64_t fit = kBytes / std::max<std::int64_t>(each * static_cast<std::int64_t>(sizeof(T)), 1);
  const std::int64_t at_once = std::clamp<std::int64_t>(fit / kLeast * kLeast, kLeast, 16 * kLeast);
  const std::int64_t blocks = (p.batch + at_once - 1) / at_once;
  const std::int64_t cost = at_once * (each + p.windows() * p.taps()) / 4;
  parallel(blocks, 1 + cost, [&](std::int64_t begin, std::int64_t end) {
    const auto room = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(each * at_once));
    std::array<const T*, kInputs> turned;  // each thread's own
    for (std::int64_t block = begin; block < end; ++block) {
      const std::int64_t first = block * at_once;
      Pool some = p;
      some.batch = 1;
      some.channels = std::min(at_once, p.batch - first);
      T* free = room.get();
      for (std::size_t i = 0; i < kInputs; ++i) {
        const std::int64_t area = given[i].area;
        turn(given[i].data + first * area, some.channels, area, free);
        turned[i] = std::exchange(free, free + some.channels * area);
      }
      body(some, turned, free);
      turn(free, out_area, some.channels, out + first * out_area);
    }
  });
}

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_FAST_NEIGHBOURS_H_
