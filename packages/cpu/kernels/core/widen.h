// The type that a dtype is calculated in: float for floats of 16 bits, else its own.
#ifndef DRYSTONE_CPU_CORE_WIDEN_H_
#define DRYSTONE_CPU_CORE_WIDEN_H_

#include <type_traits>

#include "core/narrow.h"

namespace drystone::cpu {

template <class T>
inline constexpr bool kIsNarrow = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <class T>
using Wide = std::conditional_t<kIsNarrow<T>, float, T>;

template <class T>
inline Wide<T> widen(T x) {
  if constexpr (kIsNarrow<T>) {
    return to_float(x);
  } else {
    return x;
  }
}

template <class T>
inline T narrow(Wide<T> x) {
  if constexpr (kIsNarrow<T>) {
    return from_float<T>(x);
  } else {
    return x;
  }
}

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_CORE_WIDEN_H_
