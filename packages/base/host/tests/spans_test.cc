// Blocks of spans: what is cut, joined, kept and given back. Built with sanitizers.
#include "core/spans.h"

#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <new>
#include <random>
#include <vector>

#include "checking.h"

namespace {

using drystone::host::Spans;

constexpr std::size_t kKilo = std::size_t{1} << 10;
constexpr std::size_t kMega = std::size_t{1} << 20;

std::byte* at(void* block) { return static_cast<std::byte*>(block); }

void test_the_block_that_came_back_last_is_cut() {
  Spans spans;
  void* early = spans.take(4 * kMega);
  void* between = spans.take(kMega);
  void* late = spans.take(2 * kMega);
  void* last = spans.take(kMega);
  spans.give(early);
  spans.give(late);
  void* found = spans.take(100 * kKilo);  // both would do
  CHECK(found == late);
  void* rest = spans.take(kMega);  // what was left of it
  CHECK(at(rest) > at(late) && at(rest) < at(last));
  for (void* block : {between, last, found, rest}) spans.give(block);
}

void test_neighbours_are_joined() {
  Spans spans;
  std::vector<void*> blocks;
  for (int k = 0; k < 5; ++k) blocks.push_back(spans.take(kMega));
  for (int k : {0, 2, 4, 1, 3}) spans.give(blocks[static_cast<std::size_t>(k)]);
  void* whole = spans.take(5 * kMega);
  CHECK(whole == blocks[0]);
  spans.give(whole);
  void* more = spans.take(9 * kMega);  // with the untouched memory behind it
  CHECK(more == blocks[0]);
  spans.give(more);
}

void test_nothing_but_what_is_held_at_the_peak_is_touched() {
  Spans spans;
  const std::byte* least = nullptr;
  const std::byte* most = nullptr;
  for (int run = 0; run < 3; ++run) {
    void* before = spans.take(3 * kMega);
    for (std::size_t k = 1; k < 40; ++k) {  // layers, one after another: two are held at a time
      void* after = spans.take((k * 7 % 30 + 1) * 100 * kKilo);
      if (least == nullptr || at(after) < least) least = at(after);
      if (at(after) + Spans::room_of(after) > most) most = at(after) + Spans::room_of(after);
      spans.give(before);
      before = after;
    }
    spans.give(before);
  }
  CHECK(most - least <= static_cast<std::ptrdiff_t>(8 * kMega));
}

void test_what_is_kept_goes_back() {
  Spans spans;
  void* one = spans.take(10 * kMega);
  void* two = spans.take(20 * kMega);
  void* other = spans.take(60 * kMega);  // in a span of its own
  CHECK(spans.kept() == 0);
  std::memset(one, 7, 10 * kMega);
  spans.give(one);
  CHECK(spans.kept() >= 10 * kMega && spans.kept() < 11 * kMega);
  spans.give(other);
  spans.trim(65 * kMega);  // the one that was not used for the longest time goes
  CHECK(spans.kept() >= 60 * kMega && spans.kept() < 61 * kMega);
  void* again = spans.take(9 * kMega);  // cut from the other one, which came back last
  CHECK(Spans::room_of(again) < 10 * kMega);
  spans.give(again);
  spans.trim(0);
  CHECK(spans.kept() == 0);
  void* third = spans.take(10 * kMega);
  CHECK(third == one && at(third)[kMega] == std::byte{0});  // the system gave a new page
  spans.give(two);
  spans.give(third);
  spans.trim(0);
  CHECK(spans.kept() == 0);
}

void test_too_much() {
  Spans spans;
  int refused = 0;
  for (std::size_t bytes : {static_cast<std::size_t>(-1), static_cast<std::size_t>(-1) / 2,
                            std::size_t{1} << 60}) {
    try {
      spans.take(bytes);
    } catch (const std::bad_alloc&) {
      ++refused;
    }
  }
  CHECK(refused == 3);
  void* block = spans.take(0);
  CHECK(Spans::room_of(block) > 0);
  spans.give(block);
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
  Spans spans;
  std::map<std::byte*, Known> held;
  bool is_right = true;
  for (int step = 0; step < 4000; ++step) {
    const bool takes = held.size() < 2 || (random() % 100 < 52 && held.size() < 60);
    if (takes) {
      const std::size_t bytes = (std::size_t{1} << (random() % 11 + 12)) + random() % 5000 + 1;
      std::byte* start = at(spans.take(bytes));
      const Known known{bytes, static_cast<unsigned char>(random() % 255 + 1)};
      is_right = is_right && Spans::room_of(start) >= bytes && is_apart(held, start, Spans::room_of(start)) &&
                 reinterpret_cast<std::uintptr_t>(start) % 64 == 0;
      mark(start, known);
      held.emplace(start, known);
    } else {
      auto which = held.begin();
      std::advance(which, static_cast<std::ptrdiff_t>(random() % held.size()));
      is_right = is_right && holds_mark(which->first, which->second);
      spans.give(which->first);
      held.erase(which);
    }
    if (random() % 200 == 0) {
      const std::size_t most = random() % 3 * kMega;
      spans.trim(most);
      is_right = is_right && spans.kept() <= most;
    }
  }
  for (const auto& [start, known] : held) {
    is_right = is_right && holds_mark(start, known);
    spans.give(start);
  }
  spans.trim(0);
  CHECK(is_right && spans.kept() == 0);
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
