// Whether memory can be read, asked without reading it.
#ifndef DRYSTONE_HOST_CORE_READABLE_H_
#define DRYSTONE_HOST_CORE_READABLE_H_

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace drystone::host {

// Whether the 8 bytes at an aligned address are mapped and readable. The kernel copies a signal set
// from there before it refuses what to do with it, so nothing changes. Safe in signal handlers.
inline bool is_readable(const void* address) noexcept {
  constexpr int kNothingToDo = -1;
  const int before = errno;
  const long answer =
      syscall(SYS_rt_sigprocmask, kNothingToDo, address, nullptr, sizeof(std::uint64_t));
  const bool readable = answer == 0 || errno == EINVAL;
  errno = before;
  return readable;
}

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_READABLE_H_
