// The loop that takes one of two elements.
#ifndef DRYSTONE_CPU_FAST_SELECT_H_
#define DRYSTONE_CPU_FAST_SELECT_H_

#include <cstddef>
#include <cstdint>

namespace drystone::cpu {

// Steps are 0 or 1. `out` may be `a` or `b` where that one's step is 1.
using SelectRun = void (*)(void* out, const std::uint8_t* which, const void* a, const void* b,
                           std::int64_t count, std::int64_t which_step, std::int64_t a_step,
                           std::int64_t b_step);

// For elements of that many bytes.
SelectRun select_run_of(std::size_t size);

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_FAST_SELECT_H_
