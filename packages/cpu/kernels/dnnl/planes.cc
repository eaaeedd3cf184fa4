// Depthwise convolutions by planes: see dnnl/planes.h.
#include "dnnl/planes.h"

#include <algorithm>

#include "dnnl/gemv.h"
#include "dnnl/plane_strips.h"
#include "dnnl/wide_lanes.h"

namespace drystone::cpu::dnnl_part {
namespace {

constexpr std::int64_t kGroup = 4;  // vectors at once: so many sums hide how long an addition takes
constexpr std::int64_t kMostMasks = std::int64_t{1} << 18;

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

#ifdef __x86_64__

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

void make_plane(const Pass&, const float*, const float*, float, float, float, float*) {}
void add_products(const Pass&, const float*, const float*, float*) {}
void halve(const float*, std::int64_t, float*, float*) {}

#endif

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
      in_strips_((!backward_ || times_ == 1) && fill_strips(way)),
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
bool Planes::fill_strips(Way way) const {
  const bool are_there = way == Way::filter_gradient
                             ? strip_products_for(rows_.size, rows_.stride) != nullptr
                             : strips_for(rows_.size, rows_.stride) != nullptr;
  constexpr std::int64_t kFill = 5;  // eighths
  const std::int64_t lanes = up(columns_.out, kLanes) * kLanes;
  return rows_.size == columns_.size && rows_.stride == columns_.stride && rows_.step == 1 &&
         columns_.step == 1 && are_there &&
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
  const Strips strips = in_strips(after);
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

Strips Planes::in_strips(const Clamp& after) const {
  return {rows_.in,     columns_.in,     rows_.out, columns_.out,
          rows_.before, columns_.before, after.low, after.high};
}

void Planes::filter_gradient(const float* image, const float* grad, float* to) const {
  const Pass pass{groups_, taps_, 1, 0, offsets_.data(), masks_.data(), whole_.data(), kept_.data(),
                  stored_.data(), packs_};
  const Strips strips = in_strips({});
  const AddStripProducts add_strips = strip_products_for(rows_.size, rows_.stride);
  parallel(channels_, 1 + batch_ * groups_ * taps_ * times_, [&](std::int64_t begin, std::int64_t end) {
    const std::unique_ptr<float[]> room = new_room(1);
    std::vector<float> sums(static_cast<std::size_t>(taps_ * times_));
    for (std::int64_t c = begin; c < end; ++c) {
      std::fill(sums.begin(), sums.end(), 0.0F);
      for (std::int64_t n = 0; n < batch_; ++n) {
        const std::int64_t k = n * channels_ + c;
        const float* x = split(image + k * in_area_, room.get());
        for (std::int64_t j = 0; j < times_; ++j) {
          const float* from = grad + (k * times_ + j) * out_area_;
          if (in_strips_) add_strips(strips, x, from, sums.data() + j * taps_);
          else add_products(pass, x, from, sums.data() + j * taps_);
        }
      }
      for (std::int64_t i = 0; i < taps_ * times_; ++i)
        to[(i % taps_ * channels_ + c) * times_ + i / taps_] = sums[static_cast<std::size_t>(i)];
    }
  });
}

}  // namespace drystone::cpu::dnnl_part
