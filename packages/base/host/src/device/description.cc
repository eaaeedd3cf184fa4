// Figures of devices' memory: see device/description.h.
#include "device/description.h"

#include <optional>
#include <utility>

#include "device/objects.h"

namespace drystone::host {
namespace {

// How many bytes are free, and how many there are.
std::optional<std::pair<std::int64_t, std::int64_t>> usage_on(DS_Device& device) {
  std::int64_t free = 0;
  std::int64_t total = 0;
  if (!ask(device, "device_memory_usage", &SP_StreamExecutor::device_memory_usage, &free, &total)) return std::nullopt;
  if (free < 0 || total < free) {
    misbehaved(device.name + " device_memory_usage", device.platform.library(),
               "answers " + std::to_string(free) + " free bytes of " + std::to_string(total), device.name);
  }
  return std::pair(free, total);
}

void describe_usage(Json& json, DS_Device& device) {
  const auto usage = usage_on(device);
  if (!usage) return;
  json.integer("free", usage->first);
  json.integer("total", usage->second);
}

void describe_allocator(Json& json, DS_Device& device) {
  auto padded = DRYSTONE_PADDED_STRUCT(SP_AllocatorStats, SP_ALLOCATORSTATS_STRUCT_SIZE);
  if (!ask(device, "get_allocator_stats", &SP_StreamExecutor::get_allocator_stats, padded.get())) return;
  padded.settle();
  const SP_AllocatorStats& stats = *padded;
  for (const std::int64_t figure : {stats.num_allocs, stats.bytes_in_use, stats.peak_bytes_in_use}) {
    if (figure >= 0) continue;
    misbehaved(device.name + " get_allocator_stats", device.platform.library(), "answers " + std::to_string(figure), device.name);
  }
  json.key("allocator");
  json.object();
  json.integer("num_allocs", stats.num_allocs);
  json.integer("bytes_in_use", stats.bytes_in_use);
  json.integer("peak_bytes_in_use", stats.peak_bytes_in_use);
  json.integer("largest_alloc_size", stats.largest_alloc_size);
  if (stats.has_bytes_limit) json.integer("bytes_limit", stats.bytes_limit);
  json.integer("bytes_reserved", stats.bytes_reserved);
  json.integer("peak_bytes_reserved", stats.peak_bytes_reserved);
  if (stats.has_bytes_reservable_limit) {
    json.integer("bytes_reservable_limit", stats.bytes_reservable_limit);
  }
  json.integer("largest_free_block_bytes", stats.largest_free_block_bytes);
  json.close();
}

}  // namespace

void describe_memory(Json& json, DS_Device& device) {
  describe_usage(json, device);
  describe_allocator(json, device);
}

std::string usage_of(DS_Device& device) {
  const auto usage = usage_on(device);
  if (!usage) return "";
  return "; it has " + std::to_string(usage->first) + " of " + std::to_string(usage->second) + " bytes free";
}

}  // namespace drystone::host
