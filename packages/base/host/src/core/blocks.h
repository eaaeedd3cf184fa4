// Small aligned blocks that are used again: the memory of small tensors and of their handles.
#ifndef DRYSTONE_HOST_CORE_BLOCKS_H_
#define DRYSTONE_HOST_CORE_BLOCKS_H_

#include <cstddef>

namespace drystone::host {

// Memory at a multiple of 64, for any number of bytes. Each thread keeps some that it has given back.
// Throws bad_alloc.
void* take_block(std::size_t bytes);
// The same number of bytes as when it was taken; by any thread.
void give_block(void* block, std::size_t bytes) noexcept;

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_BLOCKS_H_
