// Threads: see threads/start.h.
#include "threads/start.h"

#include <pthread.h>

#include <csignal>
#include <memory>
#include <new>

namespace drystone::host {
namespace {

struct Work {
  void (*work)(void*) noexcept;
  void* argument;
};

void* go(void* given) {
  const std::unique_ptr<Work> own(static_cast<Work*>(given));
  own->work(own->argument);
  return nullptr;
}

}  // namespace

bool start_thread(void (*work)(void*) noexcept, void* argument) noexcept {
  std::unique_ptr<Work> own(new (std::nothrow) Work{work, argument});
  if (own == nullptr) return false;
  // Signals sent to the process are for its own threads; what this one does wrong is for handlers to
  // tell, and blocked it would end the process without a word.
  sigset_t others;
  sigset_t before;
  sigfillset(&others);
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS}) {
    sigdelset(&others, fault);
  }
  pthread_sigmask(SIG_SETMASK, &others, &before);
  pthread_t thread{};
  const bool started = pthread_create(&thread, nullptr, go, own.get()) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started) return false;
  static_cast<void>(own.release());  // the thread's
  pthread_detach(thread);
  return true;
}

}  // namespace drystone::host
