// Settings of the program that plugins change: see library/redirect.h.
#include <dlfcn.h>
#include <grp.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <new>
#include <string_view>

#include "core/plugin_call.h"
#include "library/host_state.h"
#include "library/redirect.h"

namespace drystone::host {
namespace {

constexpr const char* kLocale = "the locale";

// ---- timers, limits, locale, umask ----

int timer_made(clockid_t clock, struct sigevent* event, timer_t* timer) {
  const bool signals = event == nullptr || event->sigev_notify == SIGEV_SIGNAL;
  if (signals && !may_change_for_good(kTimer, __builtin_return_address(0))) return -1;
  return ::timer_create(clock, event, timer);
}

int limited_of(pid_t process, decltype(RLIMIT_CPU) which, const struct rlimit* limit, struct rlimit* before) {
  const bool is_own = process == 0 || process == getpid();
  if (limit != nullptr && is_own && !may_change(kLimit, __builtin_return_address(0))) return -1;
  return ::prlimit(process, which, limit, before);
}

char* located(int category, const char* name) {
  if (name != nullptr && !may_change(kLocale, __builtin_return_address(0))) return nullptr;
  return std::setlocale(category, name);
}

mode_t masked(mode_t mask) {
  if (may_change("the umask", __builtin_return_address(0))) return ::umask(mask);
  const int now = umask_now();
  return static_cast<mode_t>(now < 0 ? 022 : now);
}

int allocated_so(int parameter, int value) {
  return may_change_for_good("the settings of malloc", __builtin_return_address(0)) ? ::mallopt(parameter, value) : 0;
}

// ---- signals that say who ended the process ----

// Blocked, they would end it without a word.
int blocked_so(int how, const sigset_t* given, sigset_t* before) {
  if (given == nullptr || how == SIG_UNBLOCK) return ::pthread_sigmask(how, given, before);
  sigset_t others = *given;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&others, number);
  return ::pthread_sigmask(how, &others, before);
}

// It answers as older functions do.
int blocked_by_process(int how, const sigset_t* given, sigset_t* before) {
  const int found = blocked_so(how, given, before);
  if (found == 0) return 0;
  errno = found;
  return -1;
}

// ---- the environment ----

// By this, copies of LLVM's OpenMP in one process find each other.
bool marks_a_runtime(const char* name) {
  return name != nullptr && std::string_view(name).starts_with("__KMP_REGISTERED_LIB_");
}

bool may_set(const char* name, const void* caller) {
  constexpr const char* kEnvironment = "the environment";
  return marks_a_runtime(name) || is_environment_looked_at() || may_change_for_good(kEnvironment, caller);
}

int set_variable(const char* name, const char* value, int replaces) {
  return may_set(name, __builtin_return_address(0)) ? ::setenv(name, value, replaces) : -1;
}

int put_variable(char* entry) { return may_set(entry, __builtin_return_address(0)) ? ::putenv(entry) : -1; }

int unset_variable(const char* name) { return may_set(name, __builtin_return_address(0)) ? ::unsetenv(name) : -1; }

int cleared() { return may_set(nullptr, __builtin_return_address(0)) ? ::clearenv() : -1; }

// ---- files of others, standard streams ----

constexpr const char* kFiles = "files of others";

// The two that close many came with glibc 2.34: the host library runs on older ones, where nobody can call them.
template <typename Function>
Function* of_newer_systems(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int range_closed(unsigned first, unsigned last, int flags) {
  if (!may_change_for_good(kFiles, __builtin_return_address(0))) return -1;
  static auto* const real = of_newer_systems<int(unsigned, unsigned, int)>("close_range");
  if (real != nullptr) return real(first, last, flags);
  errno = ENOSYS;
  return -1;
}

void closed_from(int first) {
  if (!may_change_for_good(kFiles, __builtin_return_address(0))) return;
  static auto* const real = of_newer_systems<void(int)>("closefrom");
  if (real != nullptr) real(first);
}

FILE* reopened(const char* path, const char* mode, FILE* stream) {
  const int file = stream == nullptr ? -1 : fileno(stream);
  return may_change_stream(file, __builtin_return_address(0)) ? std::freopen(path, mode, stream) : nullptr;
}

// ---- how it is scheduled, how its streams are buffered ----

// Of a thread of the program: its main one, or this, which is in a call of the plugin's. Others are the plugin's own.
bool may_schedule(pid_t which, const void* caller) {
  const bool is_programs = which == getpid() || (which == 0 && running_call != nullptr);
  return !is_programs || may_change(kScheduling, caller);
}

int made_nicer(int by) {
  errno = 0;
  if (!may_schedule(0, __builtin_return_address(0))) return -1;
  return ::nice(by);
}

int prioritised(decltype(PRIO_PROCESS) which, id_t whose, int value) {
  const void* const caller = __builtin_return_address(0);
  if (which != PRIO_PROCESS && !may_change_for_good(kScheduling, caller)) return -1;
  if (which == PRIO_PROCESS && !may_schedule(static_cast<pid_t>(whose), caller)) return -1;
  return ::setpriority(which, whose, value);
}

int scheduled(pid_t which, int policy, const struct sched_param* parameters) {
  return may_schedule(which, __builtin_return_address(0)) ? ::sched_setscheduler(which, policy, parameters) : -1;
}

int placed(pid_t which, std::size_t size, const cpu_set_t* processors) {
  return may_schedule(which, __builtin_return_address(0)) ? ::sched_setaffinity(which, size, processors) : -1;
}

int buffered(FILE* stream, char* buffer, int mode, std::size_t size) {
  const int file = stream == nullptr ? -1 : fileno(stream);
  const bool is_programs = file >= 0 && file <= STDERR_FILENO;
  if (is_programs && !may_change_for_good(kBuffers, __builtin_return_address(0))) return -1;
  return std::setvbuf(stream, buffer, mode, size);
}

// ---- who the process is ----

}  // namespace

bool may_control_process(int option, const void* caller) {
  switch (option) {
    case PR_SET_PDEATHSIG: case PR_SET_DUMPABLE: case PR_SET_SECCOMP: case PR_SET_NO_NEW_PRIVS: case PR_CAPBSET_DROP:
    case PR_SET_CHILD_SUBREAPER: case PR_SET_KEEPCAPS: case PR_SET_SECUREBITS: case PR_CAP_AMBIENT: case PR_SET_TSC:
    case PR_SET_MM: case PR_SET_THP_DISABLE: case PR_SET_SYSCALL_USER_DISPATCH: case PR_MCE_KILL: case PR_SET_UNALIGN:
    case PR_SET_FPEMU: case PR_SET_FPEXC: case PR_SET_ENDIAN: case PR_SET_TIMING: case PR_SET_SPECULATION_CTRL:
      return may_change(kIdentity, caller);
    default: return true;
  }
}

namespace {

int process_controlled(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  if (!may_control_process(option, __builtin_return_address(0))) return -1;
  return ::prctl(option, a, b, c, d);
}

// Who traces itself stops at its next signal, and waits for its parent.
long traced(long request, long process, void* address, void* data) {
  if (request == PTRACE_TRACEME && !may_change_for_good(kIdentity, __builtin_return_address(0))) return -1;
  return ::ptrace(static_cast<decltype(PTRACE_TRACEME)>(request), process, address, data);
}

// The same for a function of these arguments that answers -1 where it fails.
template <auto function, class... Arguments>
int identified(Arguments... arguments) {
  return may_change(kIdentity, __builtin_return_address(0)) ? static_cast<int>(function(arguments...)) : -1;
}

std::terminate_handler terminated_by(std::terminate_handler handler) noexcept {
  if (!may_change("the handler of std::terminate", __builtin_return_address(0))) return std::get_terminate();
  return std::set_terminate(handler);
}

std::new_handler without_memory(std::new_handler handler) noexcept {
  if (!may_change("the handler of operator new", __builtin_return_address(0))) return std::get_new_handler();
  return std::set_new_handler(handler);
}

}  // namespace

void add_setting_functions(std::vector<Redirected>& all) {
  all.insert(all.end(), {
                            instead("timer_create", timer_made),
                            instead("prlimit", limited_of),
                            instead("prlimit64", limited_of),
                            instead("pthread_sigmask", blocked_so),
                            instead("sigprocmask", blocked_by_process),
                            instead("setlocale", located),
                            instead("umask", masked),
                            instead("mallopt", allocated_so),
                            instead("setenv", set_variable),
                            instead("putenv", put_variable),
                            instead("unsetenv", unset_variable),
                            instead("clearenv", cleared),
                            instead("close_range", range_closed),
                            instead("closefrom", closed_from),
                            instead("freopen", reopened),
                            instead("freopen64", reopened),
                            instead("nice", made_nicer),
                            instead("setpriority", prioritised),
                            instead("sched_setscheduler", scheduled),
                            instead("sched_setaffinity", placed),
                            instead("setvbuf", buffered),
                            instead("prctl", process_controlled),
                            instead("ptrace", traced),
                            instead("unshare", identified<::unshare, int>),
                            instead("setns", identified<::setns, int, int>),
                            instead("setgroups", identified<::setgroups, std::size_t, const gid_t*>),
                            instead("setsid", identified<::setsid>),
                            instead("setpgid", identified<::setpgid, pid_t, pid_t>),
                            instead("chroot", identified<::chroot, const char*>),
                            instead("setuid", identified<::setuid, uid_t>),
                            instead("setgid", identified<::setgid, gid_t>),
                            instead("seteuid", identified<::seteuid, uid_t>),
                            instead("setegid", identified<::setegid, gid_t>),
                            instead("setresuid", identified<::setresuid, uid_t, uid_t, uid_t>),
                            instead("setresgid", identified<::setresgid, gid_t, gid_t, gid_t>),
                            instead("_ZSt13set_terminatePFvvE", terminated_by),
                            instead("_ZSt15set_new_handlerPFvvE", without_memory),
                        });
}

}  // namespace drystone::host
