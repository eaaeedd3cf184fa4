// How this thread's processor rounds, and what it does with denormals: the host's, whatever a plugin
// sets. Looking takes the processor some 5 ns, as long as a small kernel.
#ifndef DRYSTONE_HOST_CORE_FLOATING_MODE_H_
#define DRYSTONE_HOST_CORE_FLOATING_MODE_H_

#include <cstdint>

namespace drystone::host {

#if defined(__x86_64__)

struct FloatingMode {
  std::uint32_t vectors;  // MXCSR without its flags of what has happened
  std::uint16_t x87;

  static FloatingMode now() noexcept {
    FloatingMode mode;
    __asm__ volatile("stmxcsr %0" : "=m"(mode.vectors));
    __asm__ volatile("fnstcw %0" : "=m"(mode.x87));
    mode.vectors &= ~std::uint32_t{0x3f};
    return mode;
  }
  bool operator==(const FloatingMode&) const = default;

  void set() const noexcept {
    __asm__ volatile("ldmxcsr %0" ::"m"(vectors));
    __asm__ volatile("fldcw %0" ::"m"(x87));
  }
};

#elif defined(__aarch64__)

struct FloatingMode {
  std::uint64_t control;

  static FloatingMode now() noexcept {
    FloatingMode mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode.control));
    return mode;
  }
  bool operator==(const FloatingMode&) const = default;

  void set() const noexcept { __asm__ volatile("msr fpcr, %0" ::"r"(control)); }
};

#else
#error "say how this processor's floating-point mode is read and set"
#endif

// How often this thread's mode was put back: what reports changes asks for it.
extern constinit thread_local unsigned modes_put_back __attribute__((tls_model("initial-exec")));

// Keeps the mode over a scope.
class KeptFloatingMode {
 public:
  KeptFloatingMode() noexcept : before_(FloatingMode::now()) {}
  ~KeptFloatingMode() {
    if (FloatingMode::now() != before_) [[unlikely]] {
      before_.set();
      ++modes_put_back;
    }
  }
  KeptFloatingMode(const KeptFloatingMode&) = delete;
  KeptFloatingMode& operator=(const KeptFloatingMode&) = delete;

 private:
  FloatingMode before_;
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_FLOATING_MODE_H_
