// Live-object counts: see drystone_host/core.h.
#include "core/live.h"

#include <array>
#include <atomic>
#include <cstring>

#include "drystone_host/core.h"

namespace drystone::host {
namespace {

std::array<std::atomic<std::int64_t>, static_cast<std::size_t>(Kind::count)> counts{};

std::atomic<std::int64_t>& counter(Kind kind) noexcept {
  return counts[static_cast<std::size_t>(kind)];
}

}  // namespace

void born(Kind kind) noexcept { counter(kind).fetch_add(1, std::memory_order_relaxed); }
void died(Kind kind) noexcept { counter(kind).fetch_sub(1, std::memory_order_relaxed); }
std::int64_t alive(Kind kind) noexcept { return counter(kind).load(std::memory_order_relaxed); }

}  // namespace drystone::host

extern "C" void DS_GetLiveObjects(DS_LiveObjects* out) {
  using namespace drystone::host;
  if (out == nullptr) return;
  DS_LiveObjects now{};
  now.struct_size = out->struct_size < DS_LIVE_OBJECTS_STRUCT_SIZE ? out->struct_size
                                                                   : DS_LIVE_OBJECTS_STRUCT_SIZE;
  now.statuses = alive(Kind::status);
  now.buffers = alive(Kind::buffer);
  now.tensors = alive(Kind::tensor);
  now.memory_blocks = alive(Kind::memory);
  now.kernels = alive(Kind::kernel);
  now.items = alive(Kind::item);
  now.handles = alive(Kind::handle);
  now.files = alive(Kind::file);
  std::memcpy(out, &now, now.struct_size);
}
