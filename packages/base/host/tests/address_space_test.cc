// Blocks of reserved address space: cut, coalesced, kept and given back. Built with sanitizers.
#include "core/address_space.h"

#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <new>
#include <random>
#include <vector>

#include "checking.h"

namespace {

using drystone::host::AddressSpaceAllocator;

constexpr std::size_t kKilo = std::size_t{1} << 10;
constexpr std::size_t kMega = std::size_t{1} << 20;

std::byte* at(void* block) { return static_cast<std::byte*>(block); }

void test_the_block_that_came_back_last_is_cut() {
  AddressSpaceAllocator memory;
  void* early = memory.allocate(4 * kMega);
  void* between = memory.allocate(kMega);
  void* late = memory.allocate(2 * kMega);
  void* last = memory.allocate(kMega);
  memory.deallocate(early);
  memory.deallocate(late);
  void* found = memory.allocate(100 * kKilo);  // both would do
  CHECK(found == late);
  void* rest = memory.allocate(kMega);  // what was left of it
  CHECK(at(rest) > at(late) && at(rest) < at(last));
  for (void* block : {between, last, found, rest}) memory.deallocate(block);
}

void test_neighbours_are_joined() {
  AddressSpaceAllocator memory;
  std::vector<void*> blocks;
  for (int k = 0; k < 5; ++k) blocks.push_back(memory.allocate(kMega));
  for (int k : {0, 2, 4, 1, 3}) memory.deallocate(blocks[static_cast<std::size_t>(k)]);
  void* whole = memory.allocate(5 * kMega);
  CHECK(whole == blocks[0]);
  memory.deallocate(whole);
  void* more = memory.allocate(9 * kMega);  // with the untouched memory behind it
  CHECK(more == blocks[0]);
  memory.deallocate(more);
}

void test_nothing_but_what_is_held_at_the_peak_is_touched() {
  AddressSpaceAllocator memory;
  const std::byte* least = nullptr;
  const std::byte* most = nullptr;
  for (int run = 0; run < 3; ++run) {
    void* before = memory.allocate(3 * kMega);
    for (std::size_t k = 1; k < 40; ++k) {  // layers, one after another: two are held at a time
      void* after = memory.allocate((k * 7 % 30 + 1) * 100 * kKilo);
      if (least == nullptr || at(after) < least) least = at(after);
      if (at(after) + AddressSpaceAllocator::capacity_of(after) > most) most = at(after) + AddressSpaceAllocator::capacity_of(after);
      memory.deallocate(before);
      before = after;
    }
    memory.deallocate(before);
  }
  CHECK(most - least <= static_cast<std::ptrdiff_t>(8 * kMega));
}

void test_what_is_kept_goes_back() {
  AddressSpaceAllocator memory;
  void* one = memory.allocate(10 * kMega);
  void* two = memory.allocate(20 * kMega);
  void* other = memory.allocate(60 * kMega);  // in a span of its own
  CHECK(memory.kept() == 0);
  std::memset(one, 7, 10 * kMega);
  memory.deallocate(one);
  CHECK(memory.kept() >= 10 * kMega && memory.kept() < 11 * kMega);
  memory.deallocate(other);
  memory.trim(65 * kMega);  // the one that was not used for the longest time goes
  CHECK(memory.kept() >= 60 * kMega && memory.kept() < 61 * kMega);
  void* again = memory.allocate(9 * kMega);  // cut from the other one, which came back last
  CHECK(AddressSpaceAllocator::capacity_of(again) < 10 * kMega);
  memory.deallocate(again);
  memory.trim(0);
  CHECK(memory.kept() == 0);
  void* third = memory.allocate(10 * kMega);
  CHECK(third == one && at(third)[kMega] == std::byte{0});  // the system gave a new page
  memory.deallocate(two);
  memory.deallocate(third);
  memory.trim(0);
  CHECK(memory.kept() == 0);
}

void test_too_much() {
  AddressSpaceAllocator memory;
  int refused = 0;
  for (std::size_t bytes : {static_cast<std::size_t>(-1), static_cast<std::size_t>(-1) / 2,
                            std::size_t{1} << 60}) {
    try {
      memory.allocate(bytes);
    } catch (const std::bad_alloc&) {
      ++refused;
    }
  }
  CHECK(refused == 3);
  void* block = memory.allocate(0);
  CHECK(AddressSpaceAllocator::capacity_of(block) > 0);
  memory.deallocate(block);
}

// A block of the model: where it ends, and what was written into it.
struct Known {
  std::size_t bytes;
  unsigned char mark;
};

bool holds_mark(const std::byte* start, const Known& known) {
  for (std::size_t k : {std::size_t{0}, known.bytes / 2, known.bytes - 1}) {
    if (start[k] != std::byte{known.mark}) return false;
  }
  return true;
}

void mark(std::byte* start, const Known& known) {
  for (std::size_t k : {std::size_t{0}, known.bytes / 2, known.bytes - 1}) start[k] = std::byte{known.mark};
}

bool is_apart(const std::map<std::byte*, Known>& held, std::byte* start, std::size_t room) {
  const auto next = held.lower_bound(start);
  if (next != held.end() && next->first < start + room) return false;
  if (next == held.begin()) return true;
  const auto& [other, known] = *std::prev(next);
  return other + known.bytes <= start;
}

// Blocks of random sizes come and go; none overlaps another, and none loses what was written.
void test_random(unsigned seed) {
  std::mt19937 random(seed);
  AddressSpaceAllocator memory;
  std::map<std::byte*, Known> held;
  bool is_right = true;
  for (int step = 0; step < 4000; ++step) {
    const bool takes = held.size() < 2 || (random() % 100 < 52 && held.size() < 60);
    if (takes) {
      const std::size_t bytes = (std::size_t{1} << (random() % 11 + 12)) + random() % 5000 + 1;
      std::byte* start = at(memory.allocate(bytes));
      const Known known{bytes, static_cast<unsigned char>(random() % 255 + 1)};
      is_right = is_right && AddressSpaceAllocator::capacity_of(start) >= bytes && is_apart(held, start, AddressSpaceAllocator::capacity_of(start)) &&
                 reinterpret_cast<std::uintptr_t>(start) % 64 == 0;
      mark(start, known);
      held.emplace(start, known);
    } else {
      auto which = held.begin();
      std::advance(which, static_cast<std::ptrdiff_t>(random() % held.size()));
      is_right = is_right && holds_mark(which->first, which->second);
      memory.deallocate(which->first);
      held.erase(which);
    }
    if (random() % 200 == 0) {
      const std::size_t most = random() % 3 * kMega;
      memory.trim(most);
      is_right = is_right && memory.kept() <= most;
    }
  }
  for (const auto& [start, known] : held) {
    is_right = is_right && holds_mark(start, known);
    memory.deallocate(start);
  }
  memory.trim(0);
  CHECK(is_right && memory.kept() == 0);
}

}  // namespace

int main() {
  test_the_block_that_came_back_last_is_cut();
  test_neighbours_are_joined();
  test_nothing_but_what_is_held_at_the_peak_is_touched();
  test_what_is_kept_goes_back();
  test_too_much();
  for (unsigned seed = 0; seed < 40; ++seed) test_random(seed);
  return help::report();
}
