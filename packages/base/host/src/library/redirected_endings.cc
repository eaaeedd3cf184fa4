// Calls of plugins that end the process, or stop it: see library/redirect.h.
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "core/plugin_call.h"
#include "library/crash_report.h"
#include "library/redirect.h"

namespace drystone::host {
namespace {

constexpr const char* kReplaced = "the process is given to another program by exec";

[[noreturn]] void ended_by_exit(int status) {
  say_ended("the process was ended by exit()", __builtin_return_address(0));
  std::exit(status);
}

[[noreturn]] void ended_by_quick_exit(int status) {
  say_ended("the process was ended by quick_exit()", __builtin_return_address(0));
  std::quick_exit(status);
}

[[noreturn]] void ended_at_once(int status) {
  say_ended("the process was ended by _exit()", __builtin_return_address(0));
  ::_exit(status);
}

// Whether a signal ends the process, and no handler says so.
bool ends_by(int number) noexcept {
  struct sigaction now{};
  switch (number) {
    case SIGKILL: return true;
    case 0: case SIGCHLD: case SIGURG: case SIGWINCH: case SIGCONT: case SIGSTOP: case SIGTSTP: case SIGTTIN:
    case SIGTTOU: return false;
    default: return sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_DFL;
  }
}

constexpr const char* kGoesOn = "whether the process goes on";

// Whether it may be sent. A process that is stopped says nothing any more.
bool may_signal(int number, const void* caller) {
  char text[64];
  if (number == SIGSTOP) return may_change_for_good(kGoesOn, caller);
  if (!ends_by(number)) return true;
  std::snprintf(text, sizeof text, "the process was sent signal %d by itself", number);
  say_ended(text, caller);
  return true;
}

bool is_own(pid_t process) noexcept { return process == getpid() || process == 0 || -process == getpgrp(); }

// To all processes of the machine, or to who has started this one.
bool may_signal_others(pid_t process, const void* caller) {
  return (process != -1 && process != getppid()) || may_change_for_good("whether other programs go on", caller);
}

bool may_signal_to(pid_t process, int number, const void* caller) {
  return may_signal_others(process, caller) && (!is_own(process) || may_signal(number, caller));
}

int signalled(pid_t process, int number) {
  return may_signal_to(process, number, __builtin_return_address(0)) ? ::kill(process, number) : -1;
}

int signalled_group(pid_t group, int number) {
  if ((group == 0 || group == getpgrp()) && !may_signal(number, __builtin_return_address(0))) return -1;
  return ::killpg(group, number);
}

// Of this thread, which may take no signals: threads of runs do not.
bool is_blocked(int number) noexcept {
  sigset_t blocked;
  return number != SIGKILL && pthread_sigmask(SIG_SETMASK, nullptr, &blocked) == 0 && sigismember(&blocked, number) == 1;
}

int raised(int number) {
  if (!is_blocked(number) && !may_signal(number, __builtin_return_address(0))) return -1;
  return ::raise(number);
}

int signalled_thread(pthread_t thread, int number) {
  const bool waits = pthread_equal(thread, pthread_self()) != 0 && is_blocked(number);
  if (!waits && !may_signal(number, __builtin_return_address(0))) return EPERM;
  return ::pthread_kill(thread, number);
}

int signalled_thread_with(pthread_t thread, int number, union sigval value) {
  const bool waits = pthread_equal(thread, pthread_self()) != 0 && is_blocked(number);
  if (!waits && !may_signal(number, __builtin_return_address(0))) return EPERM;
  return ::pthread_sigqueue(thread, number, value);
}

int signalled_with(pid_t process, int number, union sigval value) {
  return may_signal_to(process, number, __builtin_return_address(0)) ? ::sigqueue(process, number, value) : -1;
}

int signalled_of(pid_t process, pid_t thread, int number) {
  if (process == getpid() && !may_signal(number, __builtin_return_address(0))) return -1;
  return ::tgkill(process, thread, number);
}

// One of the host's, which would be waited for without end: as pthread_exit() there, this ends the process.
[[noreturn]] void end_thread(const void* caller) noexcept {
  say_ended("a thread of the host was ended by a system call", caller);
  std::abort();
}

// A copy of the process that no handler of the C library's was told of.
pid_t copied_to(pid_t child) noexcept {
  if (child == 0) note_copy();
  return child;
}

bool copies(long number, long flags) noexcept {
#ifdef SYS_fork
  if (number == SYS_fork) return true;
#endif
  return number == SYS_clone && (flags & (CLONE_VM | CLONE_THREAD)) == 0;
}

// It has six arguments at most, whichever of them are meant.
long system_call(long number, long a, long b, long c, long d, long e, long f) {
  const void* const caller = __builtin_return_address(0);
  if (number == SYS_exit_group) say_ended("the process was ended by a system call", caller);
  if (number == SYS_execve || number == SYS_execveat) say_ended(kReplaced, caller);
  if (number == SYS_exit && running_call != nullptr) end_thread(caller);
  if (number == SYS_kill && !may_signal_to(static_cast<pid_t>(a), static_cast<int>(b), caller)) return -1;
  if (number == SYS_tkill && !may_signal(static_cast<int>(b), caller)) return -1;
  if (number == SYS_tgkill && static_cast<pid_t>(a) == getpid() && !may_signal(static_cast<int>(c), caller)) return -1;
  if (!may_call({number, {a, b, c, d, e, f}}, caller)) return -1;
  const long answer = ::syscall(number, a, b, c, d, e, f);
  return copies(number, a) ? copied_to(static_cast<pid_t>(answer)) : answer;
}

// It came with glibc 2.34.
pid_t copied_without_handlers() {
  static auto* const real = reinterpret_cast<pid_t (*)()>(dlsym(RTLD_NEXT, "_Fork"));
  return copied_to(real());
}

int executed(const char* path, char* const* arguments, char* const* environment) {
  say_ended(kReplaced, __builtin_return_address(0));
  return ::execve(path, arguments, environment);
}

int executed_here(const char* path, char* const* arguments) {
  say_ended(kReplaced, __builtin_return_address(0));
  return ::execv(path, arguments);
}

int executed_found(const char* file, char* const* arguments) {
  say_ended(kReplaced, __builtin_return_address(0));
  return ::execvp(file, arguments);
}

int executed_found_in(const char* file, char* const* arguments, char* const* environment) {
  say_ended(kReplaced, __builtin_return_address(0));
  return ::execvpe(file, arguments, environment);
}

int executed_open(int file, char* const* arguments, char* const* environment) {
  say_ended(kReplaced, __builtin_return_address(0));
  return ::fexecve(file, arguments, environment);
}

// The arguments of a call that lists them, up to NULL.
std::vector<char*> listed(const char* first, va_list more) {
  std::vector<char*> out;
  for (const char* one = first; one != nullptr; one = va_arg(more, const char*)) out.push_back(const_cast<char*>(one));
  out.push_back(nullptr);
  return out;
}

int executed_list(const char* path, const char* first, ...) {
  say_ended(kReplaced, __builtin_return_address(0));
  va_list more;
  va_start(more, first);
  const std::vector<char*> arguments = listed(first, more);
  va_end(more);
  return ::execv(path, arguments.data());
}

int executed_found_list(const char* file, const char* first, ...) {
  say_ended(kReplaced, __builtin_return_address(0));
  va_list more;
  va_start(more, first);
  const std::vector<char*> arguments = listed(first, more);
  va_end(more);
  return ::execvp(file, arguments.data());
}

int executed_list_in(const char* path, const char* first, ...) {
  say_ended(kReplaced, __builtin_return_address(0));
  va_list more;
  va_start(more, first);
  const std::vector<char*> arguments = listed(first, more);
  char* const* const environment = va_arg(more, char* const*);
  va_end(more);
  return ::execve(path, arguments.data(), environment);
}

// It ends the process, and goes on in a copy without its threads.
int left_behind(int keeps_folder, int keeps_streams) {
  if (!may_change_for_good(kGoesOn, __builtin_return_address(0))) return -1;
  return ::daemon(keeps_folder, keeps_streams);
}

}  // namespace

void add_ending_functions(std::vector<Redirected>& all) {
  all.insert(all.end(), {
                            instead("exit", ended_by_exit),
                            instead("quick_exit", ended_by_quick_exit),
                            instead("_exit", ended_at_once),
                            instead("_Exit", ended_at_once),
                            instead("daemon", left_behind),
                            instead("kill", signalled),
                            instead("killpg", signalled_group),
                            instead("raise", raised),
                            instead("sigqueue", signalled_with),
                            instead("tgkill", signalled_of),
                            instead("pthread_kill", signalled_thread),
                            instead("pthread_sigqueue", signalled_thread_with),
                            instead("syscall", system_call),
                            instead("_Fork", copied_without_handlers),
                            instead("execve", executed),
                            instead("execv", executed_here),
                            instead("execvp", executed_found),
                            instead("execvpe", executed_found_in),
                            instead("fexecve", executed_open),
                            instead("execl", executed_list),
                            instead("execlp", executed_found_list),
                            instead("execle", executed_list_in),
                        });
}

}  // namespace drystone::host
