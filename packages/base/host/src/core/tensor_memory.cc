// Memory blocks of tensors, and the queue of lent memory that has come back.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "core/arena.h"
#include "core/failure.h"
#include "core/live.h"
#include "core/memory_guards.h"
#include "core/tensor.h"
#include "drystone/tstring.h"
#include "drystone_host/core.h"

namespace drystone::host {
namespace {

// Tokens of lent memory that nothing refers to any more, until the embedder takes them.
struct Released {
  std::mutex mutex;
  std::vector<std::uint64_t> tokens;
};

Released& released() {
  static auto* queue = new Released();  // never destroyed: memory may come back during exit
  return *queue;
}

void put_back(std::uint64_t token) noexcept {
  try {
    const std::lock_guard lock(released().mutex);
    released().tokens.push_back(token);
  } catch (...) {
    return;  // without memory for the note the lent block stays lent
  }
}

void destroy_elements(const Memory& memory) noexcept {
  if (memory.dtype != TF_STRING) return;
  auto* strings = static_cast<TF_TString*>(memory.data);
  for (std::size_t k = 0; k < memory.length / sizeof(TF_TString); ++k) TF_TString_Dealloc(&strings[k]);
}

// The struct, and behind it the data, in one block.
constexpr std::size_t kHead = (sizeof(Memory) + kAlignment - 1) / kAlignment * kAlignment;

// The whole block. Where there is no data it is longer than a handle, among which none lies.
std::size_t block_bytes(std::size_t length, bool guarded) noexcept {
  return kHead + std::max(length, std::size_t{1}) + (guarded ? kGuardBefore + guard_behind(length) : 0);
}

}  // namespace

void free_memory(Memory* memory) noexcept {
  drop(memory->adapted.load(std::memory_order_acquire));
  died(Kind::memory);
  if (memory->ours) {
    if (memory->guarded) note_harm(*memory);
    destroy_elements(*memory);
    const std::size_t bytes = block_bytes(memory->length, memory->guarded);
    auto* const arena = static_cast<Arena*>(memory->argument);
    const std::uint64_t slot = memory->token;
    const bool planned = memory->planned;
    memory->~Memory();
    if (!planned) free_block(memory, bytes);
    if (arena != nullptr) arena->give(slot, planned);
    return;
  }
  if (memory->token != 0) {
    put_back(memory->token);
  } else if (memory->deallocator != nullptr) {
    answered(0, [&] {  // it is a plugin's, and may throw
      memory->deallocator(memory->data, memory->length, memory->argument);
      return 0;
    });
  }
  delete memory;
}

Memory* allocate(TF_DataType dtype, std::size_t length, const GuardOwner* owner) {
  if (length > static_cast<std::size_t>(-1) >> 1) throw std::bad_alloc();
  const std::size_t bytes = block_bytes(length, owner != nullptr);
  Arena* const arena = length >= Arena::kFrom ? Arena::current() : nullptr;
  std::uint64_t slot = 0;
  void* block = arena != nullptr ? arena->take(bytes, &slot) : nullptr;
  const bool planned = block != nullptr;
  if (!planned) block = allocate_block(bytes);
  auto* memory = new (block) Memory();
  born(Kind::memory);
  memory->argument = slot != 0 ? arena : nullptr;
  memory->token = slot;
  memory->planned = planned;
  memory->data = static_cast<unsigned char*>(block) + kHead + (owner != nullptr ? kGuardBefore : 0);
  memory->length = length;
  memory->dtype = dtype;
  memory->ours = true;
  if (owner != nullptr) {
    memory->guarded = true;
    set_guards(memory->data, length, *owner);
  }
  if (has_objects(dtype)) std::memset(memory->data, 0, length);
  return memory;
}

Allocation allocation_of(const Memory& memory) noexcept {
  if (!memory.ours) return {AllocationKind::borrowed, memory.length};
  const std::size_t bytes = block_bytes(memory.length, memory.guarded);
  if (memory.planned) return {AllocationKind::arena, bytes};
  return allocation_of_block(&memory, bytes);
}

}  // namespace drystone::host

extern "C" int DS_TakeReleased(uint64_t* tokens, int max) {
  using namespace drystone::host;
  if (tokens == nullptr || max <= 0) return 0;
  const std::lock_guard lock(released().mutex);
  auto& queue = released().tokens;
  const std::size_t count = std::min(queue.size(), static_cast<std::size_t>(max));
  std::copy_n(queue.end() - static_cast<std::ptrdiff_t>(count), count, tokens);
  queue.resize(queue.size() - count);
  return static_cast<int>(count);
}
