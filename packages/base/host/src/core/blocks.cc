// Blocks: see core/blocks.h.
#include "core/blocks.h"

#include <cstdlib>
#include <new>
#include <utility>

#include "core/handles.h"
#include "core/large_blocks.h"

namespace drystone::host {
namespace {

thread_local bool blocks_are_over __attribute__((tls_model("initial-exec"))) = false;

// Units of a block that is the handle of a tensor: those are kept for ever (core/handles.h).
constexpr std::size_t kHandle = 1;

void free_small(std::size_t units, void* block) noexcept {
  if (units == kHandle) give_handle(HandleKind::tensor, block);
  else std::free(block);
}

// Frees what the thread keeps when it ends.
struct EndOfBlocks {
  ~EndOfBlocks() {
    blocks_are_over = true;
    BlockLists* mine = std::exchange(block_lists, nullptr);
    for (std::size_t units = 0; units < mine->classes.size(); ++units) {
      FreeBlock* next = mine->classes[units].first;
      while (next != nullptr) free_small(units, std::exchange(next, next->next));
    }
    delete mine;
  }
};

bool open_block_lists() noexcept {
  if (!kThreadsKeep || blocks_are_over || block_lists != nullptr) return false;
  block_lists = new (std::nothrow) BlockLists();
  if (block_lists == nullptr) return false;
  thread_local EndOfBlocks end;
  static_cast<void>(&end);
  return true;
}

}  // namespace

constinit thread_local BlockLists* block_lists __attribute__((tls_model("initial-exec"))) = nullptr;

void* allocate_other_block(std::size_t bytes) {
  const std::size_t units = block_units(bytes);
  if (units > kBlockClasses && kThreadsKeep && is_large(bytes)) return allocate_large(bytes);
  if (units > static_cast<std::size_t>(-1) / kBlockUnit) throw std::bad_alloc();
  void* out = units == kHandle ? take_handle(HandleKind::tensor)
                               : std::aligned_alloc(kBlockUnit, (units == 0 ? 1 : units) * kBlockUnit);
  if (out == nullptr) throw std::bad_alloc();
  return out;
}

Allocation allocation_of_block(const void* block, std::size_t bytes) noexcept {
  const std::size_t units = block_units(bytes);
  if (kThreadsKeep && units <= kBlockClasses) return {AllocationKind::small_block, units * kBlockUnit};
  if (kThreadsKeep && is_large(bytes)) return {AllocationKind::large_block, large_block_capacity(block)};
  return {AllocationKind::heap, units * kBlockUnit};
}

void free_other_block(void* block, std::size_t bytes) noexcept {
  const std::size_t units = block_units(bytes);
  if (units > kBlockClasses && kThreadsKeep && is_large(bytes)) return free_large(block);
  if (units <= kBlockClasses && open_block_lists()) return free_block(block, bytes);
  free_small(units, block);
}

}  // namespace drystone::host
