// Blocks that a plugin has freed in a call: see core/freed_blocks.h.
#include "core/freed_blocks.h"

#include <malloc.h>

#include <cstddef>
#include <cstdint>

#include "core/memory_guards.h"

namespace drystone::host {
namespace {

constinit thread_local FreedBlocks* innermost __attribute__((tls_model("initial-exec"))) = nullptr;

}  // namespace

FreedBlocks* FreedBlocks::current() noexcept { return innermost; }

void FreedBlocks::begin() noexcept {
  outer_ = innermost;
  innermost = this;
}

void FreedBlocks::end() noexcept {
  if (innermost == this) innermost = outer_;
}

void FreedBlocks::take(void* memory, Release release) noexcept {
  const auto* const at = static_cast<const char*>(memory);
  if (at >= lent_ && at < lent_end_) return note_misuse("it freed memory that is the host's");
  if (reinterpret_cast<std::uintptr_t>(memory) % alignof(std::max_align_t) != 0) return release(memory);  // not malloc's
  for (std::size_t k = 0; k < count_; ++k) {
    if (blocks_[(first_ + k) % kMost].memory == memory) return note_misuse("it freed memory that had been freed");
  }
  const std::size_t size = malloc_usable_size(memory);
  if (size > kMostBytes) return release(memory);
  while (count_ == kMost || (count_ != 0 && bytes_ + size > kMostBytes)) release_oldest();
  blocks_[(first_ + count_++) % kMost] = {memory, size, release};
  bytes_ += size;
}

bool FreedBlocks::holds(const void* address) const noexcept {
  const auto* const at = static_cast<const char*>(address);
  for (std::size_t k = 0; k < count_; ++k) {
    const Block& one = blocks_[(first_ + k) % kMost];
    const auto* const begin = static_cast<const char*>(one.memory);
    if (at >= begin && at < begin + one.size) return true;
  }
  return false;
}

void FreedBlocks::release() noexcept {
  end();
  while (count_ != 0) release_oldest();
}

void FreedBlocks::release_oldest() noexcept {
  const Block one = blocks_[first_];
  first_ = (first_ + 1) % kMost;
  --count_;
  bytes_ -= one.size;
  one.release(one.memory);
}

}  // namespace drystone::host
