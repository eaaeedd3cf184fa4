// Gradients of pooling with channels first, without a transpose. Each place of the image takes from the
// windows over it, in the order in which the loops over channels add to it, so that the bits are the same.
#ifndef DRYSTONE_CPU_FAST_PLANE_GRADIENTS_H_
#define DRYSTONE_CPU_FAST_PLANE_GRADIENTS_H_

#include <limits>

#include "fast/plane_rows.h"

namespace drystone::cpu {

// Rows of windows with room on both sides: places beside the outermost windows' look there, too.
template <class T>
struct WindowRows {
  static constexpr int kCount = kRowLanes<T>;

  explicit WindowRows(const Pool& p)
      : left((p.size[2] - 1) / p.stride[2] + 1),
        pitch(left + std::max(p.out[2], p.in[2] / p.stride[2] + p.before[2] / p.stride[2] + 2) +
              6 * kCount),
        count(p.out[1] * pitch) {}
  std::int64_t at(std::int64_t row) const { return row * pitch + left; }

  std::int64_t left, pitch, count;
};

// dx of what windows give: add(sum, element of WindowRows, tap) for all that lie over a place.
template <class T, class Add>
DRYSTONE_INLINE void gather_rows(const Pool& p, const WindowRows<T>& rows, T* dx, Add&& add) {
  using W = Wide<T>;
  constexpr int kCount = kRowLanes<T>;
  const std::int64_t down = p.stride[1], across = p.stride[2];
  const std::int64_t firsts[] = {p.before[2] % across, (p.before[2] + 1) % across};
  const std::int64_t offsets[] = {p.before[2] / across, (p.before[2] + 1) / across};
  for (std::int64_t h = 0; h < p.in[1]; ++h) {
    const std::int64_t below = h + p.before[1];
    const std::int64_t first = below < p.size[1] ? 0 : (below - p.size[1]) / down + 1;
    const std::int64_t last = std::min(below / down + 1, p.out[1]);
    const auto sum_of = [&](std::int64_t c, int q) __attribute__((always_inline)) {
      Lanes<W, kCount> sum{};
      for (std::int64_t row = first; row < last; ++row) {
        const std::int64_t at = rows.at(row) + c + offsets[q];
        const std::int64_t tap = (below - row * down) * p.size[2];
        for (std::int64_t j = (p.size[2] - 1 - firsts[q] + across) / across; j-- > 0;)
          add(sum, at - j, tap + firsts[q] + across * j);
      }
      return sum;
    };
    T* to = dx + h * p.in[2];
    const std::int64_t room = (p.in[1] - h) * p.in[2];
    if (across == 1) {
      for (std::int64_t c = 0; c < p.in[2]; c += kCount)
        store_some<T, kCount>(to + c, sum_of(c, 0), room - c);
      continue;
    }
    for (std::int64_t c = 0; 2 * c < p.in[2]; c += kCount) {
      const Lanes<W, kCount> even = sum_of(c, 0);
      const auto joined = join_lanes<W, kCount>(even, sum_of(c, 1));
      store_some<T, kCount>(to + 2 * c, joined.first, room - 2 * c);
      if (2 * c + kCount < p.in[2])
        store_some<T, kCount>(to + 2 * c + kCount, joined.second, room - 2 * c - kCount);
    }
  }
}

template <class T>
class PlaneAverageGradient {
 public:
  static constexpr int kCount = kRowLanes<T>;

  explicit PlaneAverageGradient(const Pool& p)
      : p_(p), rows_(p), columns_(columns_under<T>(p)),
        shares_(std::make_unique<T[]>(static_cast<std::size_t>(rows_.count))) {}

  void spread(const T* dy, T* dx) {
    for (std::int64_t at = 0; at < p_.out[1]; ++at) {
      const auto [first, last] = rows_under(p_, at);
      const T* from = dy + at * p_.out[2];
      T* to = shares_.get() + rows_.at(at);
      for (std::int64_t k = 0; k < p_.out[2]; ++k)
        to[k] = from[k] / (columns_[k] * static_cast<T>(last - first));
    }
    gather_rows<T>(p_, rows_, dx,
                   [&](Lanes<T, kCount>& sum, std::int64_t at, std::int64_t)
                       __attribute__((always_inline)) {
                     Lanes<T, kCount> share;
                     load<T, kCount>(share, shares_.get() + at);
                     sum += share;
                   });
  }

 private:
  const Pool& p_;
  WindowRows<T> rows_;
  std::unique_ptr<T[]> columns_;
  std::unique_ptr<T[]> shares_;  // of each window for each of its places
};

template <class T>
class PlaneMaximumGradient {
 public:
  using W = Wide<T>;
  // A tap, of the size of a value: so that what compares values chooses taps.
  using Tap = std::conditional_t<sizeof(W) == 4, std::int32_t, std::int64_t>;
  static constexpr int kCount = kRowLanes<T>;

  explicit PlaneMaximumGradient(const Pool& p)
      : p_(p), rows_(p, kLeast),
        held_(p, rows_.room(Ring<W>::rows(p)), rows_.elements()), windows_(p),
        starts_(std::make_unique<W[]>(static_cast<std::size_t>(p.out[2] + 4 * kCount))),
        taps_(std::make_unique<Tap[]>(static_cast<std::size_t>(p.out[2] + 4 * kCount))),
        where_(std::make_unique_for_overwrite<Tap[]>(static_cast<std::size_t>(windows_.count))),
        grads_(std::make_unique<W[]>(static_cast<std::size_t>(windows_.count))) {
    std::fill_n(where_.get(), windows_.count, Tap{-1});
    for (std::int64_t k = 0; k < p.out[2]; ++k)
      taps_[k] = static_cast<Tap>(std::max<std::int64_t>(p.before[2] - k * p.stride[2], 0));
  }

  void spread(const T* x, std::int64_t behind, const T* dy, T* dx) {
    held_.restart();
    for (std::int64_t at = 0; at < p_.out[1]; ++at) {
      const auto [first, last] = rows_under(p_, at);
      held_.fetch(first, last, [&](std::int64_t row, W* to) { rows_.read(x, row, behind, to); });
      if (first < last) find(x, at, first, last);
      W* grads = grads_.get() + windows_.at(at);
      for (std::int64_t k = 0; k < p_.out[2]; ++k) grads[k] = widen(dy[at * p_.out[2] + k]);
    }
    gather_rows<T>(p_, windows_, dx,
                   [&](Lanes<W, kCount>& sum, std::int64_t at, std::int64_t tap)
                       __attribute__((always_inline)) {
                     Lanes<Tap, kCount> where;
                     Lanes<W, kCount> grad;
                     load<Tap, kCount>(where, where_.get() + at);
                     load<W, kCount>(grad, grads_.get() + at);
                     sum = where == all_of<Tap, kCount>(static_cast<Tap>(tap)) ? sum + grad : sum;
                   });
  }

 private:
  // Nothing is less.
  static constexpr W kLeast = std::numeric_limits<W>::has_infinity ? -std::numeric_limits<W>::infinity()
                                                                   : std::numeric_limits<W>::lowest();

  // Which of the places in the image is the first with its window's maximum, for a row of windows that
  // covers the rows [first, last).
  void find(const T* x, std::int64_t at, std::int64_t first, std::int64_t last) {
    std::copy_n(held_[first], p_.out[2], starts_.get());
    for (std::int64_t k = 0; k < p_.out[2] && taps_[k] > 0; ++k) starts_[k] = widen(x[first * p_.in[2]]);
    const std::int64_t above = at * p_.stride[1] - p_.before[1];
    Tap* where = where_.get() + windows_.at(at);
    over_row<T>(p_.out[2], [&](std::int64_t c, auto registers) {
      Registers<W, kCount, registers> best;
      Registers<Tap, kCount, registers> found;
      for (int k = 0; k < registers; ++k) {
        load<W, kCount>(best[k], starts_.get() + c + k * kCount);
        load<Tap, kCount>(found[k], taps_.get() + c + k * kCount);
        found[k] += static_cast<Tap>((first - above) * p_.size[2]);
      }
      for (std::int64_t row = first; row < last; ++row) {
        const W* from = held_[row] + c;
        for (std::int64_t j = 0; j < p_.size[2]; ++j)
          take(best, found, from + rows_.tap(j), static_cast<Tap>((row - above) * p_.size[2] + j));
      }
      for (int k = 0; k < registers; ++k) store<Tap, kCount>(where + c + k * kCount, found[k]);
    });
    std::fill_n(where + p_.out[2], 4 * kCount, Tap{-1});  // of no window
  }

  template <std::size_t kRegisters>
  DRYSTONE_INLINE static void take(Lanes<W, kCount> (&best)[kRegisters],
                                   Lanes<Tap, kCount> (&found)[kRegisters], const W* from, Tap tap) {
    for (std::size_t k = 0; k < kRegisters; ++k) {
      Lanes<W, kCount> value;
      load<W, kCount>(value, from + k * kCount);
      const auto better = best[k] < value;
      best[k] = better ? value : best[k];
      found[k] = better ? all_of<Tap, kCount>(tap) : found[k];
    }
  }

  const Pool& p_;
  Rows<T> rows_;
  Ring<W> held_;
  WindowRows<T> windows_;
  std::unique_ptr<W[]> starts_;   // the first value of each window of a row
  std::unique_ptr<Tap[]> taps_;   // the column of it
  std::unique_ptr<Tap[]> where_;  // for each window, the tap that has its maximum
  std::unique_ptr<W[]> grads_;
};

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_FAST_PLANE_GRADIENTS_H_
