// The thread that counts: see executor/ticker.h.
#include "executor/ticker.h"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "threads/start.h"

namespace drystone::host::executor {
namespace {

constexpr std::chrono::milliseconds kTick{50};
constexpr int kPatience = 20;  // ticks without a reader before it sleeps

struct State {
  std::atomic<std::uint32_t> ticks{0};
  std::atomic<bool> is_wanted{false};  // since the last tick
  std::atomic<bool> is_asleep{true};
  std::mutex mutex;
  std::condition_variable wanted;
  bool has_started = false;
};

State* state = nullptr;

[[noreturn]] void count(State& mine) {
  std::unique_lock lock(mine.mutex);
  while (true) {
    mine.wanted.wait(lock, [&] { return mine.is_wanted.load(); });
    mine.is_asleep.store(false);
    lock.unlock();
    for (int idle = 0; idle < kPatience; ++idle) {
      std::this_thread::sleep_for(kTick);
      mine.ticks.fetch_add(1, std::memory_order_relaxed);
      if (mine.is_wanted.exchange(false)) idle = 0;
    }
    lock.lock();
    mine.is_asleep.store(true);  // a thread that wants it from here on sees that, or is seen above
  }
}

// Whether the thread is there, and awake.
bool wake(State& mine) {
  const std::lock_guard lock(mine.mutex);
  if (!mine.has_started) {
    mine.has_started = start_thread([](void* state) noexcept { count(*static_cast<State*>(state)); }, &mine);
  }
  mine.wanted.notify_one();
  return mine.has_started;
}

State& the_state() {
  static const bool made = [] {
    state = new State();  // never destroyed: its thread runs until the very end
    // A child process has no such thread and starts over.
    pthread_atfork(nullptr, nullptr, [] { state = new State(); });
    return true;
  }();
  static_cast<void>(made);
  return *state;
}

}  // namespace

const std::atomic<std::uint32_t>* ticks() {
  State& mine = the_state();
  if (!mine.is_wanted.load(std::memory_order_relaxed)) mine.is_wanted.store(true);
  if (mine.is_asleep.load() && !wake(mine)) return nullptr;
  return &mine.ticks;
}

}  // namespace drystone::host::executor
