// How many of the pool's threads help, on a machine that others use, too.
#ifndef DRYSTONE_HOST_THREADS_GOVERNOR_H_
#define DRYSTONE_HOST_THREADS_GOVERNOR_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

namespace drystone::host {

// A helper that the system has taken off its core in the middle of a piece is waited for until it is put
// back, which takes some milliseconds: longer than many a loop takes on one thread. A thread that has waited so
// asks fewer helpers for a while, and for a longer one where that happens again. All times are in
// nanoseconds. Any thread; what several say at once may get lost.
class Governor {
 public:
  // How many of `most` helpers a loop may ask.
  int helpers(int most, std::int64_t now) noexcept {
    if (allowed_.load(std::memory_order_relaxed) == kAll) return most;
    return restricted(most, now);
  }
  bool is_restricted() const noexcept { return allowed_.load(std::memory_order_relaxed) != kAll; }

  // What became of a loop that had asked `asked` helpers: its caller's own work, and how long it then waited.
  // `joined`: whether any helper came.
  void saw(int asked, std::int64_t own, std::int64_t waited, bool joined, std::int64_t now) noexcept {
    if (waited > own + own / 5 + kNoise) return hold(asked, now);
    if (joined) {
      good_.fetch_add(1, std::memory_order_relaxed);
      absent_.store(0, std::memory_order_relaxed);
    } else if (own > kWakeUp && absent_.fetch_add(1, std::memory_order_relaxed) + 1 >= kMostAbsent) {
      absent_.store(0, std::memory_order_relaxed);
      hold(asked, now);
    }
  }

 private:
  static constexpr int kAll = std::numeric_limits<int>::max();
  static constexpr std::int64_t kNoise = 100'000;
  static constexpr std::int64_t kWakeUp = 100'000;        // a helper that sleeps is there after that
  static constexpr int kMostAbsent = 8;                   // loops in a row to which none came
  static constexpr std::int64_t kShortest = 5'000'000;
  static constexpr std::int64_t kLongest = 1'000'000'000;
  static constexpr int kGood = 256;                       // loops that helpers are worth one that waits for them

  void hold(int asked, std::int64_t now) noexcept {
    const int fewer = asked - std::max(asked / 4, 1);
    const std::int64_t until = until_.load(std::memory_order_relaxed);
    allowed_.store(std::min(fewer, allowed_.load(std::memory_order_relaxed)), std::memory_order_relaxed);
    if (now < until) return;
    const bool again = good_.exchange(0, std::memory_order_relaxed) < kGood && until != 0;
    const std::int64_t before = length_.load(std::memory_order_relaxed);
    const std::int64_t length = again ? std::min(before * 4, kLongest) : kShortest;
    length_.store(length, std::memory_order_relaxed);
    until_.store(now + length, std::memory_order_relaxed);
  }

  int restricted(int most, std::int64_t now) noexcept {
    int allowed = allowed_.load(std::memory_order_relaxed);
    std::int64_t until = until_.load(std::memory_order_relaxed);
    if (now < until) return std::min(allowed, most);
    // One more, which stays if no caller waits for it until the next.
    if (until_.compare_exchange_strong(until, now, std::memory_order_relaxed)) {
      allowed = std::min(allowed, most) + std::max(most / 8, 1);
      until_.store(allowed >= most ? now : now + kShortest, std::memory_order_relaxed);
      allowed_.store(allowed >= most ? kAll : allowed, std::memory_order_relaxed);
    }
    return std::min(allowed, most);
  }

  std::atomic<int> allowed_{kAll};
  std::atomic<int> absent_{0};
  std::atomic<int> good_{0};  // loops with helpers since the last trouble
  std::atomic<std::int64_t> until_{0};
  std::atomic<std::int64_t> length_{kShortest};
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_THREADS_GOVERNOR_H_
