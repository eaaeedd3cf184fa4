// Counts of objects that the host has given out and not got back: how leaks are seen.
#ifndef DRYSTONE_HOST_CORE_LIVE_H_
#define DRYSTONE_HOST_CORE_LIVE_H_

#include <cstdint>

namespace drystone::host {

enum class Kind { status, buffer, tensor, memory, kernel, item, handle, file, count };

void born(Kind kind) noexcept;
void died(Kind kind) noexcept;
std::int64_t alive(Kind kind) noexcept;

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_LIVE_H_
