// What of this thread is the host's, whatever a plugin's function leaves behind: its floating-point mode, its
// locale, and registers that functions hand back as they got them, by the conventions of the platform.
#ifndef DRYSTONE_HOST_CORE_KEPT_THREAD_H_
#define DRYSTONE_HOST_CORE_KEPT_THREAD_H_

#include <clocale>

#include "core/floating_mode.h"

namespace drystone::host {

#if defined(__x86_64__)

// Copies of memory that the compiler makes of one instruction run backwards where this is left set.
inline void copy_forwards() noexcept { __asm__ volatile("cld" ::: "cc", "memory"); }

// Of MMX, whose registers are those of `long double`: left full, every such number is NaN.
inline void empty_x87() noexcept {
  constexpr std::uint16_t kLooked = 0x4500, kEmpty = 0x4100;  // C3, C2 and C0 of the status word
  std::uint16_t status = 0;
  __asm__ volatile("fxam\n\tfnstsw %0" : "=am"(status));
  if ((status & kLooked) != kEmpty) [[unlikely]] {
    __asm__ volatile("emms" ::: "memory");
  }
}

#else

inline void copy_forwards() noexcept {}
inline void empty_x87() noexcept {}

#endif

// Keeps it over a scope.
class KeptThread {
 public:
  KeptThread() noexcept : locale_(::uselocale(nullptr)) {}
  ~KeptThread() {
    copy_forwards();
    empty_x87();
    if (::uselocale(nullptr) != locale_) [[unlikely]] ::uselocale(locale_);
  }
  KeptThread(const KeptThread&) = delete;
  KeptThread& operator=(const KeptThread&) = delete;

 private:
  const locale_t locale_;
  const KeptFloatingMode mode_;
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_KEPT_THREAD_H_
