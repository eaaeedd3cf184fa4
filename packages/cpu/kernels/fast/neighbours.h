// Pooling with channels first: images of one channel, some of which are turned to be neighbours.
#ifndef DRYSTONE_CPU_FAST_NEIGHBOURS_H_
#define DRYSTONE_CPU_FAST_NEIGHBOURS_H_

#include <algorithm>
#include <array>
#include <memory>

#include "core/moving.h"
#include "core/pool_window.h"

namespace drystone::cpu {

// Planes of so many elements each, one after the other.
template <class T>
struct PlanesOf {
  const T* data;
  std::int64_t area;
};

// [outer, inner] as [inner, outer].
template <class T>
void turn(const T* from, std::int64_t outer, std::int64_t inner, T* to) {
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
    for (std::int64_t block = begin; block < end; ++block) {
      const std::int64_t first = block * at_once;
      Pool some = p;
      some.batch = 1;
      some.channels = std::min(at_once, p.batch - first);
      T* free = room.get();
      for (std::size_t i = 0; i < kInputs; ++i) {
        const std::int64_t area = given[i].area;
        turn(given[i].data + first * area, some.channels, area, free);
        inputs[i] = std::exchange(free, free + some.channels * area);
      }
      body(some, inputs, free);
      turn(free, out_area, some.channels, out + first * out_area);
    }
  });
}

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_FAST_NEIGHBOURS_H_
