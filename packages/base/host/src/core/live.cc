// Live-object counts: see drystone_host/core.h. Each thread counts for itself, so that counting costs
// no traffic between cores; a thread that ends adds its counts to those of the ones before it.
#include "core/live.h"

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>

#include "drystone_host/core.h"

namespace drystone::host {
namespace {

constexpr auto kKinds = static_cast<std::size_t>(Kind::count);

struct Counts {
  std::array<std::atomic<std::int64_t>, kKinds> by_kind{};
  Counts* next = nullptr;
  Counts* before = nullptr;
};

// All threads' counts, and the sums of threads that are over. Never destroyed.
struct All {
  std::mutex mutex;
  Counts past;
  Counts* first = nullptr;
};

All& all() {
  static All* const counts = new All();
  return *counts;
}

// A thread's counts. One pointer, so that it fits where access is one instruction even though the
// library is opened late.
thread_local Counts* mine __attribute__((tls_model("initial-exec"))) = nullptr;

// Hands the thread's counts on when it ends.
struct End {
  Counts counts;

  End() {
    const std::lock_guard lock(all().mutex);
    counts.next = all().first;
    if (all().first != nullptr) all().first->before = &counts;
    all().first = &counts;
  }
  ~End() {
    const std::lock_guard lock(all().mutex);
    for (std::size_t k = 0; k < kKinds; ++k) {
      all().past.by_kind[k].fetch_add(counts.by_kind[k].load(std::memory_order_relaxed),
                                      std::memory_order_relaxed);
    }
    if (counts.before != nullptr) counts.before->next = counts.next;
    else all().first = counts.next;
    if (counts.next != nullptr) counts.next->before = counts.before;
    mine = &all().past;  // what the thread still does counts there
  }
  End(const End&) = delete;
  End& operator=(const End&) = delete;
};

Counts* open_counts() noexcept {
  thread_local End end;
  return mine = &end.counts;
}

void add(Kind kind, std::int64_t change) noexcept {
  Counts* counts = mine != nullptr ? mine : open_counts();
  auto& count = counts->by_kind[static_cast<std::size_t>(kind)];
  if (counts == &all().past) {
    count.fetch_add(change, std::memory_order_relaxed);
  } else {  // only this thread writes it
    count.store(count.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
  }
}

}  // namespace

void born(Kind kind) noexcept { add(kind, 1); }
void died(Kind kind) noexcept { add(kind, -1); }

std::int64_t alive(Kind kind) noexcept {
  const auto k = static_cast<std::size_t>(kind);
  const std::lock_guard lock(all().mutex);
  std::int64_t sum = all().past.by_kind[k].load(std::memory_order_relaxed);
  for (const Counts* counts = all().first; counts != nullptr; counts = counts->next) {
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
