// Large blocks: see core/large_blocks.h.
#include "core/large_blocks.h"

#include <mutex>

#include "core/forked.h"
#include "core/address_space.h"

namespace drystone::host {
namespace {

struct Pool {
  std::mutex mutex;
  AddressSpaceAllocator address_space;
};

Pool& pool() { return whole_in_children<Pool>(); }

}  // namespace

void* allocate_large(std::size_t bytes) {
  Pool& all = pool();
  const std::lock_guard lock(all.mutex);
  return all.address_space.allocate(bytes);
}

void free_large(void* block) noexcept {
  Pool& all = pool();
  const std::lock_guard lock(all.mutex);
  all.address_space.deallocate(block);
  if (all.address_space.kept() > kMostKept) all.address_space.trim(kMostKept);
}

std::size_t large_block_capacity(const void* block) noexcept { return AddressSpaceAllocator::capacity_of(block); }

std::size_t free_kept() noexcept {
  Pool& all = pool();
  const std::lock_guard lock(all.mutex);
  const std::size_t bytes = all.address_space.kept();
  all.address_space.trim(0);
  return bytes;
}

}  // namespace drystone::host
