// Blocks and parts of regions: see device/lane_memory.h.
#include "device/lane_memory.h"

#include <algorithm>
#include <iterator>

#include "device/objects.h"

namespace drystone::host {
namespace {

// Regions begin small and double: a process that uses little leaves the rest of the device to others.
constexpr std::uint64_t kFirstRegion = std::uint64_t{2} << 20;
constexpr std::uint64_t kLargestRegion = std::uint64_t{256} << 20;

}  // namespace

LaneMemory::LaneMemory(DS_Device& device)
    : device_(device), divides_(device.platform.sp().use_bfc_allocator != 0), next_region_(kFirstRegion) {}

bool LaneMemory::take(std::uint64_t bytes, Piece* piece) {
  piece->base = {};
  piece->base.struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  if (bytes == 0) return true;
  if (!(divides_ ? take_part(bytes, piece) : take_block(bytes, piece))) return false;
  const std::lock_guard lock(mutex_);
  held_ += static_cast<std::int64_t>(piece->base.size);
  peak_ = std::max(peak_, held_);
  return true;
}

void LaneMemory::give(const SP_DeviceMemoryBase& base) noexcept {
  if (base.opaque == nullptr) return;
  answered(0, [&] {
    const std::lock_guard lock(mutex_);
    held_ -= static_cast<std::int64_t>(base.size);
    if (divides_) set_free(joined(parts_.find(static_cast<char*>(base.opaque))));
    else unused_.emplace(base.size, base);
    return 0;
  });
}

void LaneMemory::release_unused() noexcept {
  std::vector<SP_DeviceMemoryBase> gone;
  answered(0, [&] {
    const std::lock_guard lock(mutex_);
    for (const auto& [size, memory] : unused_) gone.push_back(memory);
    unused_.clear();
    for (auto region = regions_.begin(); region != regions_.end();) {
      const auto part = parts_.find(region->first);
      if (!part->second.is_free || part->second.size != region->second.size) {
        ++region;
        continue;
      }
      free_.erase({part->second.size, part->first});
      parts_.erase(part);
      gone.push_back(region->second);
      region = regions_.erase(region);
    }
    return 0;
  });
  for (SP_DeviceMemoryBase& memory : gone) free_block(device_, memory);
}

std::int64_t LaneMemory::peak() {
  const std::lock_guard lock(mutex_);
  return std::exchange(peak_, held_);
}

// ---- blocks ----------------------------------------------------------------------------------------

// The smallest that fits, unless it would waste as much as it serves.
bool LaneMemory::take_block(std::uint64_t bytes, Piece* piece) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = unused_.lower_bound(bytes);
    if (found != unused_.end() && found->first <= 2 * bytes) {
      piece->base = found->second;
      piece->is_new = false;
      unused_.erase(found);
      return true;
    }
  }
  piece->is_new = true;
  return allocate_block(device_, bytes, &piece->base);
}

// ---- parts of regions ------------------------------------------------------------------------------

bool LaneMemory::take_part(std::uint64_t bytes, Piece* piece) {
  return find_part(bytes, piece) || (add_region(bytes) && find_part(bytes, piece));
}

bool LaneMemory::find_part(std::uint64_t bytes, Piece* piece) {
  const std::lock_guard lock(mutex_);
  const auto found = free_.lower_bound({bytes, nullptr});
  if (found == free_.end()) return false;
  const auto part = parts_.find(found->second);
  set_taken(part);
  if (part->second.size > bytes) {
    const Part rest{part->second.size - bytes, false, part->second.is_new, false};
    part->second.size = bytes;
    set_free(parts_.emplace(part->first + bytes, rest).first);
  }
  piece->is_new = std::exchange(part->second.is_new, false);
  piece->base.opaque = part->first;
  piece->base.size = bytes;
  piece->base.payload = std::prev(regions_.upper_bound(part->first))->second.payload;
  return true;
}

// As large as the next is to be; where the device has not so much, less of it, down to what is needed.
bool LaneMemory::add_region(std::uint64_t least) {
  SP_DeviceMemoryBase region{};
  std::uint64_t size = std::max(least, next_region_);
  while (!allocate_block(device_, size, &region)) {
    if (size == least) return false;
    size = std::max(least, size / 2 / kUnit * kUnit);
  }
  const std::lock_guard lock(mutex_);
  next_region_ = std::min(kLargestRegion, 2 * next_region_);
  auto* const at = static_cast<char*>(region.opaque);
  regions_.emplace(at, region);
  set_free(parts_.emplace(at, Part{size, false, true, true}).first);
  return true;
}

void LaneMemory::set_free(Parts::iterator part) {
  part->second.is_free = true;
  free_.emplace(part->second.size, part->first);
}

void LaneMemory::set_taken(Parts::iterator part) {
  part->second.is_free = false;
  free_.erase({part->second.size, part->first});
}

// A part that is no longer used, with the free ones beside it in its region.
LaneMemory::Parts::iterator LaneMemory::joined(Parts::iterator part) {
  const auto after = std::next(part);
  if (after != parts_.end() && after->second.is_free && !after->second.begins) {
    set_taken(after);
    part->second.size += after->second.size;
    parts_.erase(after);
  }
  if (part->second.begins || part == parts_.begin()) return part;
  const auto before = std::prev(part);
  if (!before->second.is_free) return part;
  set_taken(before);
  before->second.size += part->second.size;
  before->second.is_new = false;
  parts_.erase(part);
  return before;
}

}  // namespace drystone::host
