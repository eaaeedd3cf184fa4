// Folds of elements into one, as loops that vectorize: see core/reduction.h.
#ifndef DRYSTONE_CPU_FAST_FOLDS_H_
#define DRYSTONE_CPU_FAST_FOLDS_H_

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/widen.h"
#include "core/reduction.h"

namespace drystone::cpu {

// An op has In, State and Out, neutral(), take(In) -> State, join(State, State) and
// finish(State, each) -> Out.
template <class Op>
struct FoldLoops {
  using In = typename Op::In;
  using State = typename Op::State;
  using Out = typename Op::Out;
  // As many as four vector registers hold: sums in that many lanes, which are joined in pairs, are
  // as exact as NumPy's and need not wait for each other.
  static constexpr std::int64_t kLanes = sizeof(State) <= 8 ? 64 : 8;
  static constexpr std::int64_t kBase = kLanes * 32;

  static State run(const In* x, std::int64_t count) {
    if (count < 16) {
      State out = Op::neutral();
      for (std::int64_t k = 0; k < count; ++k) out = Op::join(out, Op::take(x[k]));
      return out;
    }
    return halves(x, count);
  }

  // Not within itself, or in all that calls it: that takes seconds to compile and no less to run.
  [[gnu::noinline]] static State halves(const In* x, std::int64_t count) {
    if (count > kBase) {
      const std::int64_t half = count / 2 / kLanes * kLanes;
      return Op::join(halves(x, half), halves(x + half, count - half));
    }
    State lanes[kLanes];
    for (std::int64_t k = 0; k < kLanes; ++k) lanes[k] = Op::neutral();
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      for (std::int64_t k = 0; k < kLanes; ++k) lanes[k] = Op::join(lanes[k], Op::take(x[i + k]));
    }
    for (std::int64_t k = 0; i + k < count; ++k) lanes[k] = Op::join(lanes[k], Op::take(x[i + k]));
    for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
      for (std::int64_t k = 0; k < half; ++k) lanes[k] = Op::join(lanes[k], lanes[k + half]);
    }
    return lanes[0];
  }

  static void clear(void* states, std::int64_t count) {
    std::fill_n(static_cast<State*>(states), count, Op::neutral());
  }
  static void runs(const void* x, std::int64_t length, std::int64_t count, void* states) {
    const In* from = static_cast<const In*>(x);
    State* to = static_cast<State*>(states);
    for (std::int64_t k = 0; k < count; ++k) to[k] = run(from + k * length, length);
  }
  static void rows(const void* x, std::int64_t stride, std::int64_t rows, std::int64_t width,
                   void* states) {
    const In* from = static_cast<const In*>(x);
    State* to = static_cast<State*>(states);
    for (; rows >= 4; rows -= 4, from += 4 * stride) {
      const In* b = from + stride;
      const In* c = b + stride;
      const In* d = c + stride;
#pragma GCC ivdep
      for (std::int64_t k = 0; k < width; ++k) {
        const State left = Op::join(Op::take(from[k]), Op::take(b[k]));
        to[k] = Op::join(to[k], Op::join(left, Op::join(Op::take(c[k]), Op::take(d[k]))));
      }
    }
    for (; rows > 0; --rows, from += stride) {
#pragma GCC ivdep
      for (std::int64_t k = 0; k < width; ++k) to[k] = Op::join(to[k], Op::take(from[k]));
    }
  }
  static void join(void* states, const void* more, std::int64_t count) {
    State* to = static_cast<State*>(states);
    const State* from = static_cast<const State*>(more);
#pragma GCC ivdep
    for (std::int64_t k = 0; k < count; ++k) to[k] = Op::join(to[k], from[k]);
  }
  static void finish(void* out, const void* states, std::int64_t count, std::int64_t each) {
    Out* to = static_cast<Out*>(out);
    const State* from = static_cast<const State*>(states);
#pragma GCC ivdep
    for (std::int64_t k = 0; k < count; ++k) to[k] = Op::finish(from[k], each);
  }
};

template <class Op>
inline constexpr Fold kFold = {
    sizeof(typename Op::In), sizeof(typename Op::State),
    std::is_same_v<typename Op::State, typename Op::Out>,
    FoldLoops<Op>::clear, FoldLoops<Op>::runs, FoldLoops<Op>::rows, FoldLoops<Op>::join,
    FoldLoops<Op>::finish};

template <class T, class S = Wide<T>>
struct SumFold {
  using In = T;
  using State = S;
  using Out = T;
  static S neutral() { return S(0); }
  static S take(T x) { return static_cast<S>(widen(x)); }
  static S join(S a, S b) { return static_cast<S>(a + b); }
  static T finish(S s, std::int64_t) { return narrow<T>(static_cast<Wide<T>>(s)); }
};

template <class T>
struct SquaresFold : SumFold<T> {
  using State = Wide<T>;
  static State take(T x) { return widen(x) * widen(x); }
};

// NaN stays. In two steps, for otherwise the compiler makes branches of it.
template <class T>
struct MaxFold : SumFold<T> {
  using State = Wide<T>;
  using Limits = std::numeric_limits<State>;
  static State neutral() { return Limits::has_infinity ? -Limits::infinity() : Limits::lowest(); }
  static State join(State a, State b) {
    const State one = b > a ? b : a;
    return b != b ? b : one;
  }
};

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_FAST_FOLDS_H_
