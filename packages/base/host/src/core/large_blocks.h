// Large blocks: cut from address space (core/address_space.h) that the process keeps when blocks are given back, as fresh
// memory of the system costs a page fault and the zeroing of a page for each 4 KiB, which is as much as
// a layer's work on them.
#ifndef DRYSTONE_HOST_CORE_LARGE_BLOCKS_H_
#define DRYSTONE_HOST_CORE_LARGE_BLOCKS_H_

#include <cstddef>

namespace drystone::host {

inline constexpr std::size_t kLargeFrom = std::size_t{64} << 10;
inline constexpr std::size_t kLargeUpTo = std::size_t{128} << 20;  // larger ones go back at once
inline constexpr std::size_t kMostKept = std::size_t{256} << 20;   // bytes, by the process

inline bool is_large(std::size_t bytes) noexcept {
  return bytes >= kLargeFrom && bytes <= kLargeUpTo;
}

// Memory at a multiple of 64, of a size for which is_large() holds. Any thread. Throws bad_alloc.
void* allocate_large(std::size_t bytes);
void free_large(void* block) noexcept;
// How many bytes a block can hold.
std::size_t large_block_capacity(const void* block) noexcept;
// Free all that is kept; how many bytes that were.
std::size_t free_kept() noexcept;

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_LARGE_BLOCKS_H_
