// What is the machine's, or somebody else's on it, and rare ways to what other functions change: see
// library/redirect.h.
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <termios.h>
#include <ulimit.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>

#include "core/plugin_call.h"
#include "library/redirect.h"

namespace drystone::host {
namespace {

constexpr const char* kMachine = "the machine";
constexpr const char* kChildren = "children of the program";

using Zone = struct timezone;

// A function of these arguments that answers -1 where it fails.
template <auto& what, auto function, class... Arguments>
int refused(Arguments... arguments) {
  return may_change_for_good(what, __builtin_return_address(0)) ? static_cast<int>(function(arguments...)) : -1;
}

// ---- who it is ----

// They answer who it was before, also where they fail.
template <auto function>
int filed_as(unsigned whose) {
  const bool is_question = whose == ~0U;
  return function(is_question || may_change_for_good(kIdentity, __builtin_return_address(0)) ? whose : ~0U);
}

int of_personality(unsigned long which) {
  const bool is_question = which == 0xffffffffUL;
  return is_question || may_change_for_good(kIdentity, __builtin_return_address(0)) ? ::personality(which) : -1;
}

// ---- the clock, which is asked so as well ----

int tuned(struct timex* clock) {
  const bool is_question = clock == nullptr || clock->modes == 0;
  return is_question || may_change_for_good(kMachine, __builtin_return_address(0)) ? ::adjtimex(clock) : -1;
}

int tuned_of(clockid_t which, struct timex* clock) {
  const bool is_question = clock == nullptr || clock->modes == 0;
  return is_question || may_change_for_good(kMachine, __builtin_return_address(0)) ? ::clock_adjtime(which, clock) : -1;
}

// ---- threads of the program ----

bool may_place(pthread_t thread, const void* caller) {
  const bool is_programs = running_call != nullptr && pthread_equal(thread, pthread_self()) != 0;
  return !is_programs || may_change(kScheduling, caller);
}

int thread_placed(pthread_t thread, std::size_t size, const cpu_set_t* processors) {
  if (!may_place(thread, __builtin_return_address(0))) return EPERM;
  return ::pthread_setaffinity_np(thread, size, processors);
}

int thread_scheduled(pthread_t thread, int policy, const struct sched_param* parameters) {
  if (!may_place(thread, __builtin_return_address(0))) return EPERM;
  return ::pthread_setschedparam(thread, policy, parameters);
}

int thread_ranked(pthread_t thread, int priority) {
  return may_place(thread, __builtin_return_address(0)) ? ::pthread_setschedprio(thread, priority) : EPERM;
}

// The host waits for its threads at the end of what they do.
int thread_detached(pthread_t thread) {
  return may_place(thread, __builtin_return_address(0)) ? ::pthread_detach(thread) : EPERM;
}

int ranked(pid_t which, const struct sched_param* parameters) {
  const bool is_programs = which == getpid() || (which == 0 && running_call != nullptr);
  if (is_programs && !may_change(kScheduling, __builtin_return_address(0))) return -1;
  return ::sched_setparam(which, parameters);
}

// ---- its streams and its terminal ----

bool may_buffer(FILE* stream, const void* caller) {
  const int file = stream == nullptr ? -1 : fileno(stream);
  return file < 0 || file > STDERR_FILENO || may_change_for_good(kBuffers, caller);
}

void buffered_in(FILE* stream, char* buffer) {
  if (may_buffer(stream, __builtin_return_address(0))) std::setbuf(stream, buffer);
}

void buffered_in_so_many(FILE* stream, char* buffer, std::size_t size) {
  if (may_buffer(stream, __builtin_return_address(0))) ::setbuffer(stream, buffer, size);
}

void buffered_by_line(FILE* stream) {
  if (may_buffer(stream, __builtin_return_address(0))) ::setlinebuf(stream);
}

bool only_asks(unsigned long request) noexcept {
  switch (request) {
    case TCGETS: case TIOCGWINSZ: case TIOCGPGRP: case TIOCGSID: case TIOCOUTQ: case FIONREAD: return true;
    default: return false;
  }
}

// The argument is there for some requests only, and passed on without need.
int commanded(int file, unsigned long request, unsigned long argument) {
  if (!only_asks(request) && !may_change_stream(file, __builtin_return_address(0))) return -1;
  return ::ioctl(file, request, argument);
}

int terminal_set(int file, int when, const struct termios* to) {
  return may_change_stream(file, __builtin_return_address(0)) ? ::tcsetattr(file, when, to) : -1;
}

int terminal_given(int file, pid_t group) {
  return may_change_stream(file, __builtin_return_address(0)) ? ::tcsetpgrp(file, group) : -1;
}

int cut(int file, off_t size) {
  return may_change_stream(file, __builtin_return_address(0)) ? ::ftruncate(file, size) : -1;
}

// ---- signals, timers, limits ----

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

int ignored(int number) { return may_change_handler(number, __builtin_return_address(0)) ? ::sigignore(number) : -1; }

int interrupting(int number, int flag) {
  return may_change_handler(number, __builtin_return_address(0)) ? ::siginterrupt(number, flag) : -1;
}

#pragma GCC diagnostic pop

useconds_t alarmed_soon(useconds_t when, useconds_t every) {
  return when == 0 || may_change(kTimer, __builtin_return_address(0)) ? ::ualarm(when, every) : 0;
}

long limited_to(int command, long limit) {
  if (command != UL_SETFSIZE) return ::ulimit(command);
  return may_change("a limit of resources", __builtin_return_address(0)) ? ::ulimit(command, limit) : -1;
}

// ---- children: those of the program, too, are waited for by these ----

pid_t waited(int* status) { return may_change_for_good(kChildren, __builtin_return_address(0)) ? ::wait(status) : -1; }

pid_t waited_for(pid_t which, int* status, int options) {
  const bool is_any = which == -1 || which == 0;
  if (is_any && !may_change_for_good(kChildren, __builtin_return_address(0))) return -1;
  return ::waitpid(which, status, options);
}

pid_t waited_by_use(int* status, int options, struct rusage* use) {
  return may_change_for_good(kChildren, __builtin_return_address(0)) ? ::wait3(status, options, use) : -1;
}

pid_t waited_for_by_use(pid_t which, int* status, int options, struct rusage* use) {
  const bool is_any = which == -1 || which == 0;
  if (is_any && !may_change_for_good(kChildren, __builtin_return_address(0))) return -1;
  return ::wait4(which, status, options, use);
}

int waited_by_kind(idtype_t kind, id_t which, siginfo_t* facts, int options) {
  const bool is_any = kind == P_ALL || kind == P_PGID;
  if (is_any && !may_change_for_good(kChildren, __builtin_return_address(0))) return -1;
  return ::waitid(kind, which, facts, options);
}

}  // namespace

void add_machine_functions(std::vector<Redirected>& all) {
  using std::size_t;
  all.insert(all.end(), {
                            instead("sethostname", refused<kMachine, ::sethostname, const char*, size_t>),
                            instead("setdomainname", refused<kMachine, ::setdomainname, const char*, size_t>),
                            instead("settimeofday", refused<kMachine, ::settimeofday, const timeval*, const Zone*>),
                            instead("clock_settime", refused<kMachine, ::clock_settime, clockid_t, const timespec*>),
                            instead("adjtime", refused<kMachine, ::adjtime, const timeval*, timeval*>),
                            instead("adjtimex", tuned), instead("clock_adjtime", tuned_of),
                            instead("mount", refused<kMachine, ::mount, const char*, const char*, const char*,
                                                     unsigned long, const void*>),
                            instead("umount", refused<kMachine, ::umount, const char*>),
                            instead("umount2", refused<kMachine, ::umount2, const char*, int>),
                            instead("reboot", refused<kMachine, ::reboot, int>),
                            instead("vhangup", refused<kMachine, ::vhangup>),
                            instead("setreuid", refused<kIdentity, ::setreuid, uid_t, uid_t>),
                            instead("setregid", refused<kIdentity, ::setregid, gid_t, gid_t>),
                            instead("initgroups", refused<kIdentity, ::initgroups, const char*, gid_t>),
                            instead("setpgrp", refused<kIdentity, ::setpgrp>),
                            instead("setfsuid", filed_as<::setfsuid>), instead("setfsgid", filed_as<::setfsgid>),
                            instead("personality", of_personality),
                            instead("pthread_setaffinity_np", thread_placed),
                            instead("pthread_setschedparam", thread_scheduled),
                            instead("pthread_setschedprio", thread_ranked),
                            instead("pthread_detach", thread_detached),
                            instead("sched_setparam", ranked),
                            instead("setbuf", buffered_in), instead("setbuffer", buffered_in_so_many),
                            instead("setlinebuf", buffered_by_line),
                            instead("ioctl", commanded), instead("tcsetattr", terminal_set),
                            instead("tcsetpgrp", terminal_given),
                            instead("ftruncate", cut), instead("ftruncate64", cut),
                            instead("sigignore", ignored), instead("siginterrupt", interrupting),
                            instead("ualarm", alarmed_soon), instead("ulimit", limited_to),
                            instead("wait", waited), instead("waitpid", waited_for),
                            instead("wait3", waited_by_use), instead("wait4", waited_for_by_use),
                            instead("waitid", waited_by_kind),
                        });
}

}  // namespace drystone::host
