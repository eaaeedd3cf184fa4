// Aligned blocks that are used again: the memory of tensors and of their handles.
#ifndef DRYSTONE_HOST_CORE_BLOCKS_H_
#define DRYSTONE_HOST_CORE_BLOCKS_H_

#include <array>
#include <cstddef>

namespace drystone::host {

inline constexpr std::size_t kBlockUnit = 64;
inline constexpr std::size_t kBlockClasses = 64;        // small blocks: up to 4 KiB
inline constexpr std::size_t kKeptOfClass = 65536;      // bytes, by one thread

struct FreeBlock {
  FreeBlock* next;
};

// Small blocks that a thread has given back, by size.
struct BlockLists {
  struct Class {
    FreeBlock* first = nullptr;
    std::size_t count = 0;
  };
  std::array<Class, kBlockClasses + 1> classes;
};

// One pointer, so that it fits where access is one instruction even though the library is opened
// late. NULL: the thread keeps nothing (yet).
extern constinit thread_local BlockLists* block_lists __attribute__((tls_model("initial-exec")));

// Where memory comes from, and how much of it was allocated.
enum class AllocationKind : unsigned char {
  none,
  borrowed,      // not the host's: an array of the embedder's, a plugin's buffer, a file
  small_block,   // blocks up to 4 KiB, kept by threads
  large_block,   // address space kept by the process
  heap,          // the C library's, given back at once
  arena,         // at an offset that a run before has laid out
};
struct Allocation {
  AllocationKind kind = AllocationKind::none;
  std::size_t bytes = 0;
};
// Of a block that was taken for so many bytes.
Allocation allocation_of_block(const void* block, std::size_t bytes) noexcept;

void* allocate_other_block(std::size_t bytes);
void free_other_block(void* block, std::size_t bytes) noexcept;

inline std::size_t block_units(std::size_t bytes) noexcept {
  return bytes / kBlockUnit + (bytes % kBlockUnit != 0 ? 1 : 0);
}

// Memory at a multiple of 64, for any number of bytes. Throws bad_alloc.
inline void* allocate_block(std::size_t bytes) {
  const std::size_t units = block_units(bytes);
  if (units <= kBlockClasses && block_lists != nullptr) {
    BlockLists::Class& kept = block_lists->classes[units];
    if (FreeBlock* out = kept.first; out != nullptr) {
      kept.first = out->next;
      --kept.count;
      return out;
    }
  }
  return allocate_other_block(bytes);
}

// The same number of bytes as when it was taken; by any thread.
inline void free_block(void* block, std::size_t bytes) noexcept {
  const std::size_t units = block_units(bytes);
  if (units <= kBlockClasses && block_lists != nullptr) {
    BlockLists::Class& kept = block_lists->classes[units];
    if (kept.count * units < kKeptOfClass / kBlockUnit) {
      auto* free = static_cast<FreeBlock*>(block);
      free->next = kept.first;
      kept.first = free;
      ++kept.count;
      return;
    }
  }
  free_other_block(block, bytes);
}

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_BLOCKS_H_
