// The functions that plugins call instead of the C library's: see library/redirect.h.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <utility>

#include "core/failure.h"
#include "core/plugin_call.h"
#include "drystone/logging.h"
#include "library/host_state.h"
#include "library/crash_report.h"
#include "library/redirect.h"

namespace drystone::host {
namespace {

// ---- what ends the process ----

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

void say_signalled(int number, const void* caller) noexcept {
  char text[64];
  if (!ends_by(number)) return;
  std::snprintf(text, sizeof text, "the process was sent signal %d by itself", number);
  say_ended(text, caller);
}

bool is_own(pid_t process) noexcept {
  return process == getpid() || process == 0 || process == -1 || -process == getpgrp();
}

int signalled(pid_t process, int number) {
  if (is_own(process)) say_signalled(number, __builtin_return_address(0));
  return ::kill(process, number);
}

int signalled_group(pid_t group, int number) {
  if (group == 0 || group == getpgrp()) say_signalled(number, __builtin_return_address(0));
  return ::killpg(group, number);
}

// Of this thread, which may take no signals: threads of runs do not.
bool is_blocked(int number) noexcept {
  sigset_t blocked;
  return number != SIGKILL && pthread_sigmask(SIG_SETMASK, nullptr, &blocked) == 0 && sigismember(&blocked, number) == 1;
}

int raised(int number) {
  if (!is_blocked(number)) say_signalled(number, __builtin_return_address(0));
  return ::raise(number);
}

int signalled_thread(pthread_t thread, int number) {
  const bool waits = pthread_equal(thread, pthread_self()) != 0 && is_blocked(number);
  if (!waits) say_signalled(number, __builtin_return_address(0));
  return ::pthread_kill(thread, number);
}

// It has six arguments at most, whichever of them are meant.
long system_call(long number, long a, long b, long c, long d, long e, long f) {
  const void* const caller = __builtin_return_address(0);
  if (number == SYS_exit_group) say_ended("the process was ended by a system call", caller);
  if (number == SYS_kill && is_own(static_cast<pid_t>(a))) say_signalled(static_cast<int>(b), caller);
  if (number == SYS_close_range && !may_change_for_good("files of others", caller)) return -1;
  if (number == SYS_tgkill && static_cast<pid_t>(a) == getpid()) say_signalled(static_cast<int>(c), caller);
  return ::syscall(number, a, b, c, d, e, f);
}

constexpr const char* kReplaced = "the process is given to another program by exec";

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

// ---- what changes what is the program's ----

// Whether this is the first time of a plugin and what it does, which is said then.
bool is_new(const char* library, const char* what) {
  struct Told {
    std::mutex mutex;
    std::set<std::pair<const char*, const char*>> all;
  };
  static auto* const told = new Told();  // plugins' threads may outlive main()
  const std::lock_guard lock(told->mutex);
  return told->all.emplace(library, what).second;
}

bool may_change_handler(int number, const void* caller) {
  switch (number) {
    case SIGINT: return may_change("the handler of SIGINT", caller);
    case SIGTERM: return may_change("the handler of SIGTERM", caller);
    case SIGPIPE: return may_change("the handler of SIGPIPE", caller);
    case SIGCHLD: return may_change("the handler of SIGCHLD", caller);
    case SIGHUP: case SIGQUIT: case SIGALRM: case SIGTSTP: return may_change("the handler of a signal", caller);
    default: return true;
  }
}

}  // namespace

bool may_change(const char* what, const void* caller) {
  return is_looked_at() || may_change_for_good(what, caller);
}

bool may_change_for_good(const char* what, const void* caller) {
  if (is_forked_copy()) return true;
  const char* const library = plugin_at(caller);
  if (library != nullptr && answered(false, [&] { return is_new(library, what); })) {
    TF_Log(TF_WARNING, "plugin %s: it tried to change %s, which is the program's; that was refused", library, what);
  }
  errno = EPERM;
  return false;
}

bool may_change_stream(int file, const void* caller) {
  constexpr const char* kNames[] = {"standard input", "standard output", "standard error"};
  return file < 0 || file > STDERR_FILENO || may_change(kNames[file], caller);
}

namespace {

int handled(int number, const struct sigaction* given, struct sigaction* before) {
  if (given != nullptr && !may_change_handler(number, __builtin_return_address(0))) return -1;
  return ::sigaction(number, given, before);
}

sighandler_t handled_simply(int number, sighandler_t handler) {
  return may_change_handler(number, __builtin_return_address(0)) ? ::signal(number, handler) : SIG_ERR;
}

int closed(int file) {
  forget_opened(file);
  return may_change_stream(file, __builtin_return_address(0)) ? ::close(file) : -1;
}

int doubled(int file, int as) {
  return file == as || may_change_stream(as, __builtin_return_address(0)) ? ::dup2(file, as) : -1;
}

int doubled_with(int file, int as, int flags) {
  return may_change_stream(as, __builtin_return_address(0)) ? ::dup3(file, as, flags) : -1;
}

int stream_closed(FILE* stream) {
  if (stream != nullptr) forget_opened(fileno(stream));
  return may_change_stream(stream == nullptr ? -1 : fileno(stream), __builtin_return_address(0)) ? std::fclose(stream) : EOF;
}

int folder_changed(const char* path) {
  return may_change("the working folder", __builtin_return_address(0)) ? ::chdir(path) : -1;
}

int folder_changed_to(int file) {
  return may_change("the working folder", __builtin_return_address(0)) ? ::fchdir(file) : -1;
}

int limited(decltype(RLIMIT_CPU) which, const struct rlimit* limit) {
  return may_change("a limit of resources", __builtin_return_address(0)) ? ::setrlimit(which, limit) : -1;
}

constexpr const char* kTimer = "the timer that sends signals";

unsigned alarmed(unsigned seconds) {
  return seconds == 0 || may_change(kTimer, __builtin_return_address(0)) ? ::alarm(seconds) : 0;
}

int timed(decltype(ITIMER_REAL) which, const struct itimerval* given, struct itimerval* before) {
  return may_change(kTimer, __builtin_return_address(0)) ? ::setitimer(which, given, before) : -1;
}

}  // namespace

const std::vector<Redirected>& redirected_functions() {
  static const auto* all = [] {
    auto* const made = new std::vector<Redirected>{
        instead("exit", ended_by_exit),
        instead("quick_exit", ended_by_quick_exit),
        instead("_exit", ended_at_once),
        instead("_Exit", ended_at_once),
        instead("kill", signalled),
        instead("killpg", signalled_group),
        instead("raise", raised),
        instead("pthread_kill", signalled_thread),
        instead("syscall", system_call),
        instead("execve", executed),
        instead("execv", executed_here),
        instead("execvp", executed_found),
        instead("sigaction", handled),
        instead("signal", handled_simply),
        instead("close", closed),
        instead("dup2", doubled),
        instead("dup3", doubled_with),
        instead("fclose", stream_closed),
        instead("chdir", folder_changed),
        instead("fchdir", folder_changed_to),
        instead("setrlimit", limited),
        instead("alarm", alarmed),
        instead("setitimer", timed),
    };
    add_setting_functions(*made);
    add_memory_functions(*made);
    add_file_functions(*made);
    return made;
  }();
  return *all;
}

}  // namespace drystone::host
