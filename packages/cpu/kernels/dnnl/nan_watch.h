// Whether a primitive met NaN in an activation that does not keep it.
//
// oneDNN's maximum gives its second operand where one is NaN, so that Relu of NaN is 0, and clamps of
// exponentials lose it likewise. The processor notes that: maxima and comparisons with NaN raise the
// flag of invalid operations, which stays up until it is cleared. Looking costs some
// nanoseconds a thread, where a pass over the result would cost what fusing saves.
#ifndef DRYSTONE_CPU_DNNL_NAN_WATCH_H_
#define DRYSTONE_CPU_DNNL_NAN_WATCH_H_

#include <cstdint>

#include "core/kernel.h"

namespace drystone::cpu::dnnl_part {

// Whether this processor notes it. Elsewhere such activations are not left to oneDNN.
#if defined(__x86_64__)
inline constexpr bool kNotesNan = true;
#else
inline constexpr bool kNotesNan = false;
#endif

// Watches the primitives that this thread runs while it lives, on whichever threads they run.
class NanWatch {
 public:
  NanWatch();
  ~NanWatch();
  NanWatch(const NanWatch&) = delete;
  NanWatch& operator=(const NanWatch&) = delete;
  // Whether there may have been NaN: never wrong when it says no.
  bool saw() const;
};

// Whether all elements are finite.
bool is_finite(const Tensor& x);
// Makes NaN of each element of y, where x has NaN. Both have the dtype of `y`.
void mark_nan(const Tensor& y, const void* x);

}  // namespace drystone::cpu::dnnl_part

#endif  // DRYSTONE_CPU_DNNL_NAN_WATCH_H_
