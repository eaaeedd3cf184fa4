// Work on threads of its own: see threads/tasks.h.
#include "threads/tasks.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "threads/start.h"

namespace drystone::host {
namespace {

constexpr std::size_t kMostIdle = 8;

std::atomic<int> left{0};

void leave_process_too() {
#ifdef __GLIBC__
  static const int handled = on_exit(
      [](int status, void*) {
        if (left.load() == 0) return;
        std::fflush(nullptr);
        _exit(status);
      },
      nullptr);
  static_cast<void>(handled);
#endif
}

// A thread that takes one task after another.
struct Worker {
  std::mutex mutex;
  std::condition_variable given;
  TaskPtr task;
};

struct Workers {
  std::mutex mutex;
  std::vector<Worker*> idle;
};

// A forked child has none of them.
std::atomic<Workers*>& workers() {
  static std::atomic<Workers*> all{new Workers()};
  static const int handled = pthread_atfork(nullptr, nullptr, [] { all.store(new Workers()); });
  static_cast<void>(handled);
  return all;
}

// Whether the worker waits for another task.
bool becomes_idle(Worker& worker) noexcept {
  Workers& all = *workers().load();
  try {
    const std::lock_guard lock(all.mutex);
    if (all.idle.size() >= kMostIdle) return false;
    all.idle.push_back(&worker);
    return true;
  } catch (...) {
    return false;
  }
}

void serve(void* given) noexcept {
  const std::unique_ptr<Worker> own(static_cast<Worker*>(given));
  do {
    std::unique_lock lock(own->mutex);
    own->given.wait(lock, [&] { return own->task != nullptr; });
    TaskPtr task = std::exchange(own->task, nullptr);
    lock.unlock();
    task->go();
    task.reset();
  } while (becomes_idle(*own));
}

}  // namespace

bool start_task(const TaskPtr& task) {
  Workers& all = *workers().load();
  Worker* worker = nullptr;
  {
    const std::lock_guard lock(all.mutex);
    if (!all.idle.empty()) {
      worker = all.idle.back();
      all.idle.pop_back();
    }
  }
  if (worker == nullptr) {
    auto made = std::make_unique<Worker>();
    made->task = task;
    if (!start_thread(serve, made.get())) return false;
    static_cast<void>(made.release());  // the thread's
    return true;
  }
  const std::lock_guard lock(worker->mutex);
  worker->task = task;
  worker->given.notify_one();
  return true;
}

void note_abandoned() noexcept {
  left.fetch_add(1);
  leave_process_too();
}

void note_returned() noexcept { left.fetch_sub(1); }

}  // namespace drystone::host
