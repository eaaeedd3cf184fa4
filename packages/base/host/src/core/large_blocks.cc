// Large blocks: see core/large_blocks.h.
#include "core/large_blocks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace drystone::host {
namespace {

// Eight sizes per power of two: a block is at most an eighth larger than what was asked for.
constexpr std::size_t kSteps = 8;
constexpr std::size_t kFirst = std::bit_width(kLargeFrom) - 1;
constexpr std::size_t kClasses = (std::bit_width(kLargeUpTo) - kFirst) * kSteps;
constexpr std::size_t kReach = 3 * kSteps + 1;  // classes up to eight times as large

// The class of the smallest blocks that hold so many bytes.
std::size_t class_for(std::size_t bytes) noexcept {
  const std::size_t power = std::bit_width(bytes) - 1;
  const std::size_t step = (std::size_t{1} << power) / kSteps;
  const std::size_t steps = (bytes - (std::size_t{1} << power) + step - 1) / step;  // 0 to kSteps
  return (power - kFirst) * kSteps + steps;
}

std::size_t size_of(std::size_t number) noexcept {
  const std::size_t power = std::size_t{1} << (kFirst + number / kSteps);
  return power + power / kSteps * (number % kSteps);
}

// Before each block: of which class it is, whatever it was taken for.
struct Head {
  std::size_t number;
};
constexpr std::size_t kHead = 64;

Head* head_of(void* block) noexcept {
  return reinterpret_cast<Head*>(static_cast<std::byte*>(block) - kHead);
}

// The system's large pages. In small ones, a network's layers would touch more pages than a processor
// has at hand.
constexpr std::size_t kPage = std::size_t{2} << 20;
constexpr std::size_t kPagedFrom = kPage / 2;

void* fresh(std::size_t bytes) {
  const bool is_paged = bytes >= kPagedFrom;
  const std::size_t unit = is_paged ? kPage : kHead;
  const std::size_t whole = (bytes + unit - 1) / unit * unit;
  void* out = std::aligned_alloc(unit, whole);
  if (out == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (is_paged) madvise(out, whole, MADV_HUGEPAGE);  // it may refuse: then pages are small
#endif
  return out;
}

struct Free {
  Free* next;
  std::uint64_t since;
};

// Never destroyed: tensors may go during exit.
struct Kept {
  std::mutex mutex;
  std::array<Free*, kClasses + 1> classes{};
  std::size_t bytes = 0;
  std::uint64_t now = 0;
};

Kept& kept() {
  static Kept* const only = new Kept();
  return *only;
}

Free* pop(Kept& all, std::size_t number) noexcept {
  Free* out = all.classes[number];
  all.classes[number] = out->next;
  all.bytes -= size_of(number);
  return out;
}

// The block that was given back last, as most of it may still be in a cache: of the class or one of
// blocks up to eight times as large. Null for none.
Free* latest(Kept& all, std::size_t number) noexcept {
  const std::size_t end = std::min(number + kReach, all.classes.size());
  std::size_t found = end;
  for (std::size_t k = number; k < end; ++k) {
    const Free* each = all.classes[k];
    if (each != nullptr && (found == end || each->since > all.classes[found]->since)) found = k;
  }
  return found == end ? nullptr : pop(all, found);
}

// A block of the class that was not used for the longest time.
Free* oldest(Kept& all) noexcept {
  std::size_t found = all.classes.size();
  for (std::size_t k = 0; k < all.classes.size(); ++k) {
    const Free* each = all.classes[k];
    if (each == nullptr) continue;
    if (found == all.classes.size() || each->since < all.classes[found]->since) found = k;
  }
  return pop(all, found);
}

void free_chain(Free* first) noexcept {
  while (first != nullptr) {
    Free* next = first->next;
    std::free(head_of(first));
    first = next;
  }
}

}  // namespace

void* take_large(std::size_t bytes) {
  const std::size_t number = class_for(bytes);
  {
    Kept& all = kept();
    const std::lock_guard lock(all.mutex);
    Free* known = latest(all, number);
    if (known != nullptr) return known;
  }
  void* out = fresh(kHead + size_of(number));
  void* block = static_cast<std::byte*>(out) + kHead;
  new (out) Head{number};
  return block;
}

void give_large(void* block) noexcept {
  const std::size_t number = head_of(block)->number;
  Free* goes = nullptr;  // what there is no room for, freed without the lock
  {
    Kept& all = kept();
    const std::lock_guard lock(all.mutex);
    all.classes[number] = new (block) Free{all.classes[number], ++all.now};
    all.bytes += size_of(number);
    while (all.bytes > kMostKept) {
      Free* out = oldest(all);
      out->next = goes;
      goes = out;
    }
  }
  free_chain(goes);
}

std::size_t room_of_large(const void* block) noexcept {
  return size_of(head_of(const_cast<void*>(block))->number);
}

std::size_t free_kept() noexcept {
  Kept& all = kept();
  Free* goes = nullptr;
  std::size_t bytes = 0;
  {
    const std::lock_guard lock(all.mutex);
    bytes = all.bytes;
    while (all.bytes != 0) {
      Free* out = oldest(all);
      out->next = goes;
      goes = out;
    }
  }
  free_chain(goes);
  return bytes;
}

}  // namespace drystone::host
