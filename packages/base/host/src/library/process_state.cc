// State that the kernel keeps of a process: see library/process_state.h.
#include "library/process_state.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

namespace drystone::host {
namespace {

std::string signal_name(int number) {
  const char* name = strsignal(number);
  return "signal " + std::to_string(number) + (name == nullptr ? "" : std::string(" (") + name + ")");
}

bool is_same(const struct sigaction& one, const struct sigaction& other) {
  const bool informed = (one.sa_flags & SA_SIGINFO) != 0;
  if (one.sa_flags != other.sa_flags) return false;
  return informed ? one.sa_sigaction == other.sa_sigaction : one.sa_handler == other.sa_handler;
}

bool is_set(const struct itimerval& timer) {
  return timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0;
}

constexpr const char* kLimitNames[] = {
    "processor time", "file size",     "data size",  "stack size", "core size",
    "resident size",  "processes",     "open files", "locked memory", "address space",
    "locks",          "queued signals", "message queues", "niceness", "real-time priority",
    "real-time seconds"};

}  // namespace

void told(Changes& changes, bool is_back, std::string what) {
  (is_back ? changes.put_back : changes.lasting).push_back(std::move(what));
}

Signals::Signals() {
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  for (int k = 1; k < NSIG; ++k) {
    const auto at = static_cast<std::size_t>(k);
    known[at] = k != SIGKILL && k != SIGSTOP && sigaction(k, nullptr, &actions[at]) == 0;
  }
}

void Signals::put_back(Changes& changes) const {
  for (int k = 1; k < NSIG; ++k) {
    const auto at = static_cast<std::size_t>(k);
    struct sigaction now{};
    if (!known[at] || sigaction(k, nullptr, &now) != 0 || is_same(now, actions[at])) continue;
    told(changes, sigaction(k, &actions[at], nullptr) == 0, "the handler of " + signal_name(k));
  }
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  for (int k = 1; k < NSIG; ++k) {
    if (sigismember(&now, k) == sigismember(&blocked, k)) continue;
    told(changes, pthread_sigmask(SIG_SETMASK, &blocked, nullptr) == 0, "which signals are blocked");
    return;
  }
}

ResourceLimits::ResourceLimits() {
  for (std::size_t k = 0; k < limits.size(); ++k) {
    getrlimit(static_cast<decltype(RLIMIT_CPU)>(k), &limits[k]);
  }
}

void ResourceLimits::put_back(Changes& changes) const {
  for (std::size_t k = 0; k < limits.size(); ++k) {
    const auto which = static_cast<decltype(RLIMIT_CPU)>(k);
    struct rlimit now;
    if (getrlimit(which, &now) != 0) continue;
    if (now.rlim_cur == limits[k].rlim_cur && now.rlim_max == limits[k].rlim_max) continue;
    const bool done = setrlimit(which, &limits[k]) == 0;
    const std::string name = k < std::size(kLimitNames) ? kLimitNames[k] : std::to_string(k);
    told(changes, done, "the limit of " + name);
  }
}

namespace {

constexpr std::array<int, 2> kEnding = {SIGINT, SIGTERM};

}  // namespace

Control::Control() : is_main(syscall(SYS_gettid) == getpid()) {
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  if (!is_main) return;
  for (std::size_t k = 0; k < kEnding.size(); ++k) sigaction(kEnding[k], nullptr, &actions[k]);
  getitimer(ITIMER_REAL, &timer);
}

void Control::put_back(Changes& changes) const {
  const Control now;
  const auto is_blocked = [](const sigset_t& set, int number) { return sigismember(&set, number); };
  for (const int number : kEnding) {
    if (is_blocked(now.blocked, number) == is_blocked(blocked, number)) continue;
    told(changes, pthread_sigmask(SIG_SETMASK, &blocked, nullptr) == 0, "which signals are blocked");
    break;
  }
  if (!is_main) return;
  for (std::size_t k = 0; k < kEnding.size(); ++k) {
    if (is_same(now.actions[k], actions[k])) continue;
    told(changes, sigaction(kEnding[k], &actions[k], nullptr) == 0, "the handler of " + signal_name(kEnding[k]));
  }
  if (is_set(now.timer) && !is_set(timer)) {
    told(changes, setitimer(ITIMER_REAL, &timer, nullptr) == 0, "a timer that sends signals");
  }
}

Timers::Timers() {
  for (int k = 0; k < 3; ++k) {
    getitimer(static_cast<decltype(ITIMER_REAL)>(k), &timers[static_cast<std::size_t>(k)]);
  }
}

// One that was running has less left now; so only which there are is compared.
void Timers::put_back(Changes& changes) const {
  for (int k = 0; k < 3; ++k) {
    const auto which = static_cast<decltype(ITIMER_REAL)>(k);
    const struct itimerval& before = timers[static_cast<std::size_t>(k)];
    struct itimerval now{};
    if (getitimer(which, &now) != 0 || is_set(now) == is_set(before)) continue;
    told(changes, setitimer(which, &before, nullptr) == 0, "a timer that sends signals");
  }
}

Scheduling::Scheduling()
    : has_processors(sched_getaffinity(0, sizeof processors, &processors) == 0),
      niceness(getpriority(PRIO_PROCESS, 0)) {
  prctl(PR_GET_NAME, name.data());
}

void Scheduling::put_back(Changes& changes) const {
  cpu_set_t now;
  if (has_processors && sched_getaffinity(0, sizeof now, &now) == 0 &&
      CPU_EQUAL(&now, &processors) == 0) {
    told(changes, sched_setaffinity(0, sizeof processors, &processors) == 0,
         "the processors that the thread may use");
  }
  if (getpriority(PRIO_PROCESS, 0) != niceness) {
    told(changes, setpriority(PRIO_PROCESS, 0, niceness) == 0, "the thread's niceness");
  }
  std::array<char, 16> named{};
  prctl(PR_GET_NAME, named.data());
  if (std::strncmp(named.data(), name.data(), name.size()) != 0) {
    told(changes, prctl(PR_SET_NAME, name.data()) == 0, "the thread's name");
  }
}

namespace {

std::array<Identity::Fact, 10> identity_now() {
  uid_t users[3] = {};
  gid_t groups[3] = {};
  getresuid(&users[0], &users[1], &users[2]);
  getresgid(&groups[0], &groups[1], &groups[2]);
  int death = 0;
  prctl(PR_GET_PDEATHSIG, &death);
  return {{{"the user", users[0]},
           {"the effective user", users[1]},
           {"the saved user", users[2]},
           {"the group", groups[0]},
           {"the effective group", groups[1]},
           {"the session", getsid(0)},
           {"the process group", getpgrp()},
           {"whether it may gain privileges", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)},
           {"its filter of system calls", prctl(PR_GET_SECCOMP, 0, 0, 0, 0)},
           {"the signal of its parent's end", death}}};
}

}  // namespace

Identity::Identity() : facts(identity_now()) {}

void Identity::put_back(Changes& changes) const {
  const auto now = identity_now();
  for (std::size_t k = 0; k < facts.size(); ++k) {
    if (now[k].value != facts[k].value) told(changes, false, std::string(facts[k].name));
  }
}

}  // namespace drystone::host
