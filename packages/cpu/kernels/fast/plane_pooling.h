// Average and maximum pooling with channels first, without a transpose: in the order of the loops over
// channels that are last, so that the bits are the same.
#ifndef DRYSTONE_CPU_FAST_PLANE_POOLING_H_
#define DRYSTONE_CPU_FAST_PLANE_POOLING_H_

#include <limits>

#include "fast/plane_rows.h"

namespace drystone::cpu {

// About how many nanoseconds a plane takes.
inline std::int64_t plane_cost(const Pool& p) {
  return 1 + (p.places() + p.windows() * p.taps()) / 8;
}

// What a maximum starts from.
template <class T>
T lowest() {
  if constexpr (std::is_same_v<T, Half>) return narrow<T>(-65504.0F);
  else if constexpr (std::is_same_v<T, BFloat16>) return narrow<T>(-0x1.fep127F);
  else return std::numeric_limits<T>::lowest();
}

// The greater one, or what is NaN.
template <class W, int kCount>
DRYSTONE_INLINE void take_greater(Lanes<W, kCount>& best, const Lanes<W, kCount>& value) {
  if constexpr (std::is_integral_v<W>) best = value > best ? value : best;
  else best = (value > best) | (value != value) ? value : best;
}

template <class T>
class PlaneMaxima {
 public:
  using W = Wide<T>;
  static constexpr int kCount = kRowLanes<T>;

  explicit PlaneMaxima(const Pool& p)
      : p_(p), rows_(p, least()), row_(rows_.room(1)), maxima_(ring(p)) {}

  void pool(const T* x, std::int64_t behind, T* y) {
    maxima_.restart();
    for (std::int64_t at = 0; at < p_.out[1]; ++at) {
      const auto [first, last] = rows_under(p_, at);
      maxima_.fetch(first, last, [&](std::int64_t row, W* to) {
        rows_.read(x, row, behind, row_.get());
        of_row(to);
      });
      T* to = y + at * p_.out[2];
      const std::int64_t room = (p_.out[1] - at) * p_.out[2];
      with_usual(last - first, [&, first = first, last = last](auto usual) {
        over_row<T>(p_.out[2], [&](std::int64_t c, auto registers) {
          Registers<W, kCount, registers> best;
          for (auto& one : best) one = all_of<W, kCount>(least());
          const std::int64_t end = usual > 0 ? first + usual : last;
#pragma GCC unroll 3
          for (std::int64_t row = first; row < end; ++row) take(best, maxima_[row] + c);
          for (int k = 0; k < registers; ++k)
            store_some<T, kCount>(to + c + k * kCount, best[k], room - c - k * kCount);
        });
      });
    }
  }

 private:
  static W least() { return widen(lowest<T>()); }
  static Ring<W> ring(const Pool& p) {
    const std::int64_t pitch = p.out[2] + 4 * kCount;
    const auto count = static_cast<std::size_t>(Ring<W>::rows(p) * pitch);
    return {p, std::make_unique_for_overwrite<W[]>(count), pitch};
  }

  template <std::size_t kRegisters>
  DRYSTONE_INLINE static void take(Lanes<W, kCount> (&best)[kRegisters], const W* from) {
    for (std::size_t k = 0; k < kRegisters; ++k) {
      Lanes<W, kCount> value;
      load<W, kCount>(value, from + k * kCount);
      take_greater<W, kCount>(best[k], value);
    }
  }

  // Of the taps of one row.
  void of_row(W* to) const {
    with_usual(p_.size[2], [&](auto usual) {
      const std::int64_t taps = usual > 0 ? usual : p_.size[2];
      over_row<T>(p_.out[2], [&](std::int64_t c, auto registers) {
        Registers<W, kCount, registers> best;
        for (int k = 0; k < registers; ++k) load<W, kCount>(best[k], row_.get() + c + k * kCount);
#pragma GCC unroll 3
        for (std::int64_t k = 1; k < taps; ++k) take(best, row_.get() + rows_.tap(k) + c);
        for (int k = 0; k < registers; ++k) store<W, kCount>(to + c + k * kCount, best[k]);
      });
    });
  }

  const Pool& p_;
  Rows<T> rows_;
  std::unique_ptr<W[]> row_;
  Ring<W> maxima_;  // of each row
};

template <class T>
class PlaneAverages {
 public:
  using W = Wide<T>;
  static constexpr int kCount = kRowLanes<T>;

  explicit PlaneAverages(const Pool& p)
      : p_(p), rows_(p, W{0}), held_(p, rows_.room(Ring<W>::rows(p)), rows_.elements()),
        columns_(columns_under<T>(p)) {}

  void pool(const T* x, std::int64_t behind, T* y) {
    held_.restart();
    for (std::int64_t at = 0; at < p_.out[1]; ++at) {
      const auto [first, last] = rows_under(p_, at);
      held_.fetch(first, last, [&](std::int64_t row, W* to) { rows_.read(x, row, behind, to); });
      T* to = y + at * p_.out[2];
      const std::int64_t room = (p_.out[1] - at) * p_.out[2];
      const auto height = static_cast<W>(last - first);
      const bool is_whole = last - first == p_.size[2];
      with_usual(is_whole ? p_.size[2] : 0, [&, first = first, last = last](auto usual) {
        over_row<T>(p_.out[2], [&](std::int64_t c, auto registers) {
          Registers<W, kCount, registers> sums{};
          const std::int64_t end = usual > 0 ? first + usual : last;
          const std::int64_t taps = usual > 0 ? usual : p_.size[2];
#pragma GCC unroll 3
          for (std::int64_t row = first; row < end; ++row) {
            const W* from = held_[row] + c;
#pragma GCC unroll 3
            for (std::int64_t k = 0; k < taps; ++k) add(sums, from + rows_.tap(k));
          }
          for (int k = 0; k < registers; ++k) {
            Lanes<W, kCount> columns;
            load<W, kCount>(columns, columns_.get() + c + k * kCount);
            store_some<T, kCount>(to + c + k * kCount, sums[k] / (columns * height), room - c - k * kCount);
          }
        });
      });
    }
  }

 private:
  template <std::size_t kRegisters>
  DRYSTONE_INLINE static void add(Lanes<W, kCount> (&sums)[kRegisters], const W* from) {
    for (std::size_t k = 0; k < kRegisters; ++k) {
      Lanes<W, kCount> value;
      load<W, kCount>(value, from + k * kCount);
      sums[k] += value;
    }
  }

  const Pool& p_;
  Rows<T> rows_;
  Ring<W> held_;
  std::unique_ptr<W[]> columns_;  // that windows cover
};

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_FAST_PLANE_POOLING_H_
