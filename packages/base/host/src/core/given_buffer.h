// Bytes that a plugin gives in a buffer: whether they may be read.
#ifndef DRYSTONE_HOST_CORE_GIVEN_BUFFER_H_
#define DRYSTONE_HOST_CORE_GIVEN_BUFFER_H_

#include <cstddef>

#include "core/freed_blocks.h"
#include "core/readable.h"
#include "drystone/buffer.h"

namespace drystone::host {

// Why the bytes must not be read, or "". `freed`: what the plugin has freed in the call that gave them.
inline const char* problem_of(const TF_Buffer& given, const FreedBlocks& freed) noexcept {
  constexpr std::size_t kMost = std::size_t{1} << 31;  // of a message
  if (given.length >= kMost) return "it has 2 GiB or more";
  if (freed.holds(given.data)) return "it lies in memory that the plugin has freed";
  return is_readable(given.data, given.length) ? "" : "it lies where nothing can be read";
}

// Whether its data can be given back.
inline bool has_deallocator(const TF_Buffer& given) noexcept {
  return given.data_deallocator == nullptr || is_readable(reinterpret_cast<const void*>(given.data_deallocator), 1);
}

// The same of a buffer that somebody else reads, and deletes: one with a problem is emptied.
inline const char* settled(TF_Buffer* given, const FreedBlocks& freed) noexcept {
  const char* problem = problem_of(*given, freed);
  if (*problem == '\0' && !has_deallocator(*given)) problem = "its data_deallocator is no function";
  if (*problem != '\0') *given = {nullptr, 0, nullptr};
  return problem;
}

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_GIVEN_BUFFER_H_
