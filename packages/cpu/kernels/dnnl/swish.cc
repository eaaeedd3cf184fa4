// Swish of elements of bfloat16: see dnnl/swish.h.
#include "dnnl/swish.h"

#include <algorithm>

#include <dnnl.hpp>

#ifdef __x86_64__
// GCC 12 warns of the undefined values in its own header, where they are masked out.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#endif

#include "core/kernel.h"
#include "dnnl/newer.h"

namespace drystone::cpu::dnnl_part {

#ifdef __x86_64__
namespace {

#define DRYSTONE_SHORT DRYSTONE_NEWER("avx512f,avx512bw,avx512vl,avx512bf16")

constexpr std::int64_t kLanes = 16;

// 2 to the power of t, to 5e-6 of it; from 129 on infinite.
DRYSTONE_SHORT inline __m512 power_of_two(__m512 t) {
  t = _mm512_max_ps(_mm512_min_ps(t, _mm512_set1_ps(129)), _mm512_set1_ps(-127));
  const __m512 whole = _mm512_roundscale_ps(t, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 rest = _mm512_sub_ps(t, whole);
  __m512 out = _mm512_set1_ps(0.00961812911F);
  for (const float next : {0.0555041087F, 0.240226507F, 0.693147181F, 1.0F})
    out = _mm512_fmadd_ps(out, rest, _mm512_set1_ps(next));
  return _mm512_scalef_ps(out, whole);
}

DRYSTONE_SHORT inline __m256i swish(__m256i bits) {
  const __m512 x = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
  const __m512 power = power_of_two(_mm512_mul_ps(x, _mm512_set1_ps(-1.44269504F)));
  const __m512 over = _mm512_rcp14_ps(_mm512_add_ps(power, _mm512_set1_ps(1)));
  return reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_mul_ps(x, over)));
}

DRYSTONE_SHORT void swish_some(std::uint16_t* y, std::int64_t count) {
  std::int64_t k = 0;
  for (; k + kLanes <= count; k += kLanes) {
    auto* at = reinterpret_cast<__m256i*>(y + k);
    _mm256_storeu_si256(at, swish(_mm256_loadu_si256(at)));
  }
  if (k == count) return;
  const auto mask = static_cast<__mmask16>((1U << (count - k)) - 1);
  _mm256_mask_storeu_epi16(y + k, mask, swish(_mm256_maskz_loadu_epi16(mask, y + k)));
}

}  // namespace

bool has_swish() {
  static const auto has = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto needed = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_bf16);
  return (has & needed) == needed;
}

void swish_all(std::uint16_t* y, std::int64_t count) {
  constexpr std::int64_t kBlock = 4096;
  constexpr std::int64_t kCost = kBlock / 5;
  parallel((count + kBlock - 1) / kBlock, kCost, [&](std::int64_t first, std::int64_t last) {
    swish_some(y + first * kBlock, std::min(last * kBlock, count) - first * kBlock);
  });
}

#else

bool has_swish() { return false; }
void swish_all(std::uint16_t*, std::int64_t) {}

#endif

}  // namespace drystone::cpu::dnnl_part
