// Settings of the program that plugins change: see library/redirect.h.
#include <dlfcn.h>
#include <grp.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

#include "library/crash_report.h"
#include "library/host_state.h"
#include "library/redirect.h"

namespace drystone::host {
namespace {

constexpr const char* kTimer = "the timer that sends signals";
constexpr const char* kLimit = "a limit of resources";
constexpr const char* kLocale = "the locale";
constexpr const char* kIdentity = "who the process is";

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

// ---- the environment ----

// By this, copies of LLVM's OpenMP in one process find each other.
bool marks_a_runtime(const char* name) {
  return name != nullptr && std::string_view(name).starts_with("__KMP_REGISTERED_LIB_");
}

bool may_set(const char* name, const void* caller) {
  constexpr const char* kEnvironment = "the environment";
  return marks_a_runtime(name) || is_environment_looked_at() || may_change_for_good(kEnvironment, caller);
}

int set(const char* name, const char* value, int replaces) {
  return may_set(name, __builtin_return_address(0)) ? ::setenv(name, value, replaces) : -1;
}

int put(char* entry) { return may_set(entry, __builtin_return_address(0)) ? ::putenv(entry) : -1; }

int unset(const char* name) { return may_set(name, __builtin_return_address(0)) ? ::unsetenv(name) : -1; }

int cleared() { return may_set(nullptr, __builtin_return_address(0)) ? ::clearenv() : -1; }

// ---- files of others, standard streams ----

constexpr const char* kFiles = "files of others";

int range_closed(unsigned first, unsigned last, int flags) {
  return may_change_for_good(kFiles, __builtin_return_address(0)) ? ::close_range(first, last, flags) : -1;
}

void closed_from(int first) {
  if (may_change_for_good(kFiles, __builtin_return_address(0))) ::closefrom(first);
}

FILE* reopened(const char* path, const char* mode, FILE* stream) {
  const int file = stream == nullptr ? -1 : fileno(stream);
  return may_change_stream(file, __builtin_return_address(0)) ? std::freopen(path, mode, stream) : nullptr;
}

// ---- memory of others ----

// Pages of a file that is mapped as a library, and is another than the caller's own.
bool is_of_others(const void* address, const void* caller) {
  Dl_info there;
  Dl_info here;
  if (dladdr(address, &there) == 0 || dladdr(caller, &here) == 0 || there.dli_fbase == here.dli_fbase) return false;
  return plugin_at(address) == nullptr || plugin_at(address) != plugin_at(caller);
}

bool may_change_pages(const void* address, std::size_t size, const void* caller) {
  const auto* const last = static_cast<const char*>(address) + (size == 0 ? 0 : size - 1);
  if (!is_of_others(address, caller) && !is_of_others(last, caller)) return true;
  return may_change_for_good("memory of another library", caller);
}

int protected_so(void* address, std::size_t size, int protection) {
  return may_change_pages(address, size, __builtin_return_address(0)) ? ::mprotect(address, size, protection) : -1;
}

int unmapped(void* address, std::size_t size) {
  return may_change_pages(address, size, __builtin_return_address(0)) ? ::munmap(address, size) : -1;
}

// ---- who the process is ----

int controlled(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  switch (option) {
    case PR_SET_PDEATHSIG: case PR_SET_DUMPABLE: case PR_SET_SECCOMP: case PR_SET_NO_NEW_PRIVS: case PR_CAPBSET_DROP:
    case PR_SET_CHILD_SUBREAPER:
      if (!may_change(kIdentity, __builtin_return_address(0))) return -1;
      break;
    default: break;
  }
  return ::prctl(option, a, b, c, d);
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
                            instead("setlocale", located),
                            instead("umask", masked),
                            instead("mallopt", allocated_so),
                            instead("setenv", set),
                            instead("putenv", put),
                            instead("unsetenv", unset),
                            instead("clearenv", cleared),
                            instead("close_range", range_closed),
                            instead("closefrom", closed_from),
                            instead("freopen", reopened),
                            instead("freopen64", reopened),
                            instead("mprotect", protected_so),
                            instead("munmap", unmapped),
                            instead("prctl", controlled),
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
