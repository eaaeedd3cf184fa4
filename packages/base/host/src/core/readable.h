// Whether memory can be read, asked without reading it.
#ifndef DRYSTONE_HOST_CORE_READABLE_H_
#define DRYSTONE_HOST_CORE_READABLE_H_

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
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

// Whether the first and the last of so many bytes are.
inline bool is_readable(const void* data, std::size_t bytes) noexcept {
  constexpr std::uintptr_t kAligned = ~(std::uintptr_t{sizeof(std::uint64_t)} - 1);
  if (bytes == 0) return true;
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t last = begin + (bytes - 1);
  if (data == nullptr || last < begin) return false;
  return is_readable(reinterpret_cast<const void*>(begin & kAligned)) &&
         is_readable(reinterpret_cast<const void*>(last & kAligned));
}

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_READABLE_H_
