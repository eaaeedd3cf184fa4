// Sixteen floats at once, for processors that have such registers.
#ifndef DRYSTONE_CPU_DNNL_WIDE_LANES_H_
#define DRYSTONE_CPU_DNNL_WIDE_LANES_H_

#include <algorithm>
#include <cstdint>

#ifdef __x86_64__
// GCC 12 warns of the undefined values in its own header, where they are masked out.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#endif

#include "dnnl/newer.h"

namespace drystone::cpu::dnnl_part {

constexpr std::int64_t kLanes = 16;

inline std::int64_t up(std::int64_t count, std::int64_t by) { return (count + by - 1) / by; }

#ifdef __x86_64__

#define DRYSTONE_WIDE DRYSTONE_NEWER("avx512f")

DRYSTONE_WIDE inline __mmask16 first_lanes(std::int64_t count) {
  return static_cast<__mmask16>((1U << std::clamp<std::int64_t>(count, 0, kLanes)) - 1);
}

#endif

}  // namespace drystone::cpu::dnnl_part

#endif  // DRYSTONE_CPU_DNNL_WIDE_LANES_H_
