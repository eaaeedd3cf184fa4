// Bounding the end of a process: see library/exit_limit.h.
#include "library/exit_limit.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/plugin_call.h"
#include "drystone_host/core.h"
#include "library/crash_report.h"
#include "library/of_programs.h"
#include "threads/start.h"

namespace drystone::host {
namespace {

constexpr int kSample = SIGURG;      // ignored unless the process handles it
constexpr int kMostSamples = 8;      // in a row in code of a plugin
constexpr timespec kBetween{0, 500'000'000};

pthread_t ending;                    // the thread that called exit()
int exit_status = 0;
std::atomic<const char*> found{nullptr};
std::atomic<const char*> function{nullptr};
std::atomic<bool> is_sampled{false};

// On the thread that ends the process: in whose code it is.
void on_sample(int, siginfo_t*, void* context) {
  const PluginFunction* call = running_call;
  const bool names = call != nullptr && *call->library != '\0';
  function.store(names ? call->name : nullptr, std::memory_order_relaxed);
  found.store(names ? call->library : plugin_around(context), std::memory_order_relaxed);
  is_sampled.store(true, std::memory_order_release);
}

void say(const char* text) noexcept {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
}

// What is still to be written, unless the thread that hangs holds the stream.
void flush(FILE* stream) noexcept {
  if (ftrylockfile(stream) != 0) return;
  fflush_unlocked(stream);
  funlockfile(stream);
}

[[noreturn]] void end_process(const char* library) noexcept {
  flush(stdout);
  const char* const what = function.load(std::memory_order_relaxed);
  say("drystone: ");
  say(what == nullptr ? "code" : what);
  say(" of plugin ");
  say(library);
  say(" has not returned for 4 s while the process ends; it ends without it\n");
  _exit(exit_status);
}

void watch(void*) noexcept {
  const char* last = nullptr;
  for (int in_a_row = 0; in_a_row < kMostSamples;) {
    nanosleep(&kBetween, nullptr);
    is_sampled.store(false, std::memory_order_relaxed);
    if (pthread_kill(ending, kSample) != 0) return;
    nanosleep(&kBetween, nullptr);
    if (!is_sampled.load(std::memory_order_acquire)) continue;
    last = found.load(std::memory_order_relaxed);
    in_a_row = last == nullptr ? 0 : in_a_row + 2;
  }
  end_process(last);
}

void on_end(int status) noexcept {
  static std::atomic_flag begun;
  if (begun.test_and_set()) return;
  exit_status = status;
  ending = pthread_self();
  struct sigaction ours{};
  ours.sa_sigaction = on_sample;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&ours.sa_mask);
  sigaction(kSample, &ours, nullptr);
  sigset_t sample;
  sigemptyset(&sample);
  sigaddset(&sample, kSample);
  pthread_sigmask(SIG_UNBLOCK, &sample, nullptr);
  start_thread(watch, nullptr);
}

}  // namespace

void limit_exit_time() noexcept {
#ifdef __GLIBC__
  ::on_exit([](int status, void*) { on_end(status); }, nullptr);
#else
  std::atexit([] { on_end(0); });
#endif
}

}  // namespace drystone::host

extern "C" void DS_PrepareEnd(void) {
  if (drystone::host::is_refused("DS_PrepareEnd", __builtin_return_address(0))) return;
  if (drystone::host::has_crash_handlers.load()) drystone::host::limit_exit_time();
}
