// How much memory one tensor of a kernel's may take.
#ifndef DRYSTONE_HOST_CORE_MEMORY_LIMIT_H_
#define DRYSTONE_HOST_CORE_MEMORY_LIMIT_H_

#include <cstddef>
#include <string>

#include "core/failure.h"

namespace drystone::host {

// The most bytes, at most 2^40: a quarter of the memory of the machine, of the control groups that the
// process is in, or of the address space that it may have. The same as drystone_base/kernels/_limits.py says:
// a kernel has its inputs beside its output, and what it works with. Found out once.
std::size_t byte_limit() noexcept;

// The same of a machine whose /proc and /sys are below `root`, without what is the process's own.
std::size_t memory_of_groups(const std::string& root);

// What is said where the system gives less than that.
Failure no_memory();

// Fails with RESOURCE_EXHAUSTED for more. `what`: the tensor, for people; called then only.
[[noreturn]] void fail_too_large(unsigned __int128 bytes, const std::string& what);
template <class What>
void check_fits(std::size_t bytes, What&& what) {
  constexpr std::size_t kAlways = std::size_t{1} << 20;  // spared the question
  if (bytes > kAlways && bytes > byte_limit()) [[unlikely]] fail_too_large(bytes, what());
}

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_MEMORY_LIMIT_H_
