// A pool of threads for loops: see drystone/threads.h.
//
// A loop is cut into pieces that its threads take by an atomic counter. The caller works, too: it takes
// what no other has begun, and waits at the end only for pieces that others are in the middle of. Nothing
// needs a helper, so a loop goes on without those that come late, that the system does not give, or that
// a busy machine has no core for (threads/governor.h). Who waits looks for a while before it sleeps: the
// next layer of a network is there after some microseconds, and to be woken takes longer
// (docs/explanation/decisions/0054).
#include "threads/pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <utility>

#include "core/kept_thread.h"
#include "library/crash_report.h"
#include "threads/budget.h"
#include "threads/governor.h"
#include "threads/start.h"
#include "threads/stop.h"

namespace drystone::host {

constinit thread_local Stop* Stop::of_thread __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

// Nanoseconds of work for each thread that are worth handing on: to one that sleeps, to one that looks.
constexpr std::int64_t kWorthWaking = 20'000;
constexpr std::int64_t kWorthSharing = 5'000;
constexpr std::int64_t kSpins = 100'000;           // nanoseconds until who waits sleeps
constexpr std::int64_t kWithoutThreads = 1'000'000'000;  // nanoseconds until one is asked for again

std::int64_t clock_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Looks for a while whether it holds.
template <class Condition>
bool looked(Condition&& holds) {
  constexpr int kBetween = 32;
  const std::int64_t end = clock_now() + kSpins;
  do {
    for (int k = 0; k < kBetween; ++k) {
      if (holds()) return true;
      pause();
    }
  } while (clock_now() < end);
  return holds();
}

// One loop under way; lives in its caller's memory.
struct Loop {
  DS_RangeBody body;
  void* argument;
  std::int64_t count;
  std::int64_t grain;
  Stop* stop;
  std::atomic<std::int64_t> next;
  int asked = 0;                // helpers
  int wanted = 0;               // of them, that may still join: under the pool's mutex
  std::int64_t own;             // of count, what its caller has worked on
  std::int64_t start = 0;
  bool was_inside = false;      // of its caller
  std::atomic<int> inside{0};   // helpers that have joined and not left

  Loop(DS_RangeBody body_, void* argument_, std::int64_t count_, std::int64_t grain_, std::int64_t first)
      : body(body_), argument(argument_), count(count_), grain(grain_), stop(Stop::current()), next(first), own(first) {}
};
static_assert(sizeof(Loop) <= sizeof(DS_ParallelStorage) && alignof(Loop) <= alignof(DS_ParallelStorage));

thread_local bool is_inside = false;  // a body: loops in it run on this thread
thread_local int limit = 0;           // of ThreadLimit

// How much of the loop this thread has worked on.
std::int64_t work(Loop& loop) {
  const bool before = std::exchange(is_inside, true);
  std::int64_t done = 0;
  while (true) {
    const std::int64_t begin = loop.next.fetch_add(loop.grain, std::memory_order_relaxed);
    if (begin >= loop.count) break;
    const std::int64_t end = std::min(begin + loop.grain, loop.count);
    loop.body(loop.argument, begin, end);
    done += end - begin;
  }
  is_inside = before;
  return done;
}

class Pool {
 public:
  // Never destroyed: workers may run until the very end. A forked child has none and starts over.
  static Pool& get() {
    static std::atomic<Pool*>& pool = first();
    return *pool.load(std::memory_order_acquire);
  }

  int threads() {
    int now = threads_.load(std::memory_order_relaxed);
    if (now == 0) threads_.store(now = default_threads(), std::memory_order_relaxed);
    return now;
  }

  // What work for each thread is worth handing on.
  std::int64_t worth() const {
    return looking_.load(std::memory_order_relaxed) > 0 ? kWorthSharing : kWorthWaking;
  }

  // Offers the loop to helpers, fewer where there are not so many.
  void offer(Loop& loop, int helpers) {
    loop.start = clock_now();
    helpers = governor_.helpers(helpers, loop.start);
    if (helpers <= 0) return;
    int asleep = 0;
    {
      const std::lock_guard lock(mutex_);
      while (workers_ < helpers && start(loop.start)) {
      }
      helpers = std::min(helpers, workers_);
      if (helpers == 0 || !list(&loop)) return;
      loop.asked = loop.wanted = helpers;
      asleep = std::min(asleep_, helpers - looking_.load(std::memory_order_relaxed));
    }
    if (asleep == 1) waiting_.notify_one();
    else if (asleep > 1) waiting_.notify_all();
  }

  // No thread joins any more, and those that joined are done. Of what the caller has worked on.
  void close(Loop& loop) {
    if (loop.asked == 0) return;
    {
      const std::lock_guard lock(mutex_);
      const auto own = std::find(loops_.begin(), loops_.end(), &loop);
      if (own != loops_.end()) loops_.erase(own);
      open_.store(static_cast<int>(loops_.size()), std::memory_order_relaxed);
    }
    const std::int64_t done = clock_now();
    const auto is_left = [&] { return loop.inside.load() == 0; };
    std::int64_t end = done;
    if (!is_left()) {
      if (!looked(is_left)) sleep_until(is_left);
      end = clock_now();
    }
    const double share = static_cast<double>(loop.own) / static_cast<double>(loop.count);
    governor_.saw(loop.asked, done - loop.start, end - done, share, end);
  }

 private:
  static std::atomic<Pool*>& first() {
    static std::atomic<Pool*> pool{new Pool()};
    pthread_atfork(nullptr, nullptr, [] { pool.store(new Pool()); });
    return pool;
  }

  // False without memory. Under the mutex.
  bool list(Loop* loop) noexcept {
    try {
      loops_.push_back(loop);
    } catch (const std::bad_alloc&) {
      return false;
    }
    open_.store(static_cast<int>(loops_.size()), std::memory_order_release);
    return true;
  }

  // One more worker; false where there is none to be had. Under the mutex.
  bool start(std::int64_t now) noexcept {
    if (now < no_thread_until_) return false;
    if (!start_thread([](void* pool) noexcept { static_cast<Pool*>(pool)->serve(); }, this)) {
      no_thread_until_ = now + kWithoutThreads;
      return false;
    }
    ++workers_;
    return true;
  }

  template <class Condition>
  void sleep_until(const Condition& is_left) {
    std::unique_lock lock(mutex_);
    callers_asleep_.fetch_add(1);
    left_.wait(lock, is_left);
    callers_asleep_.fetch_sub(1);
  }

  [[noreturn]] void serve() noexcept {
    while (true) {
      Loop& loop = join();
      {
        const Stop::Scope scope(loop.stop);
        prepare_thread();
        const KeptThread thread;  // whatever a plugin's body sets; its caller's run looks at its own
        work(loop);
      }
      if (loop.inside.fetch_sub(1) != 1 || callers_asleep_.load() == 0) continue;  // the loop may be gone now
      const std::lock_guard lock(mutex_);
      left_.notify_all();
    }
  }

  // The next loop that wants a helper.
  Loop& join() {
    const auto is_open = [&] { return open_.load(std::memory_order_acquire) > 0; };
    while (true) {
      looking_.fetch_add(1, std::memory_order_relaxed);
      const bool is_there = looked(is_open);
      looking_.fetch_sub(1, std::memory_order_relaxed);
      std::unique_lock lock(mutex_);
      if (is_there && loops_.empty()) continue;  // another one was quicker
      ++asleep_;
      waiting_.wait(lock, [&] { return !loops_.empty(); });
      --asleep_;
      Loop& loop = *loops_.front();
      loop.inside.fetch_add(1);
      if (--loop.wanted == 0) {
        loops_.pop_front();
        open_.store(static_cast<int>(loops_.size()), std::memory_order_relaxed);
      }
      return loop;
    }
  }

  Governor governor_;
  std::atomic<int> threads_{0};
  std::atomic<int> open_{0};             // loops in the list
  std::atomic<int> looking_{0};          // workers that would see one at once
  std::atomic<int> callers_asleep_{0};
  std::mutex mutex_;
  std::condition_variable waiting_;      // for loops
  std::condition_variable left_;         // a loop has no worker inside any more
  std::deque<Loop*> loops_;              // that workers may join
  int workers_ = 0;
  int asleep_ = 0;                       // workers
  std::int64_t no_thread_until_ = 0;
};

void run(std::int64_t count, std::int64_t grain, std::int64_t pieces, DS_RangeBody body, void* argument) {
  const std::int64_t threads = std::min<std::int64_t>(DS_NumThreads(), pieces);
  Loop loop(body, argument, count, grain, 0);
  if (threads > 1) Pool::get().offer(loop, static_cast<int>(threads) - 1);
  loop.own += work(loop);
  Pool::get().close(loop);
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
  const std::int64_t pieces =
      threads == 1 ? 1 : std::min({total / Pool::get().worth(), threads * 4, count});
  if (pieces <= 1) {
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

void DS_BeginParallel(DS_ParallelStorage* storage, int64_t count, DS_RangeBody body, void* argument) {
  using namespace drystone::host;
  auto* loop = new (storage) Loop(body, argument, count, 1, 1);
  const std::int64_t threads = std::min<std::int64_t>(DS_NumThreads(), count);
  loop->was_inside = std::exchange(is_inside, true);
  if (threads > 1) Pool::get().offer(*loop, static_cast<int>(threads) - 1);
}

void DS_EndParallel(DS_ParallelStorage* storage) {
  using namespace drystone::host;
  auto* loop = std::launder(reinterpret_cast<Loop*>(storage));
  loop->own += work(*loop);
  Pool::get().close(*loop);
  is_inside = loop->was_inside;
  loop->~Loop();
}

int DS_ShouldStop(void) {
  drystone::host::Stop* stop = drystone::host::Stop::current();
  return stop != nullptr && stop->look() ? 1 : 0;
}

}  // extern "C"
