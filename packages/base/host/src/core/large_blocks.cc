// Large blocks: see core/large_blocks.h.
#include "core/large_blocks.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

namespace drystone::host {
namespace {

// Eight sizes per power of two: a block is at most an eighth larger than what was asked for.
constexpr std::size_t kSteps = 8;
constexpr std::size_t kFirst = std::bit_width(kLargeFrom) - 1;
constexpr std::size_t kClasses = (std::bit_width(kLargeUpTo) - kFirst) * kSteps;

struct Size {
  std::size_t number;  // of its class
  std::size_t bytes;
};

Size size_for(std::size_t bytes) noexcept {
  const std::size_t power = std::bit_width(bytes) - 1;
  const std::size_t step = (std::size_t{1} << power) / kSteps;
  const std::size_t steps = (bytes - (std::size_t{1} << power) + step - 1) / step;  // 0 to kSteps
  return {(power - kFirst) * kSteps + steps, (std::size_t{1} << power) + steps * step};
}

struct Free {
  Free* next;
};

struct Class {
  Free* first = nullptr;
  std::size_t bytes = 0;   // of a block
  std::uint64_t used = 0;  // when a block of it was last taken or given
};

// Never destroyed: tensors may go during exit.
struct Kept {
  std::mutex mutex;
  std::array<Class, kClasses + 1> classes;
  std::size_t bytes = 0;
  std::uint64_t now = 0;
};

Kept& kept() {
  static Kept* const only = new Kept();
  return *only;
}

Free* pop(Kept& all, Class& from) noexcept {
  Free* out = from.first;
  from.first = out->next;
  all.bytes -= from.bytes;
  return out;
}

// A block of the class that was not used for the longest time.
Free* oldest(Kept& all) noexcept {
  Class* found = nullptr;
  for (Class& each : all.classes) {
    if (each.first != nullptr && (found == nullptr || each.used < found->used)) found = &each;
  }
  return found == nullptr ? nullptr : pop(all, *found);
}

void free_chain(Free* first) noexcept {
  while (first != nullptr) {
    Free* next = first->next;
    std::free(first);
    first = next;
  }
}

}  // namespace

void* take_large(std::size_t bytes) {
  const Size size = size_for(bytes);
  {
    Kept& all = kept();
    const std::lock_guard lock(all.mutex);
    Class& own = all.classes[size.number];
    own.used = ++all.now;
    if (own.first != nullptr) return pop(all, own);
  }
  void* out = std::aligned_alloc(64, size.bytes);
  if (out == nullptr) throw std::bad_alloc();
  return out;
}

void give_large(void* block, std::size_t bytes) noexcept {
  const Size size = size_for(bytes);
  Free* goes = nullptr;  // what there is no room for, freed without the lock
  {
    Kept& all = kept();
    const std::lock_guard lock(all.mutex);
    Class& own = all.classes[size.number];
    own.used = ++all.now;
    own.bytes = size.bytes;
    auto* mine = static_cast<Free*>(block);
    mine->next = own.first;
    own.first = mine;
    all.bytes += size.bytes;
    while (all.bytes > kMostKept) {
      Free* out = oldest(all);
      out->next = goes;
      goes = out;
    }
  }
  free_chain(goes);
}

std::size_t free_kept() noexcept {
  Kept& all = kept();
  Free* goes = nullptr;
  std::size_t bytes = 0;
  {
    const std::lock_guard lock(all.mutex);
    bytes = all.bytes;
    for (Class& each : all.classes) {
      while (each.first != nullptr) {
        Free* out = pop(all, each);
        out->next = goes;
        goes = out;
      }
    }
  }
  free_chain(goes);
  return bytes;
}

}  // namespace drystone::host
