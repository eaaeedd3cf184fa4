// A pool of threads that sleep while there is nothing to do: see drystone/threads.h.
//
// A loop is cut into pieces that its threads take by an atomic counter. The caller works, too, and
// waits at the end only for pieces that others are in the middle of. Workers look at one list of
// loops; what one is handed costs a lock, so work shorter than some ten microseconds is not.
#include "threads/pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace drystone::host {
namespace {

constexpr std::int64_t kWorthSharing = 20'000;  // nanoseconds of work for each thread
constexpr int kMostThreads = 256;

int cores() {
  if (const char* text = std::getenv("DRYSTONE_NUM_THREADS")) {
    const long wanted = std::strtol(text, nullptr, 10);
    if (wanted > 0) return static_cast<int>(std::min<long>(wanted, kMostThreads));
  }
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::clamp(CPU_COUNT(&set), 1, kMostThreads);
  return 1;
}

// One DS_ParallelFor under way; lives on the caller's stack.
struct Loop {
  DS_RangeBody body;
  void* argument;
  std::int64_t count;
  std::int64_t grain;
  std::atomic<std::int64_t> next{0};
  int wanted = 0;   // workers that may still join; this and inside: under the pool's mutex
  int inside = 0;   // workers that have joined and not left
};

thread_local bool is_inside = false;  // a body: loops in it run on this thread
thread_local int limit = 0;           // of ThreadLimit

void work(Loop& loop) {
  const bool before = is_inside;
  is_inside = true;
  while (true) {
    const std::int64_t begin = loop.next.fetch_add(loop.grain, std::memory_order_relaxed);
    if (begin >= loop.count) break;
    loop.body(loop.argument, begin, std::min(begin + loop.grain, loop.count));
  }
  is_inside = before;
}

class Pool {
 public:
  // Never destroyed: workers may run until the very end. A forked child has none and begins anew.
  static Pool& get() {
    static std::atomic<Pool*>& pool = first();
    return *pool.load(std::memory_order_acquire);
  }

  int threads() {
    int now = threads_.load(std::memory_order_relaxed);
    if (now == 0) threads_.store(now = cores(), std::memory_order_relaxed);
    return now;
  }

  void run(Loop& loop, int helpers) {
    {
      const std::lock_guard lock(mutex_);
      loop.wanted = helpers;
      loops_.push_back(&loop);
      while (static_cast<int>(workers_) < helpers) start();
    }
    if (helpers == 1) waiting_.notify_one();
    else waiting_.notify_all();
    work(loop);
    std::unique_lock lock(mutex_);
    const auto own = std::find(loops_.begin(), loops_.end(), &loop);
    if (own != loops_.end()) loops_.erase(own);
    left_.wait(lock, [&] { return loop.inside == 0; });
  }

 private:
  static std::atomic<Pool*>& first() {
    static std::atomic<Pool*> pool{new Pool()};
    pthread_atfork(nullptr, nullptr, [] { pool.store(new Pool()); });
    return pool;
  }

  // Under the mutex.
  void start() {
    std::thread([this] { serve(); }).detach();
    ++workers_;
  }

  [[noreturn]] void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      waiting_.wait(lock, [&] { return !loops_.empty(); });
      Loop& loop = *loops_.front();
      ++loop.inside;
      if (--loop.wanted == 0) loops_.pop_front();
      lock.unlock();
      work(loop);
      lock.lock();
      if (--loop.inside == 0) left_.notify_all();
    }
  }

  std::atomic<int> threads_{0};
  std::mutex mutex_;
  std::condition_variable waiting_;  // for loops
  std::condition_variable left_;     // a loop has no worker inside any more
  std::deque<Loop*> loops_;          // that workers may join
  std::size_t workers_ = 0;
};

void run(std::int64_t count, std::int64_t grain, std::int64_t pieces, DS_RangeBody body, void* argument) {
  const std::int64_t threads = std::min<std::int64_t>(DS_NumThreads(), pieces);
  if (threads <= 1) {
    const bool before = is_inside;
    is_inside = true;
    for (std::int64_t begin = 0; begin < count; begin += grain) {
      body(argument, begin, std::min(begin + grain, count));
    }
    is_inside = before;
    return;
  }
  Loop loop{body, argument, count, grain};
  Pool::get().run(loop, static_cast<int>(threads) - 1);
}

}  // namespace

int free_threads() { return is_inside ? 1 : Pool::get().threads(); }

ThreadLimit::ThreadLimit(int count) noexcept : before_(limit) {
  if (count > 0) limit = count;
}
ThreadLimit::~ThreadLimit() { limit = before_; }

}  // namespace drystone::host

extern "C" {

int DS_NumThreads(void) {
  using namespace drystone::host;
  if (is_inside) return 1;
  const int all = Pool::get().threads();
  return limit > 0 ? std::min(limit, all) : all;
}

void DS_ParallelFor(int64_t count, int64_t cost, DS_RangeBody body, void* argument) {
  using namespace drystone::host;
  if (count <= 0 || body == nullptr) return;
  const std::int64_t each = std::max<std::int64_t>(cost, 1);
  const std::int64_t threads = DS_NumThreads();
  std::int64_t total = 0;
  if (__builtin_mul_overflow(count, each, &total)) total = INT64_MAX;
  const std::int64_t pieces = std::min({total / kWorthSharing, threads * 4, count});
  if (threads == 1 || pieces <= 1) {
    body(argument, 0, count);
    return;
  }
  const std::int64_t grain = (count + pieces - 1) / pieces;
  run(count, grain, (count + grain - 1) / grain, body, argument);
}

void DS_ParallelForGrain(int64_t count, int64_t grain, DS_RangeBody body, void* argument) {
  using namespace drystone::host;
  if (count <= 0 || body == nullptr) return;
  const std::int64_t size = std::clamp<std::int64_t>(grain, 1, count);
  run(count, size, (count - 1) / size + 1, body, argument);
}

}  // extern "C"
