// Allocating from reserved address space: see core/address_space.h.
#include "core/address_space.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>

namespace drystone::host {
namespace {

constexpr std::size_t kUnit = 4096;                          // of a block's size: a page
constexpr std::size_t kLeastCut = std::size_t{32} << 10;     // less stays with the block it is left of
constexpr std::size_t kLargePage = std::size_t{2} << 20;
constexpr std::size_t kSpan = std::size_t{64} << 20;
constexpr int kLooked = 16;  // free blocks that are looked at one by one

std::size_t rounded(std::size_t bytes, std::size_t unit) noexcept {
  return (bytes + unit - 1) / unit * unit;
}

// Address space at a multiple of a large page, or null.
std::byte* reserve(std::size_t bytes) noexcept {
  const std::size_t whole = bytes + kLargePage;
  void* found = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) return nullptr;
  const auto start = reinterpret_cast<std::uintptr_t>(found);
  const std::size_t before = rounded(start, kLargePage) - start;
  auto* out = static_cast<std::byte*>(found) + before;
  if (before != 0) munmap(found, before);
  if (before != kLargePage) munmap(out + bytes, kLargePage - before);
  return out;
}

}  // namespace

struct AddressSpaceAllocator::Span {
  std::byte* begin;
  std::size_t size;
  std::size_t top = 0;   // bytes that blocks were ever cut from
  std::size_t last = 0;  // size of the block right before the top
  Span* next = nullptr;
};

// At the start of each block.
struct AddressSpaceAllocator::Head {
  std::size_t size;    // with the head
  std::size_t before;  // size of the block before it in the span, 0 for the first
  Span* span;
  bool is_free;
  bool is_kept;  // it is free, and in the list by time
  Head* newer;
  Head* older;
  Head* next;  // of the free blocks of its class
  Head* previous;

  std::byte* start() noexcept { return reinterpret_cast<std::byte*>(this); }
  std::byte* end() noexcept { return start() + size; }
  bool is_last() noexcept { return end() == span->begin + span->top; }
  Head* after() noexcept { return is_last() ? nullptr : reinterpret_cast<Head*>(end()); }
  Head* prior() noexcept { return before == 0 ? nullptr : reinterpret_cast<Head*>(start() - before); }
  // The size that this block has now is what the next one knows of it.
  void tell_size() noexcept {
    if (Head* const other = after(); other != nullptr) {
      other->before = size;
    } else {
      span->last = size;
    }
  }
  static Head* of(const void* block) noexcept {
    return reinterpret_cast<Head*>(static_cast<std::byte*>(const_cast<void*>(block)) - sizeof(Head));
  }
};

AddressSpaceAllocator::~AddressSpaceAllocator() {
  while (spans_ != nullptr) close(spans_);
}

// Sizes of a power of two are told apart in steps of an eighth.
std::size_t AddressSpaceAllocator::class_of(std::size_t size) noexcept {
  const std::size_t power = std::bit_width(size) - 1;
  return power * kSteps + (size - (std::size_t{1} << power)) / ((std::size_t{1} << power) / kSteps);
}

AddressSpaceAllocator::Head* AddressSpaceAllocator::latest(std::size_t size) const noexcept {
  Head* each = newest_;
  for (int k = 0; k < kLooked && each != nullptr; ++k, each = each->older) {
    if (each->size >= size) return each;
  }
  return nullptr;
}

// A free block of the size's class, else of the next larger one that has any.
AddressSpaceAllocator::Head* AddressSpaceAllocator::of_class(std::size_t size) const noexcept {
  const std::size_t own = class_of(size);
  Head* each = classes_[own];
  for (int k = 0; k < kLooked && each != nullptr; ++k, each = each->next) {
    if (each->size >= size) return each;
  }
  std::size_t word = (own + 1) / 64;
  std::uint64_t mask = ~std::uint64_t{0} << ((own + 1) % 64);
  for (; word < kWords; ++word, mask = ~std::uint64_t{0}) {
    const std::uint64_t found = has_blocks_[word] & mask;
    if (found != 0) return classes_[word * 64 + static_cast<std::size_t>(std::countr_zero(found))];
  }
  return nullptr;
}

AddressSpaceAllocator::Head* AddressSpaceAllocator::find(std::size_t size) const noexcept {
  Head* const found = latest(size);
  return found != nullptr ? found : of_class(size);
}

void* AddressSpaceAllocator::allocate(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(-1) / 2) throw std::bad_alloc();
  const std::size_t size = rounded(bytes + sizeof(Head), kUnit);
  Head* head = find(size);
  if (head != nullptr) {
    remove(head);
    cut(head, size);
  } else {
    head = extended(size);
  }
  head->is_free = false;
  return head + 1;
}

// What a free block has more than is needed is a free block of its own.
void AddressSpaceAllocator::cut(Head* head, std::size_t size) noexcept {
  const std::size_t rest = head->size - size;
  if (rest < kLeastCut) return;
  const bool was_kept = head->is_kept;
  head->size = size;
  auto* const other = new (head->end()) Head{rest, size, head->span, true, false, nullptr, nullptr, nullptr, nullptr};
  other->tell_size();
  if (was_kept) {
    put(other);
  } else {
    retain(other);
  }
}

// A block at the untouched end of a span, with the free block before it.
AddressSpaceAllocator::Head* AddressSpaceAllocator::extended(std::size_t size) {
  for (Span* span = spans_; span != nullptr; span = span->next) {
    if (Head* const head = at_end(*span, size); head != nullptr) return head;
  }
  return at_end(*open(size), size);
}

AddressSpaceAllocator::Head* AddressSpaceAllocator::at_end(Span& span, std::size_t size) noexcept {
  auto* last = span.top == 0 ? nullptr : reinterpret_cast<Head*>(span.begin + span.top - span.last);
  if (last != nullptr && !last->is_free) last = nullptr;
  const std::size_t there = last == nullptr ? 0 : last->size;
  if (size - there > span.size - span.top) return nullptr;
  if (last != nullptr) {
    remove(last);
    last->size = size;
  } else {
    last = new (span.begin + span.top) Head{size, span.last, &span, false, false, nullptr, nullptr, nullptr, nullptr};
  }
  span.top += size - there;
  span.last = size;
  return last;
}

AddressSpaceAllocator::Span* AddressSpaceAllocator::open(std::size_t size) {
  auto* span = new Span{};
  span->size = std::max(kSpan, rounded(size, kLargePage));
  span->begin = reserve(span->size);
  if (span->begin == nullptr) {  // the process may have that much and no more
    span->size = rounded(size, kLargePage);
    span->begin = reserve(span->size);
  }
  if (span->begin == nullptr) {
    delete span;
    throw std::bad_alloc();
  }
#ifdef MADV_HUGEPAGE
  // In small pages a network's layers would touch more pages than a processor has at hand; a graph that
  // needs less than one large page is spared the zeroing of all of it. It may be refused.
  const std::size_t small = spans_ == nullptr ? kLargePage : 0;
  if (span->size > small) madvise(span->begin + small, span->size - small, MADV_HUGEPAGE);
#endif
  span->next = spans_;
  spans_ = span;
  return span;
}

void AddressSpaceAllocator::close(Span* span) noexcept {
  Span** at = &spans_;
  while (*at != span) at = &(*at)->next;
  *at = span->next;
  munmap(span->begin, span->size);
  delete span;
}

void AddressSpaceAllocator::deallocate(void* block) noexcept {
  put(coalesced(Head::of(block)));
}

// One block with the free ones before and after it.
AddressSpaceAllocator::Head* AddressSpaceAllocator::coalesced(Head* head) noexcept {
  if (Head* const other = head->after(); other != nullptr && other->is_free) {
    remove(other);
    head->size += other->size;
  }
  if (Head* const other = head->prior(); other != nullptr && other->is_free) {
    remove(other);
    other->size += head->size;
    head = other;
  }
  head->tell_size();
  return head;
}

// Among the free blocks, as the one that came back last.
void AddressSpaceAllocator::put(Head* head) noexcept {
  head->is_kept = true;
  kept_ += head->size;
  head->newer = nullptr;
  head->older = newest_;
  (newest_ != nullptr ? newest_->newer : oldest_) = head;
  newest_ = head;
  put_in_class(head);
}

// Among the free blocks, as one for which the system need not have given memory.
void AddressSpaceAllocator::retain(Head* head) noexcept {
  head->is_kept = false;
  put_in_class(head);
}

void AddressSpaceAllocator::put_in_class(Head* head) noexcept {
  head->is_free = true;
  const std::size_t number = class_of(head->size);
  head->previous = nullptr;
  head->next = classes_[number];
  if (head->next != nullptr) head->next->previous = head;
  classes_[number] = head;
  has_blocks_[number / 64] |= std::uint64_t{1} << (number % 64);
}

// Not among the free blocks any more.
void AddressSpaceAllocator::remove(Head* head) noexcept {
  const std::size_t number = class_of(head->size);
  (head->previous != nullptr ? head->previous->next : classes_[number]) = head->next;
  if (head->next != nullptr) head->next->previous = head->previous;
  if (classes_[number] == nullptr) has_blocks_[number / 64] &= ~(std::uint64_t{1} << (number % 64));
  if (!head->is_kept) return;
  kept_ -= head->size;
  (head->newer != nullptr ? head->newer->older : newest_) = head->older;
  (head->older != nullptr ? head->older->newer : oldest_) = head->newer;
}

void AddressSpaceAllocator::trim(std::size_t most) noexcept {
  while (kept_ > most) {
    Head* const head = oldest_;
    Span* const span = head->span;
    remove(head);
    if (head->before == 0 && head->is_last()) {
      close(span);
      continue;
    }
    // The head's own page stays.
    if (head->size > kUnit) madvise(head->start() + kUnit, head->size - kUnit, MADV_DONTNEED);
    retain(head);
  }
}

std::size_t AddressSpaceAllocator::capacity_of(const void* block) noexcept { return Head::of(block)->size - sizeof(Head); }

}  // namespace drystone::host
