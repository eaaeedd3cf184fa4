// Small square filters over planes: see dnnl/plane_strips.h.
#include "dnnl/plane_strips.h"

#include <algorithm>

#include "dnnl/wide_lanes.h"

namespace drystone::cpu::dnnl_part {
namespace {

#ifdef __x86_64__

constexpr int kRows = 4;  // of the result at once: a vector that is read serves all of them

// What lies in so many lanes from `first` on, where that is in [0, count).
DRYSTONE_WIDE inline __mmask16 within(std::int64_t first, std::int64_t count) {
  return static_cast<__mmask16>(first_lanes(count - first) & ~first_lanes(-first));
}

// For a strip: which lanes each tap of a row reads, and which elements are loaded for them.
struct Lanes {
  __mmask16 read[6];
  __mmask16 loaded[2][6];
};

// What the taps of a row read: from each tap on sixteen elements, or every second one of as many more.
DRYSTONE_WIDE __attribute__((always_inline)) inline void read_row(const float* row, const Lanes& lanes,
                                                                  int size, int stride, __m512* out) {
  if (stride == 1) {
#pragma GCC unroll 5
    for (int k = 0; k < size; ++k) out[k] = _mm512_maskz_loadu_ps(lanes.read[k], row + k);
    return;
  }
  const __m512i twos = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i next = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
#pragma GCC unroll 3
  for (int k = 0; k < size; k += 2) {
    const __m512 a = _mm512_maskz_loadu_ps(lanes.loaded[0][k], row + k);
    const __m512 b = _mm512_maskz_loadu_ps(lanes.loaded[1][k], row + k + kLanes);
    out[k] = _mm512_permutex2var_ps(a, twos, b);
    out[k + 1] = _mm512_permutex2var_ps(a, next, b);
  }
}

DRYSTONE_WIDE inline Lanes lanes_of(std::int64_t first, std::int64_t columns, __mmask16 kept, int size,
                                    int stride) {
  Lanes out{};
  for (int k = 0; k < size; ++k) {
    const std::int64_t before = up(std::max<std::int64_t>(-first - k, 0), stride);
    const std::int64_t inside = up(std::max<std::int64_t>(columns - first - k, 0), stride);
    out.read[k] = static_cast<__mmask16>(kept & first_lanes(inside) & ~first_lanes(before));
    out.loaded[0][k] = within(first + k, columns);
    out.loaded[1][k] = within(first + k + kLanes, columns);
  }
  return out;
}

// A plane whose filter is square, in strips as wide as a vector. `size` and `stride` are constants
// where this is inlined, so that sums stay in registers.
DRYSTONE_WIDE __attribute__((always_inline)) inline void make_strips(
    const Strips& at, const float* x, const float* w, float bias, float* y, int size, int stride) {
  const __m512 least = _mm512_set1_ps(at.low);
  const __m512 most = _mm512_set1_ps(at.high);
  for (std::int64_t c = 0; c < at.out_columns; c += kLanes) {
    const __mmask16 kept = first_lanes(at.out_columns - c);
    const std::int64_t first = c * stride - at.before_columns;
    const Lanes lanes = lanes_of(first, at.in_columns, kept, size, stride);
    const auto store = [&](std::int64_t row, __m512 sum) __attribute__((always_inline, target("avx512f"))) {
      _mm512_mask_storeu_ps(y + row * at.out_columns + c, kept,
                            _mm512_min_ps(most, _mm512_max_ps(least, sum)));
    };
    for (std::int64_t r = 0; r < at.out_rows;) {
      const std::int64_t top = r * stride - at.before_rows;
      const float* from = x + top * at.in_columns + first;
      if (top >= 0 && r + kRows <= at.out_rows && top + (kRows - 1) * stride + size <= at.in_rows) {
        __m512 sums[kRows];
#pragma GCC unroll 4
        for (int i = 0; i < kRows; ++i) sums[i] = _mm512_set1_ps(bias);
#pragma GCC unroll 16
        for (int j = 0; j < (kRows - 1) * stride + size; ++j) {
          __m512 read[6];
          read_row(from + j * at.in_columns, lanes, size, stride, read);
#pragma GCC unroll 5
          for (int k = 0; k < size; ++k) {
#pragma GCC unroll 4
            for (int i = 0; i < kRows; ++i) {
              const int tap = j - i * stride;
              if (tap < 0 || tap >= size) continue;
              const __m512 by = _mm512_set1_ps(w[tap * size + k]);
              sums[i] = _mm512_mask3_fmadd_ps(by, read[k], sums[i], lanes.read[k]);
            }
          }
        }
#pragma GCC unroll 4
        for (int i = 0; i < kRows; ++i) store(r + i, sums[i]);
        r += kRows;
        continue;
      }
      __m512 sum = _mm512_set1_ps(bias);
      const std::int64_t end = std::min<std::int64_t>(size, at.in_rows - top);
      for (std::int64_t j = std::max<std::int64_t>(-top, 0); j < end; ++j) {
        __m512 read[6];
        read_row(from + j * at.in_columns, lanes, size, stride, read);
#pragma GCC unroll 5
        for (int k = 0; k < size; ++k)
          sum = _mm512_mask3_fmadd_ps(_mm512_set1_ps(w[j * size + k]), read[k], sum, lanes.read[k]);
      }
      store(r, sum);
      ++r;
    }
  }
}

DRYSTONE_WIDE void strips_3(const Strips& at, const float* x, const float* w, float bias, float* y) {
  make_strips(at, x, w, bias, y, 3, 1);
}
DRYSTONE_WIDE void strips_3_by_2(const Strips& at, const float* x, const float* w, float bias, float* y) {
  make_strips(at, x, w, bias, y, 3, 2);
}
DRYSTONE_WIDE void strips_5(const Strips& at, const float* x, const float* w, float bias, float* y) {
  make_strips(at, x, w, bias, y, 5, 1);
}
DRYSTONE_WIDE void strips_5_by_2(const Strips& at, const float* x, const float* w, float bias, float* y) {
  make_strips(at, x, w, bias, y, 5, 2);
}

DRYSTONE_WIDE __attribute__((always_inline)) inline void add_row(__m512 grad, const __m512* read,
                                                                 const Lanes& lanes, __m512* sums) {
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k) sums[k] = _mm512_mask3_fmadd_ps(grad, read[k], sums[k], lanes.read[k]);
}

DRYSTONE_WIDE __attribute__((always_inline)) inline void add_strip(
    const Strips& at, const float* x, const float* grad, std::int64_t c, int stride, __m512* sums) {
  const __mmask16 kept = first_lanes(at.out_columns - c);
  const std::int64_t first = c * stride - at.before_columns;
  const Lanes lanes = lanes_of(first, at.in_columns, kept, 3, stride);
  for (std::int64_t r = 0; r < at.out_rows; ++r) {
    const __m512 by = _mm512_maskz_loadu_ps(kept, grad + r * at.out_columns + c);
    const std::int64_t top = r * stride - at.before_rows;
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) {
      if (top + j < 0 || top + j >= at.in_rows) continue;
      __m512 read[6];
      read_row(x + (top + j) * at.in_columns + first, lanes, 3, stride, read);
      add_row(by, read, lanes, sums + j * 3);
    }
  }
}

// The same where windows move by one: a row that is read serves the three rows of the result over it.
DRYSTONE_WIDE __attribute__((always_inline)) inline void add_close_strip(
    const Strips& at, const float* x, const float* grad, std::int64_t c, __m512* sums) {
  const __mmask16 kept = first_lanes(at.out_columns - c);
  const std::int64_t first = c - at.before_columns;
  const Lanes lanes = lanes_of(first, at.in_columns, kept, 3, 1);
  const auto of_row = [&](std::int64_t row) __attribute__((always_inline, target("avx512f"))) {
    const bool is_one = row >= 0 && row < at.out_rows;
    return _mm512_maskz_loadu_ps(is_one ? kept : __mmask16{0}, grad + (is_one ? row * at.out_columns + c : 0));
  };
  __m512 above = of_row(at.before_rows - 2), middle = of_row(at.before_rows - 1);
  for (std::int64_t i = 0; i < at.in_rows; ++i) {
    const std::int64_t r = i + at.before_rows;  // whose first tap reads this row
    const __m512 below = of_row(r);
    __m512 read[6];
    read_row(x + i * at.in_columns + first, lanes, 3, 1, read);
    if (r >= 2 && r < at.out_rows) {
      add_row(below, read, lanes, sums);
      add_row(middle, read, lanes, sums + 3);
      add_row(above, read, lanes, sums + 6);
    } else {  // what reads nothing here adds nothing, of NaN neither
      if (r < at.out_rows) add_row(below, read, lanes, sums);
      if (r >= 1 && r - 1 < at.out_rows) add_row(middle, read, lanes, sums + 3);
      if (r >= 2 && r - 2 < at.out_rows) add_row(above, read, lanes, sums + 6);
    }
    above = middle;
    middle = below;
  }
}

DRYSTONE_WIDE __attribute__((always_inline)) inline void add_strips(
    const Strips& at, const float* x, const float* grad, float* sums, int stride) {
  __m512 all[9];
#pragma GCC unroll 9
  for (int t = 0; t < 9; ++t) all[t] = _mm512_setzero_ps();
  for (std::int64_t c = 0; c < at.out_columns; c += kLanes) {
    if (stride == 1) add_close_strip(at, x, grad, c, all);
    else add_strip(at, x, grad, c, stride, all);
  }
#pragma GCC unroll 9
  for (int t = 0; t < 9; ++t) sums[t] += _mm512_reduce_add_ps(all[t]);
}

DRYSTONE_WIDE void products_3(const Strips& at, const float* x, const float* grad, float* sums) {
  add_strips(at, x, grad, sums, 1);
}
DRYSTONE_WIDE void products_3_by_2(const Strips& at, const float* x, const float* grad, float* sums) {
  add_strips(at, x, grad, sums, 2);
}

#else

void strips_3(const Strips&, const float*, const float*, float, float*) {}
void strips_3_by_2(const Strips&, const float*, const float*, float, float*) {}
void strips_5(const Strips&, const float*, const float*, float, float*) {}
void strips_5_by_2(const Strips&, const float*, const float*, float, float*) {}
void products_3(const Strips&, const float*, const float*, float*) {}
void products_3_by_2(const Strips&, const float*, const float*, float*) {}

#endif

}  // namespace

MakeStrips strips_for(std::int64_t size, std::int64_t stride) {
  if (size == 3) return stride == 1 ? strips_3 : stride == 2 ? strips_3_by_2 : nullptr;
  if (size == 5) return stride == 1 ? strips_5 : stride == 2 ? strips_5_by_2 : nullptr;
  return nullptr;
}

AddStripProducts strip_products_for(std::int64_t size, std::int64_t stride) {
  if (size != 3) return nullptr;
  return stride == 1 ? products_3 : stride == 2 ? products_3_by_2 : nullptr;
}

}  // namespace drystone::cpu::dnnl_part
