// Products with one row or one column: see dnnl/gemv.h.
#include "dnnl/gemv.h"

#include <algorithm>

#include <dnnl.hpp>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "dnnl/newer.h"

namespace drystone::cpu::dnnl_part {

namespace {

constexpr std::int64_t kLanes = 16;
constexpr int kOfStrip = 4;  // registers
constexpr std::int64_t kStrip = kOfStrip * kLanes;
constexpr std::int64_t kRows = 16;  // of a strip: a multiple of it

}  // namespace

#ifdef __x86_64__
namespace {

constexpr int kRegisters = 8;  // as many sums at once as hide how long an addition takes
constexpr std::int64_t kAhead = 8;  // rows: matrices of the third cache take a fifth less time

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

// The columns of a strip.
DRYSTONE_WIDE void strip(const float* x, const float* m, const float* bias, float* y,
                         std::int64_t depth, std::int64_t count) {
  __m512 sums[kOfStrip];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  for (std::int64_t k = 0; k < depth; ++k, m += kStrip) {
    const __m512 by = _mm512_set1_ps(x[k]);
    for (int i = 0; i < kOfStrip; ++i) {
      _mm_prefetch(m + kAhead * kStrip + i * kLanes, _MM_HINT_T0);
      sums[i] = _mm512_fmadd_ps(by, _mm512_loadu_ps(m + i * kLanes), sums[i]);
    }
  }
  for (int i = 0; i < kOfStrip; ++i) {
    const std::int64_t left = std::clamp<std::int64_t>(count - i * kLanes, 0, kLanes);
    const auto mask = static_cast<__mmask16>((1U << left) - 1);
    if (bias != nullptr)
      sums[i] = _mm512_add_ps(sums[i], _mm512_maskz_loadu_ps(mask, bias + i * kLanes));
    _mm512_mask_storeu_ps(y + i * kLanes, mask, sums[i]);
  }
}

DRYSTONE_WIDE float sum_of(__m512 lanes) {
  float out[kLanes];
  _mm512_storeu_ps(out, lanes);
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2)
    for (std::int64_t i = 0; i < half; ++i) out[i] += out[half + i];
  return out[0];
}

// The next rows, at most kRegisters, each times the column. No template: those stay in no section.
DRYSTONE_WIDE void few_rows(const float* m, const float* x, float* y, std::int64_t depth,
                            std::int64_t count) {
  const float* row[kRegisters];
  for (int i = 0; i < kRegisters; ++i) row[i] = m + std::min<std::int64_t>(i, count - 1) * depth;
  __m512 sums[kRegisters];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  for (std::int64_t k = 0; k < depth; k += kLanes) {
    const std::int64_t left = std::min(depth - k, kLanes);
    const auto mask = static_cast<__mmask16>((1U << left) - 1);
    const __m512 by = _mm512_maskz_loadu_ps(mask, x + k);
    for (int i = 0; i < kRegisters; ++i)
      sums[i] = _mm512_fmadd_ps(by, _mm512_maskz_loadu_ps(mask, row[i] + k), sums[i]);
  }
  for (std::int64_t i = 0; i < count; ++i) y[i] = sum_of(sums[i]);
}

}  // namespace

bool has_gemv() {
  static const auto has = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto needed = static_cast<unsigned>(dnnl::cpu_isa::avx512_core);
  return (has & needed) == needed;
}

void gemv_row_major(const float* x, const float* m, float* y, std::int64_t depth,
                  std::int64_t width) {
  std::int64_t j = 0;
  for (; j + kRegisters * kLanes <= width; j += kRegisters * kLanes)
    columns(x, m + j, y + j, depth, width);
  for (; j < width; j += kLanes)
    few_columns(x, m + j, y + j, depth, width, std::min(width - j, kLanes));
}

void gemv_strips(const float* x, const float* m, const float* bias, float* y, std::int64_t depth,
                  std::int64_t width, std::int64_t first, std::int64_t last) {
  const std::int64_t step = (depth + kRows - 1) / kRows * kRows * kStrip;
  for (std::int64_t k = first; k < last; ++k) {
    const std::int64_t j = k * kStrip;
    strip(x, m + k * step, bias == nullptr ? nullptr : bias + j, y + j, depth,
          std::min(width - j, kStrip));
  }
}

void gemv_column(const float* m, const float* x, float* y, std::int64_t rows, std::int64_t depth) {
  for (std::int64_t row = 0; row < rows; row += kRegisters)
    few_rows(m + row * depth, x, y + row, depth, std::min<std::int64_t>(rows - row, kRegisters));
}

#else

bool has_gemv() { return false; }
void gemv_row_major(const float*, const float*, float*, std::int64_t, std::int64_t) {}
void gemv_strips(const float*, const float*, const float*, float*, std::int64_t, std::int64_t,
                  std::int64_t, std::int64_t) {}
void gemv_column(const float*, const float*, float*, std::int64_t, std::int64_t) {}

#endif

std::int64_t strips_of(std::int64_t width) { return (width + kStrip - 1) / kStrip; }

Desc in_strips(std::int64_t depth, std::int64_t width) {
  return {{depth, width}, Type::f32, dnnl::memory::format_tag::BA16a64b};
}

}  // namespace drystone::cpu::dnnl_part
