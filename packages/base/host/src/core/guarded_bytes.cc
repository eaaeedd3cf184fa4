// Arrays with guard bytes: see core/guarded_bytes.h.
#include "core/guarded_bytes.h"

#include "core/memory_guards.h"

namespace drystone::host {

GuardedBytes::GuardedBytes(std::size_t count)
    : count_(count), block_(std::make_unique_for_overwrite<char[]>(count + 2 * kGuard)) {
  renew();
}

void GuardedBytes::renew() const noexcept {
  fill_guard(block_.get(), kGuard);
  fill_guard(block_.get() + kGuard + count_, kGuard);
}

bool GuardedBytes::is_whole(const char* whose) const noexcept {
  constexpr std::size_t kLast = 8;
  const char* behind = block_.get() + kGuard + count_;
  if (!is_guard(block_.get(), kLast) || !is_guard(behind + kGuard - kLast, kLast)) end_harmed(whose);
  return is_guard(block_.get(), kGuard) && is_guard(behind, kGuard);
}

}  // namespace drystone::host
