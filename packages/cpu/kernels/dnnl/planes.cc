// Depthwise convolutions by planes: see dnnl/planes.h.
#include "dnnl/planes.h"

#include <algorithm>

#ifdef __x86_64__
// GCC 12 warns of the undefined values in its own header, where they are masked out.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#endif

#include "dnnl/gemv.h"
#include "dnnl/newer.h"

namespace drystone::cpu::dnnl_part {
namespace {

constexpr std::int64_t kLanes = 16;
constexpr std::int64_t kGroup = 4;  // vectors at once: so many sums hide how long an addition takes
constexpr std::int64_t kMostMasks = std::int64_t{1} << 18;

std::int64_t up(std::int64_t count, std::int64_t by) { return (count + by - 1) / by; }

// What a pass over a plane needs of Planes.
struct Pass {
  std::int64_t groups;
  std::int64_t taps;
  std::int64_t sources;  // planes that are read
  std::int64_t apart;    // elements from one to the next
  const std::int64_t* offsets;
  const std::uint64_t* masks;
  const std::uint8_t* whole;
  const std::uint16_t* kept;
  const std::int64_t* stored;
  bool packs;
};

// What a pass in strips needs.
struct Strips {
  std::int64_t in_rows, in_columns, out_rows, out_columns, before_rows, before_columns;
  float low, high;
};
using MakeStrips = void (*)(const Strips&, const float* x, const float* w, float bias, float* y);

#ifdef __x86_64__

#define DRYSTONE_WIDE DRYSTONE_NEWER("avx512f")

DRYSTONE_WIDE inline __mmask16 first_lanes(std::int64_t count) {
  return static_cast<__mmask16>((1U << std::clamp<std::int64_t>(count, 0, kLanes)) - 1);
}

DRYSTONE_WIDE inline void add_whole(const Pass& pass, const float* x, const float* w, __m512* sums) {
  for (std::int64_t t = 0; t < pass.taps; ++t) {
    const __m512 by = _mm512_set1_ps(w[t]);
    const float* from = x + pass.offsets[t];
    for (int i = 0; i < kGroup; ++i)
      sums[i] = _mm512_fmadd_ps(by, _mm512_loadu_ps(from + i * kLanes), sums[i]);
  }
}

DRYSTONE_WIDE inline void add_masked(const Pass& pass, const float* x, const float* w,
                                     const std::uint64_t* masks, __m512* sums) {
  for (std::int64_t t = 0; t < pass.taps; ++t) {
    if (masks[t] == 0) continue;
    const __m512 by = _mm512_set1_ps(w[t]);
    const float* from = x + pass.offsets[t];
    for (int i = 0; i < kGroup; ++i) {
      const auto mask = static_cast<__mmask16>(masks[t] >> (kLanes * i));
      const __m512 read = _mm512_maskz_loadu_ps(mask, from + i * kLanes);
      sums[i] = _mm512_mask3_fmadd_ps(by, read, sums[i], mask);
    }
  }
}

// All places of a plane of the result. `w` has the taps for each source.
DRYSTONE_WIDE void make_plane(const Pass& pass, const float* x, const float* w, float bias, float low,
                              float high, float* y) {
  const __m512 least = _mm512_set1_ps(low);
  const __m512 most = _mm512_set1_ps(high);
  for (std::int64_t group = 0; group < pass.groups; ++group) {
    __m512 sums[kGroup];
    for (__m512& sum : sums) sum = _mm512_set1_ps(bias);
    const float* from = x + group * kGroup * kLanes;
    const std::uint64_t* masks = pass.masks + group * pass.taps;
    for (std::int64_t k = 0; k < pass.sources; ++k) {
      const float* source = from + k * pass.apart;
      if (pass.whole[group] != 0) add_whole(pass, source, w + k * pass.taps, sums);
      else add_masked(pass, source, w + k * pass.taps, masks, sums);
    }
    for (int i = 0; i < kGroup; ++i) {
      const __mmask16 kept = pass.kept[group * kGroup + i];
      float* to = y + pass.stored[group * kGroup + i];
      // Of NaN both give the second operand.
      const __m512 made = _mm512_min_ps(most, _mm512_max_ps(least, sums[i]));
      if (!pass.packs) {
        _mm512_mask_storeu_ps(to, kept, made);
        continue;
      }
      const __mmask16 count = first_lanes(__builtin_popcount(kept));
      _mm512_mask_storeu_ps(to, count, _mm512_maskz_compress_ps(kept, made));
    }
  }
}

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

// Adds to the sums of `count` taps, a constant where this is inlined, what the places of a plane give:
// what they read times the result's gradient.
DRYSTONE_WIDE __attribute__((always_inline)) inline void add_some_products(
    const Pass& pass, const float* x, const float* grad, std::int64_t t, int count, float* sums) {
  __m512 some[9];
#pragma GCC unroll 9
  for (int i = 0; i < count; ++i) some[i] = _mm512_setzero_ps();
  for (std::int64_t v = 0; v < pass.groups * kGroup; ++v) {
    const __mmask16 kept = pass.kept[v];
    const float* at = grad + pass.stored[v];
    const __m512 by =
        pass.packs ? _mm512_maskz_expand_ps(
                         kept, _mm512_maskz_loadu_ps(first_lanes(__builtin_popcount(kept)), at))
                   : _mm512_maskz_loadu_ps(kept, at);
    const std::uint64_t* masks = pass.masks + v / kGroup * pass.taps + t;
    const float* from = x + v * kLanes;
#pragma GCC unroll 9
    for (int i = 0; i < count; ++i) {
      const auto mask = static_cast<__mmask16>(masks[i] >> (kLanes * (v % kGroup)));
      const __m512 read = _mm512_maskz_loadu_ps(mask, from + pass.offsets[t + i]);
      some[i] = _mm512_mask3_fmadd_ps(by, read, some[i], mask);
    }
  }
#pragma GCC unroll 9
  for (int i = 0; i < count; ++i) sums[t + i] += _mm512_reduce_add_ps(some[i]);
}

DRYSTONE_WIDE void add_products(const Pass& pass, const float* x, const float* grad, float* sums) {
  std::int64_t t = 0;
  for (; t + 9 <= pass.taps; t += 9) add_some_products(pass, x, grad, t, 9, sums);
  for (; t + 4 <= pass.taps; t += 4) add_some_products(pass, x, grad, t, 4, sums);
  for (; t < pass.taps; ++t) add_some_products(pass, x, grad, t, 1, sums);
}

// Every second element, from the first and from the second one on.
DRYSTONE_WIDE void halve(const float* row, std::int64_t count, float* even, float* odd) {
  const __m512i twos = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i next = _mm512_add_epi32(twos, _mm512_set1_epi32(1));
  for (std::int64_t k = 0; k < count; k += 2 * kLanes) {
    const __m512 a = _mm512_maskz_loadu_ps(first_lanes(count - k), row + k);
    const __m512 b = _mm512_maskz_loadu_ps(first_lanes(count - k - kLanes), row + k + kLanes);
    const std::int64_t left = count - k;
    _mm512_mask_storeu_ps(even + k / 2, first_lanes(up(left, 2)), _mm512_permutex2var_ps(a, twos, b));
    _mm512_mask_storeu_ps(odd + k / 2, first_lanes(left / 2), _mm512_permutex2var_ps(a, next, b));
  }
}

#else

void strips_3(const Strips&, const float*, const float*, float, float*) {}
void strips_3_by_2(const Strips&, const float*, const float*, float, float*) {}
void strips_5(const Strips&, const float*, const float*, float, float*) {}
void strips_5_by_2(const Strips&, const float*, const float*, float, float*) {}
void make_plane(const Pass&, const float*, const float*, float, float, float, float*) {}
void add_products(const Pass&, const float*, const float*, float*) {}
void halve(const float*, std::int64_t, float*, float*) {}

#endif

// By what a filter of so many rows and columns is done in strips; NULL: it is not.
MakeStrips strips_for(std::int64_t size, std::int64_t stride) {
  if (size == 3) return stride == 1 ? strips_3 : stride == 2 ? strips_3_by_2 : nullptr;
  if (size == 5) return stride == 1 ? strips_5 : stride == 2 ? strips_5_by_2 : nullptr;
  return nullptr;
}

std::int64_t floor_of(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -up(-a, b); }

}  // namespace

Planes::Axis Planes::axis(const Geometry& g, std::size_t k, Way way) {
  const std::int64_t step = g.dilations[k] + 1;
  if (way != Way::input_gradient)
    return {g.spatial[k], g.out[k], g.size[k], g.strides[k], step, g.before[k]};
  // The image's gradient is the convolution of the result's with the filter the other way round.
  return {g.out[k], g.spatial[k], g.size[k], 1, step, (g.size[k] - 1) * step - g.before[k]};
}

bool Planes::suits(const Geometry& g, bool channels_first, bool is_depthwise, Way way) {
  if (!channels_first || !is_depthwise || g.spatial.size() != 2 || g.type != Type::f32) return false;
  if (!has_gemv() || (way == Way::input_gradient && (g.strides[0] != 1 || g.strides[1] != 1)))
    return false;
  const Axis rows = axis(g, 0, way);
  const Axis columns = axis(g, 1, way);
  const std::int64_t width = std::max(up(columns.in, columns.stride), columns.out);
  const std::int64_t vectors = up(rows.out * width, kLanes) + kGroup;
  return rows.size * columns.size <= kMostMasks / vectors;
}

Planes::Planes(const Geometry& g, Way way)
    : batch_(g.batch), channels_(g.channels), times_(g.count / g.channels),
      backward_(way == Way::input_gradient), rows_(axis(g, 0, way)), columns_(axis(g, 1, way)),
      in_strips_(way != Way::filter_gradient && (!backward_ || times_ == 1) && fill_strips()),
      splits_(!in_strips_ && (rows_.stride > 1 || columns_.stride > 1 || columns_.out > columns_.in)),
      pitch_(splits_ ? std::max(up(columns_.in, columns_.stride), columns_.out) : columns_.in),
      part_(up(rows_.in, rows_.stride) * pitch_), in_area_(rows_.in * columns_.in),
      out_area_(rows_.out * columns_.out), taps_(rows_.size * columns_.size),
      groups_(up(rows_.out * pitch_, kGroup * kLanes)), packs_(columns_.out < pitch_) {
  if (in_strips_) return;
  place_taps();
  place_results();
  masks_.assign(static_cast<std::size_t>(groups_ * taps_), 0);
  for (std::int64_t group = 0; group < groups_; ++group) mark_group(group);
}

// Whether the filter is square and close together, and vectors of a row's places are mostly filled.
bool Planes::fill_strips() const {
  constexpr std::int64_t kFill = 5;  // eighths
  const std::int64_t lanes = up(columns_.out, kLanes) * kLanes;
  return rows_.size == columns_.size && rows_.stride == columns_.stride && rows_.step == 1 &&
         columns_.step == 1 && strips_for(rows_.size, rows_.stride) != nullptr &&
         columns_.out * 8 >= lanes * kFill;
}

// How far in memory each tap is from a place: in the part of the plane that has its remainders.
void Planes::place_taps() {
  for (std::int64_t tap = 0; tap < taps_; ++tap) {
    const std::int64_t down = rows_.reads(tap / columns_.size);
    const std::int64_t right = columns_.reads(tap % columns_.size);
    const std::int64_t row = floor_of(down, rows_.stride);
    const std::int64_t column = floor_of(right, columns_.stride);
    const std::int64_t part = (down - row * rows_.stride) * columns_.stride + right - column * columns_.stride;
    offsets_.push_back(part * part_ + row * pitch_ + column);
  }
}

void Planes::place_results() {
  for (std::int64_t v = 0; v < groups_ * kGroup; ++v) {
    std::uint16_t kept = 0;
    for (std::int64_t i = 0; i < kLanes; ++i) {
      const std::int64_t place = v * kLanes + i;
      const bool is_one = place / pitch_ < rows_.out && place % pitch_ < columns_.out;
      if (is_one) kept = static_cast<std::uint16_t>(kept | 1U << i);
    }
    const std::int64_t row = std::min(v * kLanes / pitch_, rows_.out);
    const std::int64_t column = std::min(v * kLanes % pitch_, columns_.out);
    kept_.push_back(kept);
    stored_.push_back(kept == 0 ? 0 : row * columns_.out + column);
  }
}

bool Planes::is_read(std::int64_t row, std::int64_t column, std::int64_t tap) const {
  if (row >= rows_.out || column >= columns_.out) return false;
  const std::int64_t y = row * rows_.stride + rows_.reads(tap / columns_.size);
  const std::int64_t x = column * columns_.stride + columns_.reads(tap % columns_.size);
  return y >= 0 && y < rows_.in && x >= 0 && x < columns_.in;
}

void Planes::mark_group(std::int64_t group) {
  bool all = true;
  for (std::int64_t tap = 0; tap < taps_; ++tap) {
    std::uint64_t mask = 0;
    for (std::int64_t i = 0; i < kGroup * kLanes; ++i) {
      const std::int64_t place = group * kGroup * kLanes + i;
      if (is_read(place / pitch_, place % pitch_, tap)) mask |= std::uint64_t{1} << i;
    }
    masks_[static_cast<std::size_t>(group * taps_ + tap)] = mask;
    all = all && ~mask == 0;
  }
  whole_.push_back(all ? 1 : 0);
}

const float* Planes::split(const float* plane, float* room) const {
  if (!splits_) return plane;
  const std::int64_t by = columns_.stride;
  for (std::int64_t row = 0; row < rows_.in; ++row) {
    const float* from = plane + row * columns_.in;
    float* to = room + row % rows_.stride * by * part_ + row / rows_.stride * pitch_;
    if (by == 1) std::copy_n(from, columns_.in, to);
    else if (by == 2) halve(from, columns_.in, to, to + part_);
    else
      for (std::int64_t k = 0; k < columns_.in; ++k) to[k % by * part_ + k / by] = from[k];
  }
  return room;
}

std::unique_ptr<float[]> Planes::new_room(std::int64_t planes) const {
  if (!splits_) return nullptr;
  const std::int64_t each = rows_.stride * columns_.stride * part_;
  return std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(each * planes));
}

void Planes::run(const float* from, const float* filter, const Clamp& after, float* to) const {
  const std::int64_t sources = backward_ ? times_ : 1;
  const std::int64_t results = backward_ ? 1 : times_;
  const std::int64_t each = splits_ ? rows_.stride * columns_.stride * part_ : in_area_;
  const Pass pass{groups_, taps_, sources, each, offsets_.data(), masks_.data(), whole_.data(),
                  kept_.data(), stored_.data(), packs_};
  const Strips strips{rows_.in,     columns_.in,  rows_.out, columns_.out,
                      rows_.before, columns_.before, after.low, after.high};
  const MakeStrips make_strips = strips_for(rows_.size, rows_.stride);
  const std::int64_t cost = 1 + groups_ * taps_ * times_ + (splits_ ? in_area_ * sources / 8 : 0);
  parallel(batch_ * channels_, cost, [&](std::int64_t begin, std::int64_t end) {
    const std::unique_ptr<float[]> room = new_room(sources);
    std::vector<float> taps(static_cast<std::size_t>(taps_ * sources));
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t channel = k % channels_;
      const float* x = from + k * sources * in_area_;
      for (std::int64_t j = 0; j < sources && splits_; ++j)
        split(x + j * in_area_, room.get() + j * each);
      if (splits_) x = room.get();
      for (std::int64_t j = 0; j < results; ++j) {
        for (std::int64_t i = 0; i < taps_ * sources; ++i) {
          const std::int64_t tap = backward_ ? taps_ - 1 - i % taps_ : i;
          taps[static_cast<std::size_t>(i)] =
              filter[(tap * channels_ + channel) * times_ + (backward_ ? i / taps_ : j)];
        }
        const float bias = after.bias == nullptr ? 0 : after.bias[channel * times_ + j];
        float* y = to + (k * results + j) * out_area_;
        if (in_strips_) make_strips(strips, x, taps.data(), bias, y);
        else make_plane(pass, x, taps.data(), bias, after.low, after.high, y);
      }
    }
  });
}

void Planes::filter_gradient(const float* image, const float* grad, float* to) const {
  const Pass pass{groups_, taps_, 1, 0, offsets_.data(), masks_.data(), whole_.data(), kept_.data(),
                  stored_.data(), packs_};
  parallel(channels_, 1 + batch_ * groups_ * taps_ * times_, [&](std::int64_t begin, std::int64_t end) {
    const std::unique_ptr<float[]> room = new_room(1);
    std::vector<float> sums(static_cast<std::size_t>(taps_ * times_));
    for (std::int64_t c = begin; c < end; ++c) {
      std::fill(sums.begin(), sums.end(), 0.0F);
      for (std::int64_t n = 0; n < batch_; ++n) {
        const std::int64_t k = n * channels_ + c;
        const float* x = split(image + k * in_area_, room.get());
        for (std::int64_t j = 0; j < times_; ++j)
          add_products(pass, x, grad + (k * times_ + j) * out_area_, sums.data() + j * taps_);
      }
      for (std::int64_t i = 0; i < taps_ * times_; ++i)
        to[(i % taps_ * channels_ + c) * times_ + i / taps_] = sums[static_cast<std::size_t>(i)];
    }
  });
}

}  // namespace drystone::cpu::dnnl_part
