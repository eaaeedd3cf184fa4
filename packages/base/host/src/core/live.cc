// Live-object counts: see drystone_host/core.h. Each thread counts for itself, so that counting costs
// no traffic between cores; a thread that ends adds its counts to those of the ones before it.
#include "core/live.h"

#include <cstring>
#include <mutex>

#include "core/forked.h"
#include "drystone_host/core.h"

namespace drystone::host {
namespace {

constexpr auto kKinds = static_cast<std::size_t>(Kind::count);

// All threads' counts, and the sums of threads that are over.
struct All {
  std::mutex mutex;
  LiveCounts past;
  LiveCounts* first = nullptr;
};

All& all() { return whole_in_children<All>(); }

thread_local bool counts_are_over __attribute__((tls_model("initial-exec"))) = false;

// Hands the thread's counts on when it ends.
struct EndOfCounts {
  LiveCounts counts;

  EndOfCounts() {
    const std::lock_guard lock(all().mutex);
    counts.next = all().first;
    if (all().first != nullptr) all().first->before = &counts;
    all().first = &counts;
  }
  ~EndOfCounts() {
    const std::lock_guard lock(all().mutex);
    for (std::size_t k = 0; k < kKinds; ++k) {
      all().past.by_kind[k].fetch_add(counts.by_kind[k].load(std::memory_order_relaxed),
                                      std::memory_order_relaxed);
    }
    if (counts.before != nullptr) counts.before->next = counts.next;
    else all().first = counts.next;
    if (counts.next != nullptr) counts.next->before = counts.before;
    live_counts = nullptr;
    counts_are_over = true;  // what the thread still does counts among the past
  }
  EndOfCounts(const EndOfCounts&) = delete;
  EndOfCounts& operator=(const EndOfCounts&) = delete;
};

}  // namespace

constinit thread_local LiveCounts* live_counts __attribute__((tls_model("initial-exec"))) = nullptr;

void count_first(Kind kind, std::int64_t change) noexcept {
  if (counts_are_over) {
    all().past.by_kind[static_cast<std::size_t>(kind)].fetch_add(change, std::memory_order_relaxed);
    return;
  }
  thread_local EndOfCounts end;
  live_counts = &end.counts;
  count_live(kind, change);
}

std::int64_t alive(Kind kind) noexcept {
  const auto k = static_cast<std::size_t>(kind);
  const std::lock_guard lock(all().mutex);
  std::int64_t sum = all().past.by_kind[k].load(std::memory_order_relaxed);
  for (const LiveCounts* counts = all().first; counts != nullptr; counts = counts->next) {
    sum += counts->by_kind[k].load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace drystone::host

extern "C" void DS_GetLiveObjects(DS_LiveObjects* out) {
  using namespace drystone::host;
  if (out == nullptr) return;
  DS_LiveObjects now{};
  now.struct_size = out->struct_size < DS_LIVE_OBJECTS_STRUCT_SIZE ? out->struct_size
                                                                   : DS_LIVE_OBJECTS_STRUCT_SIZE;
  now.statuses = alive(Kind::status);
  now.buffers = alive(Kind::buffer);
  now.tensors = alive(Kind::tensor);
  now.memory_blocks = alive(Kind::memory);
  now.kernels = alive(Kind::kernel);
  now.items = alive(Kind::item);
  now.handles = alive(Kind::handle);
  now.files = alive(Kind::file);
  std::memcpy(out, &now, now.struct_size);
}
