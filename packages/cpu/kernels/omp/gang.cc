// The gang: see omp/gang.h.
#include "omp/gang.h"

#include <pthread.h>
#include <sched.h>

#include <csignal>
#include <new>

namespace drystone::cpu::omp {
namespace {

struct Start {
  Gang* gang;
  int number;
};

// Threads that are made meanwhile take none of the process's signals; of their own faults handlers tell.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t others;
    sigfillset(&others);
    for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS}) sigdelset(&others, fault);
    pthread_sigmask(SIG_SETMASK, &others, &before_);
  }
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

// Never destroyed: its threads run until the very end. A forked child has none of them and starts over.
std::atomic<Gang*>& Gang::current() {
  static std::atomic<Gang*> gang{new Gang()};
  static const int handled = pthread_atfork(nullptr, nullptr, [] { gang.store(new Gang()); });
  static_cast<void>(handled);
  return gang;
}

bool Gang::exists(int count) noexcept {
  try {
    return current().load()->grow(count);
  } catch (...) {
    return false;
  }
}

bool Gang::grow(int count) noexcept {
  const std::lock_guard lock(mutex_);
  const WithoutSignals blocked;
  while (threads_ + 1 < count) {
    auto* start = new (std::nothrow) Start{this, threads_ + 1};
    if (start == nullptr) return false;
    pthread_t thread{};
    const int failed = pthread_create(
        &thread, nullptr,
        [](void* given) -> void* {
          const Start own = *static_cast<Start*>(given);
          delete static_cast<Start*>(given);
          own.gang->serve(own.number);
          return nullptr;
        },
        start);
    if (failed != 0) {
      delete start;
      return false;
    }
    pthread_detach(thread);
    ++threads_;
  }
  return true;
}

Gang* Gang::begin(int count, Body body, void* argument) {
  Gang* gang = current().load();
  gang->used_.lock();
  if (!gang->grow(count)) {  // a forked child that gets no thread
    gang->used_.unlock();
    return nullptr;
  }
  const std::lock_guard lock(gang->mutex_);
  gang->size_ = count;
  gang->body_ = body;
  gang->argument_ = argument;
  gang->running_ = count - 1;
  gang->arrived_.store(0);
  ++gang->round_;
  gang->changed_.notify_all();
  return gang;
}

void Gang::end() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return running_ == 0; });
  lock.unlock();
  used_.unlock();
}

void Gang::meet() noexcept {
  const unsigned now = meetings_.load();
  if (arrived_.fetch_add(1) + 1 == size_) {
    arrived_.store(0);
    meetings_.fetch_add(1);
    return;
  }
  for (int looks = 0; meetings_.load() == now; ++looks) {
    if (looks > 1000) sched_yield();
  }
}

void Gang::serve(int number) noexcept {
  unsigned seen = 0;
  std::unique_lock lock(mutex_);
  seen = round_ - (number < size_ && running_ > 0 ? 1 : 0);  // of a team that made this thread, or none
  while (true) {
    changed_.wait(lock, [&] { return round_ != seen; });
    seen = round_;
    if (number >= size_) continue;
    const Body body = body_;
    void* const argument = argument_;
    lock.unlock();
    body(argument, number, this);
    lock.lock();
    if (--running_ == 0) changed_.notify_all();
  }
}

}  // namespace drystone::cpu::omp
