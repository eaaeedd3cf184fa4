// System calls that plugins make by number: what the functions of their names may not do, these may not either. See
// library/redirect.h.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>

#include <array>
#include <cstddef>

#include "library/redirect.h"

namespace drystone::host {
namespace {

// What a call changes whatever its arguments are.
const char* changed_by(long number) noexcept {
  switch (number) {
    case SYS_close_range: return "files of others";
    case SYS_umask: return "the umask";
    case SYS_chdir: case SYS_fchdir: return "the working folder";
    case SYS_setrlimit: return "a limit of resources";
    case SYS_chroot: case SYS_pivot_root: case SYS_unshare: case SYS_setns: case SYS_capset: case SYS_seccomp:
    case SYS_setuid: case SYS_setgid: case SYS_setreuid: case SYS_setregid: case SYS_setresuid: case SYS_setresgid:
    case SYS_setgroups: case SYS_setsid: case SYS_setpgid: return "who the process is";
    case SYS_sethostname: case SYS_setdomainname: case SYS_settimeofday: case SYS_clock_settime: case SYS_mount:
    case SYS_umount2: case SYS_reboot: case SYS_vhangup: case SYS_acct: case SYS_swapon: case SYS_swapoff:
      return "the machine";
    case SYS_setpriority: case SYS_sched_setscheduler: case SYS_sched_setparam: case SYS_sched_setattr:
    case SYS_ioprio_set: return "how the program's threads are scheduled";
    case SYS_mlockall: return "which memory stays in place";
    default: return nullptr;
  }
}

template <class Type>
Type* pointer(long argument) noexcept {
  return reinterpret_cast<Type*>(argument);
}

bool empties(long advice) noexcept {
  return advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE || advice == MADV_DONTFORK ||
         advice == MADV_WIPEONFORK;
}

bool may_change_pages_by(const SystemCall& call, const void* caller) {
  const auto size = static_cast<std::size_t>(call.arguments[1]);
  switch (call.number) {
    case SYS_madvise:
      if (!empties(call.arguments[2])) return true;
      break;
    case SYS_mmap:
      if ((call.arguments[3] & MAP_FIXED) == 0) return true;
      break;
    case SYS_mprotect: case SYS_pkey_mprotect: case SYS_munmap: case SYS_mremap: break;
    default: return true;
  }
  return may_change_pages(pointer<const void>(call.arguments[0]), size, caller);
}

bool may_change_files_by(const SystemCall& call, const void* caller) {
  const auto [first, second, third] = std::array{call.arguments[0], call.arguments[1], call.arguments[2]};
  switch (call.number) {
    case SYS_close: return may_change_file(static_cast<int>(first), caller);
#ifdef SYS_dup2
    case SYS_dup2:
#endif
    case SYS_dup3: return first == second || may_change_file(static_cast<int>(second), caller);
    case SYS_ftruncate: return may_change_stream(static_cast<int>(first), caller);
    case SYS_fcntl:
      return may_control(static_cast<int>(first), static_cast<int>(second), static_cast<unsigned long>(third), caller);
    default: return true;
  }
}

bool may_change_signals_by(const SystemCall& call, const void* caller) {
  switch (call.number) {
    case SYS_rt_sigaction: return call.arguments[1] == 0 || may_change_handler(static_cast<int>(call.arguments[0]), caller);
    case SYS_sigaltstack: return call.arguments[0] == 0 || may_change_stack(caller);
    case SYS_setitimer: return call.arguments[1] == 0 || may_change(kTimer, caller);
#ifdef SYS_alarm
    case SYS_alarm: return call.arguments[0] == 0 || may_change(kTimer, caller);
#endif
    default: return true;
  }
}

bool may_change_settings_by(const SystemCall& call, const void* caller) {
  switch (call.number) {
    case SYS_prlimit64: return call.arguments[2] == 0 || may_change("a limit of resources", caller);
    case SYS_prctl: return may_control_process(static_cast<int>(call.arguments[0]), caller);
    case SYS_ptrace: return call.arguments[0] != PTRACE_TRACEME || may_change_for_good("who the process is", caller);
    case SYS_adjtimex:
      return pointer<struct timex>(call.arguments[0])->modes == 0 || may_change_for_good("the machine", caller);
    case SYS_clock_adjtime:
      return pointer<struct timex>(call.arguments[1])->modes == 0 || may_change_for_good("the machine", caller);
    default: return true;
  }
}

}  // namespace

bool may_call(const SystemCall& call, const void* caller) {
  const char* const what = changed_by(call.number);
  return (what == nullptr || may_change(what, caller)) && may_change_pages_by(call, caller) &&
         may_change_files_by(call, caller) && may_change_signals_by(call, caller) && may_change_settings_by(call, caller);
}

}  // namespace drystone::host
