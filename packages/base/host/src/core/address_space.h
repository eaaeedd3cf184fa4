// Reserves address space, cuts blocks from it, and coalesces the blocks that are freed.
#ifndef DRYSTONE_HOST_CORE_ADDRESS_SPACE_H_
#define DRYSTONE_HOST_CORE_ADDRESS_SPACE_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace drystone::host {

// One thread at a time. A span is a piece of address space of which the system has given nothing yet. Of
// the free blocks that fit, the one that came back last is cut, as most of it may still be in a
// cache; where none fits, a span's untouched end is. So runs touch little more memory than they hold
// at their peak (docs/explanation/decisions/0059).
class AddressSpaceAllocator {
 public:
  AddressSpaceAllocator() = default;
  ~AddressSpaceAllocator();
  AddressSpaceAllocator(const AddressSpaceAllocator&) = delete;
  AddressSpaceAllocator& operator=(const AddressSpaceAllocator&) = delete;

  // Memory at a multiple of 64, for any number of bytes. Throws bad_alloc.
  void* allocate(std::size_t bytes);
  void deallocate(void* block) noexcept;
  // Bytes of free blocks for which the system has given memory, as far as is known: never too few.
  std::size_t kept() const noexcept { return kept_; }
  // Give memory of free blocks back to the system, of those that were not used for the longest time
  // first, until at most so many bytes are kept.
  void trim(std::size_t most) noexcept;
  // How many bytes an allocated block can hold.
  static std::size_t capacity_of(const void* block) noexcept;

 private:
  struct Span;
  struct Head;
  static constexpr std::size_t kSteps = 8;                 // classes per power of two
  static constexpr std::size_t kClasses = 64 * kSteps;
  static constexpr std::size_t kWords = kClasses / 64;

  static std::size_t class_of(std::size_t size) noexcept;
  Head* find(std::size_t size) const noexcept;
  Head* latest(std::size_t size) const noexcept;
  Head* of_class(std::size_t size) const noexcept;
  Head* extended(std::size_t size);
  Head* at_end(Span& span, std::size_t size) noexcept;
  Span* open(std::size_t size);
  void close(Span* span) noexcept;
  void cut(Head* head, std::size_t size) noexcept;
  Head* coalesced(Head* head) noexcept;
  void put(Head* head) noexcept;
  void retain(Head* head) noexcept;
  void remove(Head* head) noexcept;
  void put_in_class(Head* head) noexcept;

  Span* spans_ = nullptr;
  Head* newest_ = nullptr;  // of the free blocks that are kept, by when they came back
  Head* oldest_ = nullptr;
  std::size_t kept_ = 0;
  std::array<Head*, kClasses> classes_{};          // of all free blocks
  std::array<std::uint64_t, kWords> has_blocks_{};  // a bit for each class
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_ADDRESS_SPACE_H_
