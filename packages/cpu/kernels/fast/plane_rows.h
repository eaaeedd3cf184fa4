// Pooling with channels first, plane by plane: rows as the windows on them read them. Neighbouring
// windows of a row are lanes.
#ifndef DRYSTONE_CPU_FAST_PLANE_ROWS_H_
#define DRYSTONE_CPU_FAST_PLANE_ROWS_H_

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/pool_window.h"
#include "fast/lanes.h"

namespace drystone::cpu {

template <class T>
inline constexpr int kRowLanes = kRegister / static_cast<int>(sizeof(Wide<T>));

// Whether planes of values of four bytes or more are pooled so: flat windows that move by one or two
// columns, none of which lies beside the image, and rows of them that fill a register and a half.
template <class T>
bool in_rows(const Pool& p) {
  constexpr std::int64_t kMostTaps = std::int64_t{1} << 10;
  const std::int64_t last = (p.out[2] - 1) * p.stride[2] - p.before[2];
  return p.in[0] == 1 && p.out[0] == 1 && p.size[0] == 1 && p.in[1] > 0 && p.in[2] > 0 &&
         p.stride[2] <= 2 && p.size[1] <= kMostTaps && p.size[2] <= kMostTaps &&
         p.before[2] < p.size[2] && last < p.in[2] && p.out[2] * 2 >= 3 * kRowLanes<T>;
}

// A pool over images of one column as one over images of one row: in memory these are the same.
inline Pool lying(Pool p) {
  if (p.in[2] != 1 || p.out[2] != 1) return p;
  for (Pool::Three* of : {&p.in, &p.size, &p.stride, &p.before, &p.out}) std::swap((*of)[1], (*of)[2]);
  return p;
}

template <class W, int kCount>
struct TwoLanes {
  Lanes<W, kCount> first, second;
};

template <class W, int kCount, int... kAt>
DRYSTONE_INLINE TwoLanes<W, kCount> split_lanes(
    const Lanes<W, kCount>& a, const Lanes<W, kCount>& b, std::integer_sequence<int, kAt...>) {
  return {__builtin_shufflevector(a, b, (2 * kAt)...), __builtin_shufflevector(a, b, (2 * kAt + 1)...)};
}
// Every second value of two vectors, from the first and from the second one on.
template <class W, int kCount>
DRYSTONE_INLINE auto split_lanes(const Lanes<W, kCount>& a, const Lanes<W, kCount>& b) {
  return split_lanes<W, kCount>(a, b, std::make_integer_sequence<int, kCount>());
}

template <class W, int kCount, int... kAt>
DRYSTONE_INLINE TwoLanes<W, kCount> join_lanes(
    const Lanes<W, kCount>& a, const Lanes<W, kCount>& b, std::integer_sequence<int, kAt...>) {
  return {__builtin_shufflevector(a, b, (kAt % 2 * kCount + kAt / 2)...),
          __builtin_shufflevector(a, b, (kAt % 2 * kCount + kAt / 2 + kCount / 2)...)};
}
// What split_lanes() was given.
template <class W, int kCount>
DRYSTONE_INLINE auto join_lanes(const Lanes<W, kCount>& a, const Lanes<W, kCount>& b) {
  return join_lanes<W, kCount>(a, b, std::make_integer_sequence<int, kCount>());
}

// The first of the values, as many of them as `room`.
template <class T, int kCount>
DRYSTONE_INLINE void store_some(T* to, const Lanes<Wide<T>, kCount>& from, std::int64_t room) {
  if (room >= kCount) [[likely]] return store<T, kCount>(to, from);
#ifdef __AVX512F__
  const auto mask = static_cast<std::uint32_t>((1U << std::max<std::int64_t>(room, 0)) - 1);
  if constexpr (sizeof(T) == 4)
    return _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(mask), reinterpret_cast<__m512i>(from));
  else if constexpr (sizeof(T) == 8)
    return _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(mask), reinterpret_cast<__m512i>(from));
#endif
  T some[kCount];
  store<T, kCount>(some, from);
  if (room > 0) std::copy_n(some, room, to);
}

// body(first, std::integral_constant<int, registers>) for registers that hold [0, count), the last of
// which may not be full.
template <class T, class Body>
DRYSTONE_INLINE void over_row(std::int64_t count, Body&& body) {
  constexpr int kCount = kRowLanes<T>;
  std::int64_t k = 0;
  for (; k + 3 * kCount < count; k += 4 * kCount) body(k, std::integral_constant<int, 4>());
  for (; k + kCount < count; k += 2 * kCount) body(k, std::integral_constant<int, 2>());
  for (; k < count; k += kCount) body(k, std::integral_constant<int, 1>());
}

template <class W, int kCount>
DRYSTONE_INLINE Lanes<W, kCount> all_of(W value) {
  return value - Lanes<W, kCount>{};
}

// body(std::integral_constant<int, count>) where that is usual, so that its loops have no end to look
// for; else with 0.
template <class Body>
DRYSTONE_INLINE void with_usual(std::int64_t count, Body&& body) {
  if (count == 3) body(std::integral_constant<int, 3>());
  else if (count == 2) body(std::integral_constant<int, 2>());
  else body(std::integral_constant<int, 0>());
}

// Rows of a plane with the padding beside them: columns that are read by the same tap of neighbouring
// windows are neighbours.
template <class T>
class Rows {
 public:
  using W = Wide<T>;
  static constexpr int kCount = kRowLanes<T>;

  Rows(const Pool& p, W padding)
      : height_(p.in[1]), width_(p.in[2]), stride_(p.stride[2]), before_(p.before[2]),
        after_(std::max<std::int64_t>(
            (p.out[2] - 1) * p.stride[2] + p.size[2] - p.before[2] - p.in[2], 0)),
        pitch_(std::max(p.out[2], before_ + width_ / stride_) + p.size[2] + after_ + 6 * kCount),
        padding_(padding), even_(place(before_)), odd_(place(before_ + 1)),
        edge_(std::make_unique<T[]>(static_cast<std::size_t>(width_ + 2 * kCount))) {
    for (std::int64_t k = 0; k < p.size[2]; ++k) taps_.push_back(place(k));
  }

  // Elements that a row takes.
  std::int64_t elements() const { return stride_ * pitch_; }
  // So many rows, all padding.
  std::unique_ptr<W[]> room(std::int64_t rows) const {
    auto out = std::make_unique_for_overwrite<W[]>(static_cast<std::size_t>(rows * elements()));
    std::fill_n(out.get(), rows * elements(), padding_);
    return out;
  }
  // Where tap `k` of the first window lies in a row.
  std::int64_t tap(std::int64_t k) const { return taps_[static_cast<std::size_t>(k)]; }

  // `behind`: elements behind the plane that may be read.
  void read(const T* plane, std::int64_t row, std::int64_t behind, W* to) {
    const T* from = plane + row * width_;
    if ((height_ - 1 - row) * width_ + behind < 2 * kCount) [[unlikely]] {
      std::copy_n(from, width_, edge_.get());
      from = edge_.get();
    }
    if (stride_ == 1) {
      for (std::int64_t k = 0; k < width_; k += kCount) {
        Lanes<W, kCount> values;
        load<T, kCount>(values, from + k);
        store<W, kCount>(to + before_ + k, values);
      }
      return pad(to + before_ + width_);
    }
    W* even = to + even_;
    W* odd = to + odd_;
    for (std::int64_t k = 0; k < width_; k += 2 * kCount) {
      Lanes<W, kCount> a, b;
      load<T, kCount>(a, from + k);
      load<T, kCount>(b, from + k + kCount);
      const auto parts = split_lanes<W, kCount>(a, b);
      store<W, kCount>(even + k / 2, parts.first);
      store<W, kCount>(odd + k / 2, parts.second);
    }
    pad(even + (width_ + 1) / 2);
    pad(odd + width_ / 2);
  }

 private:
  std::int64_t place(std::int64_t column) const { return column % stride_ * pitch_ + column / stride_; }
  void pad(W* to) const {
    const Lanes<W, kCount> padding = all_of<W, kCount>(padding_);
    for (std::int64_t k = 0; k <= after_; k += kCount) store<W, kCount>(to + k, padding);
  }

  std::int64_t height_, width_, stride_, before_, after_;
  std::int64_t pitch_;
  W padding_;
  std::int64_t even_, odd_;  // where every second column goes
  std::vector<std::int64_t> taps_;
  std::unique_ptr<T[]> edge_;
};

// Rows of a plane that windows read at once.
template <class W>
class Ring {
 public:
  Ring(const Pool& p, std::unique_ptr<W[]> room, std::int64_t pitch)
      : room_(std::move(room)), held_(rows(p)), pitch_(pitch),
        slots_(static_cast<std::size_t>(p.in[1])) {
    for (std::int64_t row = 0; row < p.in[1]; ++row)
      slots_[static_cast<std::size_t>(row)] = room_.get() + row % held_ * pitch_;
  }
  // How many are held: what is written is read some rows later, when it has reached the cache.
  static std::int64_t rows(const Pool& p) { return std::min(p.size[1] + kAhead, p.in[1]); }
  void restart() { next_ = 0; }
  // make(row, room for it) for those of [first, last) that are not there yet, and for some more.
  template <class Make>
  DRYSTONE_INLINE void fetch(std::int64_t first, std::int64_t last, Make&& make) {
    next_ = std::max(next_, first);
    if (next_ >= last) return;
    const auto end = std::min(last + kAhead, static_cast<std::int64_t>(slots_.size()));
    for (; next_ < end; ++next_) make(next_, (*this)[next_]);
  }
  W* operator[](std::int64_t row) const { return slots_[static_cast<std::size_t>(row)]; }

 private:
  static constexpr std::int64_t kAhead = 8;

  std::unique_ptr<W[]> room_;
  std::int64_t held_, pitch_;
  std::vector<W*> slots_;  // by row of the plane
  std::int64_t next_ = 0;
};

// The rows that row `at` of the windows covers.
inline std::pair<std::int64_t, std::int64_t> rows_under(const Pool& p, std::int64_t at) {
  const std::int64_t start = at * p.stride[1] - p.before[1];
  const std::int64_t first = std::max<std::int64_t>(start, 0);
  return {first, std::max(std::min(start + p.size[1], p.in[1]), first)};
}

// How many columns each window covers, and as many ones behind them as registers may hold.
template <class T>
std::unique_ptr<Wide<T>[]> columns_under(const Pool& p) {
  const std::int64_t room = p.out[2] + 4 * kRowLanes<T>;
  auto out = std::make_unique_for_overwrite<Wide<T>[]>(static_cast<std::size_t>(room));
  std::fill_n(out.get(), room, Wide<T>{1});
  for (std::int64_t k = 0; k < p.out[2]; ++k) {
    const std::int64_t start = k * p.stride[2] - p.before[2];
    const std::int64_t last = std::min(start + p.size[2], p.in[2]);
    out[k] = static_cast<Wide<T>>(last - std::max<std::int64_t>(start, 0));
  }
  return out;
}

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_FAST_PLANE_ROWS_H_
