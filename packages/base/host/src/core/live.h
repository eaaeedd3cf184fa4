// Counts of objects that the host has given out and not got back: how leaks are seen.
#ifndef DRYSTONE_HOST_CORE_LIVE_H_
#define DRYSTONE_HOST_CORE_LIVE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace drystone::host {

enum class Kind { status, buffer, tensor, memory, kernel, item, handle, file, count };

// A thread's changes of the counts; only that thread writes them.
struct LiveCounts {
  std::array<std::atomic<std::int64_t>, static_cast<std::size_t>(Kind::count)> by_kind{};
  LiveCounts* next = nullptr;
  LiveCounts* before = nullptr;
};

// One pointer, so that it fits where access is one instruction even though the library is opened
// late. NULL before the thread's first object, and when the thread is about to end.
extern constinit thread_local LiveCounts* live_counts __attribute__((tls_model("initial-exec")));
void count_first(Kind kind, std::int64_t change) noexcept;

inline void count_live(Kind kind, std::int64_t change) noexcept {
  LiveCounts* counts = live_counts;
  if (counts == nullptr) return count_first(kind, change);
  auto& count = counts->by_kind[static_cast<std::size_t>(kind)];
  count.store(count.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
}
inline void born(Kind kind) noexcept { count_live(kind, 1); }
inline void died(Kind kind) noexcept { count_live(kind, -1); }
std::int64_t alive(Kind kind) noexcept;

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_LIVE_H_
