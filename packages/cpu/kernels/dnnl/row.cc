// A row times a matrix: see dnnl/row.h.
#include "dnnl/row.h"

#include <algorithm>

#include <dnnl.hpp>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "dnnl/newer.h"

namespace drystone::cpu::dnnl_part {

#ifdef __x86_64__
namespace {

constexpr std::int64_t kLanes = 16;
constexpr int kRegisters = 8;  // as many sums at once as hide how long an addition takes

#define DRYSTONE_WIDE DRYSTONE_NEWER("avx512f")

// The next columns, as many as fill all registers.
DRYSTONE_WIDE void columns(const float* x, const float* m, float* y, std::int64_t depth,
                           std::int64_t width) {
  __m512 sums[kRegisters];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  for (std::int64_t k = 0; k < depth; ++k, m += width) {
    const __m512 by = _mm512_set1_ps(x[k]);
    for (int i = 0; i < kRegisters; ++i)
      sums[i] = _mm512_fmadd_ps(by, _mm512_loadu_ps(m + i * kLanes), sums[i]);
  }
  for (int i = 0; i < kRegisters; ++i) _mm512_storeu_ps(y + i * kLanes, sums[i]);
}

// The next columns, at most what one register holds.
DRYSTONE_WIDE void few_columns(const float* x, const float* m, float* y, std::int64_t depth,
                               std::int64_t width, std::int64_t count) {
  const auto mask = static_cast<__mmask16>((1U << count) - 1);
  __m512 sum = _mm512_setzero_ps();
  for (std::int64_t k = 0; k < depth; ++k, m += width)
    sum = _mm512_fmadd_ps(_mm512_set1_ps(x[k]), _mm512_maskz_loadu_ps(mask, m), sum);
  _mm512_mask_storeu_ps(y, mask, sum);
}

}  // namespace

bool is_row_quick(std::int64_t elements) {
  constexpr std::int64_t kNear = 1 << 18;  // 1 MiB: what the second cache of a core holds
  static const auto has = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto needed = static_cast<unsigned>(dnnl::cpu_isa::avx512_core);
  return elements <= kNear && (has & needed) == needed;
}

void times_matrix(const float* x, const float* m, float* y, std::int64_t depth,
                  std::int64_t width) {
  std::int64_t j = 0;
  for (; j + kRegisters * kLanes <= width; j += kRegisters * kLanes)
    columns(x, m + j, y + j, depth, width);
  for (; j < width; j += kLanes)
    few_columns(x, m + j, y + j, depth, width, std::min(width - j, kLanes));
}

#else

bool is_row_quick(std::int64_t) { return false; }
void times_matrix(const float*, const float*, float*, std::int64_t, std::int64_t) {}

#endif

}  // namespace drystone::cpu::dnnl_part
