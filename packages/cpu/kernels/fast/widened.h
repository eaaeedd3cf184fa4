// Floats of 16 bits as floats, for kernels that go over their elements several times.
#ifndef DRYSTONE_CPU_FAST_WIDENED_H_
#define DRYSTONE_CPU_FAST_WIDENED_H_

#include "core/kernel.h"
#include "core/widen.h"

namespace drystone::cpu {

// The elements in the type to calculate in; in memory of the call when that is another.
template <class T>
const Wide<T>* wide(Call& call, const Tensor& x) {
  if constexpr (kIsNarrow<T>) {
    auto* out = call.scratch<float>(x.count());
    const T* from = x.as<T>();
    for (std::int64_t k = 0; k < x.count(); ++k) out[k] = widen(from[k]);
    return out;
  } else {
    return x.as<T>();
  }
}

// Where to write what finish() rounds and moves to the output.
template <class T>
Wide<T>* wide_output(Call& call, const Tensor& out) {
  if constexpr (kIsNarrow<T>) return call.scratch<float>(out.count());
  else return out.write<T>();
}

template <class T>
inline void finish(const Tensor& out, const Wide<T>* values) {
  if constexpr (kIsNarrow<T>) {
    T* to = out.write<T>();
    for (std::int64_t k = 0; k < out.count(); ++k) to[k] = narrow<T>(values[k]);
  }
}

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_FAST_WIDENED_H_
