// How many of the pool's threads help, on a machine that others use, too.
#ifndef DRYSTONE_HOST_THREADS_GOVERNOR_H_
#define DRYSTONE_HOST_THREADS_GOVERNOR_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

namespace drystone::host {

// A helper that the system has taken off its core in the middle of a piece is waited for until it is put
// back, which takes some milliseconds: longer than many a loop takes on one thread. A thread that has waited
// for longer than it would have worked alone asks fewer helpers for a while, and for a longer one where that
// happens again. All times are in nanoseconds. Any thread; what several say at once may get lost.
class Governor {
 public:
  // How many of `most` helpers a loop may ask.
  int helpers(int most, std::int64_t now) noexcept {
    if (allowed_.load(std::memory_order_relaxed) == kAll) return most;
    return restricted(most, now);
  }
  bool is_restricted() const noexcept { return allowed_.load(std::memory_order_relaxed) != kAll; }

  // What became of a loop that had asked `asked` helpers: how long its caller worked, and then waited.
  // `share`: the caller's part of the loop, of 1; less than that where helpers came. The loop would
  // have taken its caller alone own / share.
  void saw(int asked, std::int64_t own, std::int64_t waited, double share, std::int64_t now) noexcept {
    const auto spared = static_cast<std::int64_t>(static_cast<double>(own) * (1 / std::max(share, kLeast) - 1));
    if (waited > spared + spared / 20 + kNoise) return hold(asked, waited - spared, now);
    if (share < 1) {
      good_.fetch_add(1, std::memory_order_relaxed);
      absent_.store(0, std::memory_order_relaxed);
    } else if (own > kWakeUp && absent_.fetch_add(1, std::memory_order_relaxed) + 1 >= kMostAbsent) {
      absent_.store(0, std::memory_order_relaxed);
      hold(asked, 0, now);
    }
  }

 private:
  static constexpr int kAll = std::numeric_limits<int>::max();
  static constexpr std::int64_t kNoise = 100'000;
  static constexpr double kLeast = 1e-3;                  // of a share
  static constexpr std::int64_t kWakeUp = 100'000;        // a helper that sleeps is there after that
  static constexpr int kMostAbsent = 8;                   // loops in a row to which none came
  static constexpr std::int64_t kShortest = 5'000'000;
  static constexpr std::int64_t kLongest = 1'000'000'000;
  static constexpr std::int64_t kRepays = 20;             // times as long as was lost
  static constexpr int kGood = 256;                       // loops that helpers are worth one that waits for them

  void hold(int asked, std::int64_t lost, std::int64_t now) noexcept {
    const int fewer = asked - std::max(asked / 4, 1);
    const std::int64_t until = until_.load(std::memory_order_relaxed);
    allowed_.store(std::min(fewer, allowed_.load(std::memory_order_relaxed)), std::memory_order_relaxed);
    if (now < until) return;
    const bool again = good_.exchange(0, std::memory_order_relaxed) < kGood && until != 0;
    const std::int64_t before = length_.load(std::memory_order_relaxed);
    const std::int64_t length = std::max(again ? std::min(before * 4, kLongest) : kShortest, kRepays * lost);
    length_.store(std::min(length, kLongest), std::memory_order_relaxed);
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
