// Large blocks: see core/large_blocks.h.
#include "core/large_blocks.h"

#include <mutex>

#include "core/forked.h"
#include "core/spans.h"

namespace drystone::host {
namespace {

struct Pool {
  std::mutex mutex;
  Spans spans;
};

Pool& pool() { return whole_in_children<Pool>(); }

}  // namespace

void* take_large(std::size_t bytes) {
  Pool& all = pool();
  const std::lock_guard lock(all.mutex);
  return all.spans.take(bytes);
}

void give_large(void* block) noexcept {
  Pool& all = pool();
  const std::lock_guard lock(all.mutex);
  all.spans.give(block);
  if (all.spans.kept() > kMostKept) all.spans.trim(kMostKept);
}

std::size_t room_of_large(const void* block) noexcept { return Spans::room_of(block); }

std::size_t free_kept() noexcept {
  Pool& all = pool();
  const std::lock_guard lock(all.mutex);
  const std::size_t bytes = all.spans.kept();
  all.spans.trim(0);
  return bytes;
}

}  // namespace drystone::host
