// Arenas: see core/arena.h.
#include "core/arena.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/blocks.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace drystone::host {
namespace {

constexpr int kFirst = 2;             // the run that is looked at: kernels have packed weights before
constexpr int kMostPlans = 4;         // a plan whose runs differ takes no arena
constexpr std::size_t kMost = 2048;   // slots

// What the address sanitizer is told: whether so many bytes are anybody's.
#if defined(__SANITIZE_ADDRESS__)
void open(const void* begin, std::size_t bytes) { ASAN_UNPOISON_MEMORY_REGION(begin, bytes); }
void shut(const void* begin, std::size_t bytes) { ASAN_POISON_MEMORY_REGION(begin, bytes); }
#else
void open(const void*, std::size_t) {}
void shut(const void*, std::size_t) {}
#endif

constinit thread_local Arena* arena_of_thread __attribute__((tls_model("initial-exec"))) = nullptr;

}  // namespace

Arena* Arena::current() noexcept { return arena_of_thread; }

Arena::Scope::Scope(Arena& arena)
    : before_(arena_of_thread),
      arena_(!arena.is_busy_.exchange(true, std::memory_order_acquire) ? &arena : nullptr) {
  if (arena_ != nullptr) arena_->begin();
  arena_of_thread = arena_;
}

Arena::Scope::~Scope() {
  arena_of_thread = before_;
  if (arena_ == nullptr) return;
  arena_->end();
  arena_->is_busy_.store(false, std::memory_order_release);
}

Arena::~Arena() { forget(); }

void Arena::release() noexcept {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

// Only while nothing lies in it.
void Arena::forget() noexcept {
  if (block_ != nullptr) {
    open(block_, size());
    free_block(std::exchange(block_, nullptr), size());
  }
  size_.store(0, std::memory_order_relaxed);
  slots_.clear();
}

void Arena::begin() {
  next_ = missed_ = 0;
  const bool fails = block_ == nullptr && plans_ < kMostPlans && runs_ >= kFirst;
  ++runs_;
  if (!fails) return;
  const std::lock_guard lock(mutex_);
  is_recording_ = true;
  clock_ = 0;
  taken_.clear();
}

void Arena::end() noexcept {
  const std::lock_guard lock(mutex_);
  if (is_recording_) {
    is_recording_ = false;
    ++plans_;
    try {
      lay_out();
    } catch (...) {  // without memory for a plan it goes on as before
      forget();
    }
  } else if (block_ != nullptr && 4 * missed_ > slots_.size()) {
    const bool is_empty = std::all_of(live_.get(), live_.get() + slots_.size() / 64 + 1,
                                      [](const auto& word) { return word.load() == 0; });
    if (is_empty) forget();
  }
}

void* Arena::take(std::size_t bytes, std::uint64_t* slot) {
  const std::size_t number = next_++;
  if (block_ == nullptr) {
    const std::lock_guard lock(mutex_);
    if (!is_recording_ || taken_.size() >= kMost) return nullptr;
    taken_.push_back({bytes, ++clock_, 0});
    *slot = taken_.size();
    references_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  if (number >= slots_.size()) return nullptr;
  const Slot& planned = slots_[number];
  if (planned.bytes != bytes || (planned.is_placed && !is_free(planned))) ++missed_;
  else if (planned.is_placed) {
    live_[number / 64].fetch_or(std::uint64_t{1} << (number % 64), std::memory_order_relaxed);
    references_.fetch_add(1, std::memory_order_relaxed);
    *slot = number + 1;
    open(block_ + planned.offset, bytes);
    return block_ + planned.offset;
  }
  return nullptr;
}

bool Arena::is_free(const Slot& slot) const noexcept {
  for (std::size_t word = 0; word < slot.beside.size(); ++word) {
    if ((live_[word].load(std::memory_order_acquire) & slot.beside[word]) != 0) return false;
  }
  return true;
}

void Arena::give(std::uint64_t slot, bool planned) noexcept {
  const std::size_t number = slot - 1;
  if (planned) {
    shut(block_ + slots_[number].offset, slots_[number].bytes);
    live_[number / 64].fetch_and(~(std::uint64_t{1} << (number % 64)), std::memory_order_release);
  } else {
    const std::lock_guard lock(mutex_);
    if (is_recording_ && number < taken_.size()) taken_[number].end = ++clock_;
  }
  release();
}

// The largest first, each at the lowest place that is free while it is there.
void Arena::lay_out() {
  slots_.assign(taken_.size(), {});
  for (std::size_t k = 0; k < taken_.size(); ++k) slots_[k].bytes = taken_[k].bytes;
  std::vector<std::size_t> order(taken_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return taken_[a].bytes > taken_[b].bytes;
  });
  std::vector<std::size_t> placed;  // by offset
  std::size_t size = 0;
  for (const std::size_t k : order) {
    if (taken_[k].end == 0) continue;
    place(k, &placed);
    size = std::max(size, slots_[k].offset + slots_[k].bytes);
  }
  const std::size_t words = slots_.size() / 64 + 1;
  for (const std::size_t a : placed) {
    slots_[a].beside.assign(words, 0);
    for (const std::size_t b : placed) {
      const bool common = slots_[a].offset < slots_[b].offset + slots_[b].bytes &&
                          slots_[b].offset < slots_[a].offset + slots_[a].bytes;
      if (common) slots_[a].beside[b / 64] |= std::uint64_t{1} << (b % 64);
    }
  }
  if (size == 0) return;
  live_ = std::make_unique<std::atomic<std::uint64_t>[]>(words);
  block_ = static_cast<unsigned char*>(allocate_block(size));
  size_.store(size, std::memory_order_relaxed);
  shut(block_, size);
}

void Arena::place(std::size_t which, std::vector<std::size_t>* placed) {
  const Taken& own = taken_[which];
  std::size_t offset = 0;
  for (const std::size_t other : *placed) {
    const Taken& there = taken_[other];
    if (there.end < own.begin || own.end < there.begin) continue;
    if (offset + own.bytes <= slots_[other].offset) break;
    const std::size_t past = slots_[other].offset + slots_[other].bytes;
    offset = std::max(offset, (past + kBlockUnit - 1) / kBlockUnit * kBlockUnit);
  }
  slots_[which].offset = offset;
  slots_[which].is_placed = true;
  const auto at = std::upper_bound(placed->begin(), placed->end(), offset,
                                   [&](std::size_t o, std::size_t k) { return o < slots_[k].offset; });
  placed->insert(at, which);
}

}  // namespace drystone::host
