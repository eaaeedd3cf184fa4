// Aligned memory for NumPy's arrays: see drystone_host/arrays.h.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/large_blocks.h"
#include "core/tensor.h"
#include "drystone_host/arrays.h"
#include "library/of_programs.h"

namespace drystone::host {
namespace {

// NumPy's PyDataMem_Handler.
struct Handler {
  char name[127];
  std::uint8_t version;
  void* context;
  void* (*malloc)(void*, std::size_t);
  void* (*calloc)(void*, std::size_t, std::size_t);
  void* (*realloc)(void*, void*, std::size_t);
  void (*free)(void*, void*, std::size_t);
};

// A block of the C library's has room for the alignment and, right before the aligned part, for the
// distance to its own start. So calloc can leave zeroing to the system, and realloc can move pages.
constexpr std::size_t kRoom = kAlignment + sizeof(std::size_t);

std::size_t distance_in(const void* block) {
  const auto start = reinterpret_cast<std::uintptr_t>(block);
  const std::uintptr_t least = start + sizeof(std::size_t);
  return (least + kAlignment - 1) / kAlignment * kAlignment - start;
}

void* aligned_part(void* block) {
  const std::size_t distance = distance_in(block);
  auto* data = static_cast<char*>(block) + distance;
  std::memcpy(data - sizeof distance, &distance, sizeof distance);
  return data;
}

std::size_t distance_of(const void* data) {
  std::size_t distance = 0;
  std::memcpy(&distance, static_cast<const char*>(data) - sizeof distance, sizeof distance);
  return distance;
}

bool too_large(std::size_t size) { return size > SIZE_MAX - kRoom; }

void* allocate_array(void*, std::size_t size) {
  void* block = too_large(size) ? nullptr : std::malloc(size + kRoom);
  return block == nullptr ? nullptr : aligned_part(block);
}

void* allocate_zeros(void*, std::size_t count, std::size_t each) {
  std::size_t size = 0;
  if (__builtin_mul_overflow(count, each, &size) || too_large(size)) return nullptr;
  void* block = std::calloc(1, size + kRoom);
  return block == nullptr ? nullptr : aligned_part(block);
}

void free_array(void*, void* data, std::size_t) {
  if (data != nullptr) std::free(static_cast<char*>(data) - distance_of(data));
}

void* resize_array(void* context, void* data, std::size_t size) {
  if (data == nullptr) return allocate_array(context, size);
  if (too_large(size)) return nullptr;
  const std::size_t before = distance_of(data);
  void* block = std::realloc(static_cast<char*>(data) - before, size + kRoom);
  if (block == nullptr) return nullptr;
  // The bytes kept their distance from the block's start; the aligned part may be elsewhere now.
  const std::size_t after = distance_in(block);
  if (after != before) {
    std::memmove(static_cast<char*>(block) + after, static_cast<char*>(block) + before, size);
  }
  return aligned_part(block);
}

constexpr Handler kHandler = {"drystone",     1,            nullptr,   allocate_array,
                              allocate_zeros, resize_array, free_array};

}  // namespace
}  // namespace drystone::host

extern "C" const void* DS_ArrayMemory(void) { return &drystone::host::kHandler; }

extern "C" int64_t DS_FreeKeptMemory(void) {
  if (drystone::host::is_refused("DS_FreeKeptMemory", __builtin_return_address(0))) return 0;
  return static_cast<int64_t>(drystone::host::free_kept());
}
