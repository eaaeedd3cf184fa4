// The functions that plugins call instead of the C library's: see library/redirect.h.
#include <fcntl.h>
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <map>
#include <utility>

#include "core/failure.h"
#include "core/plugin_call.h"
#include "drystone/logging.h"
#include "library/host_state.h"
#include "library/crash_report.h"
#include "library/kept_file.h"
#include "library/redirect.h"
#include "library/told_once.h"

namespace drystone::host {
bool may_change_handler(int number, const void* caller) {
  switch (number) {
    case SIGINT: return may_change("the handler of SIGINT", caller);
    case SIGTERM: return may_change("the handler of SIGTERM", caller);
    case SIGPIPE: return may_change("the handler of SIGPIPE", caller);
    case SIGCHLD: return may_change("the handler of SIGCHLD", caller);
    case SIGHUP: case SIGQUIT: case SIGALRM: case SIGTSTP: return may_change("the handler of a signal", caller);
    case SIGSEGV: case SIGBUS: case SIGFPE: case SIGILL: case SIGABRT:
      return may_change("the handler of a signal that ends the process", caller);
    default: return true;
  }
}

bool may_change(const char* what, const void* caller) {
  return is_looked_at() || may_change_for_good(what, caller);
}

bool may_change_for_good(const char* what, const void* caller) {
  if (is_forked_copy()) return true;
  const char* const library = plugin_at(caller);
  if (library != nullptr && answered(false, [&] { return is_first_time(library, what); })) {
    TF_Log(TF_WARNING, "plugin %s: it tried to change %s, which is the program's; that was refused", library, what);
  }
  errno = EPERM;
  return false;
}

// Files that were open before any plugin was: which they are, by their numbers.
std::map<int, std::pair<dev_t, ino_t>> files_now() {
  std::map<int, std::pair<dev_t, ino_t>> out;
  DIR* const folder = opendir("/proc/self/fd");
  if (folder == nullptr) return out;
  while (const dirent* const entry = readdir(folder)) {
    const int file = std::atoi(entry->d_name);
    struct stat facts;
    if (file > STDERR_FILENO && file != dirfd(folder) && fstat(file, &facts) == 0) out[file] = {facts.st_dev, facts.st_ino};
  }
  closedir(folder);
  return out;
}

const std::map<int, std::pair<dev_t, ino_t>>& files_before_plugins() {
  static const auto* const all = new std::map(files_now());
  return *all;
}

bool may_change_file(int file, const void* caller) {
  if (file <= STDERR_FILENO) return may_change_stream(file, caller);
  const auto found = files_before_plugins().find(file);
  struct stat now;
  if (is_kept_file(file)) return may_change_for_good("files of the host's", caller);
  if (found == files_before_plugins().end() || fstat(file, &now) != 0) return true;
  if (found->second != std::pair(now.st_dev, now.st_ino)) return true;
  return may_change_for_good("files that were open before it was", caller);
}

bool may_change_stack(const void* caller) {
  return running_call == nullptr || may_change_for_good("the stack of signal handlers", caller);
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

template <auto function>
sighandler_t handled_simply(int number, sighandler_t handler) {
  return may_change_handler(number, __builtin_return_address(0)) ? function(number, handler) : SIG_ERR;
}

// It is deprecated, and there for those who call it all the same.
sighandler_t handled_by_set(int number, sighandler_t handler) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return may_change_handler(number, __builtin_return_address(0)) ? ::sigset(number, handler) : SIG_ERR;
#pragma GCC diagnostic pop
}

// Of one of the host's threads, where the last words of a stack that is used up are said.
int stacked(const stack_t* given, stack_t* before) {
  if (given != nullptr && !may_change_stack(__builtin_return_address(0))) return -1;
  return ::sigaltstack(given, before);
}

int closed(int file) {
  if (!may_change_file(file, __builtin_return_address(0))) return -1;
  forget_opened(file);
  return ::close(file);
}

int doubled(int file, int as) {
  return file == as || may_change_file(as, __builtin_return_address(0)) ? ::dup2(file, as) : -1;
}

int doubled_with(int file, int as, int flags) {
  return may_change_file(as, __builtin_return_address(0)) ? ::dup3(file, as, flags) : -1;
}

int stream_closed(FILE* stream) {
  if (stream != nullptr) forget_opened(fileno(stream));
  return may_change_stream(stream == nullptr ? -1 : fileno(stream), __builtin_return_address(0)) ? std::fclose(stream) : EOF;
}

}  // namespace

// A signal for what comes to a file ends the program that does not wait for it.
bool may_control(int file, int command, unsigned long argument, const void* caller) {
  switch (command) {
    case F_SETFL:
      if ((argument & O_ASYNC) != 0 && !may_change_for_good("which signals it is sent", caller)) return false;
      break;
    case F_SETFD: break;
    case F_SETOWN: case F_SETOWN_EX: case F_SETSIG: return may_change_for_good("which signals it is sent", caller);
    default: return true;
  }
  return may_change_stream(file, caller);
}

namespace {

// The argument is there for some commands only, and passed on without need.
int controlled(int file, int command, unsigned long argument) {
  return may_control(file, command, argument, __builtin_return_address(0)) ? ::fcntl(file, command, argument) : -1;
}

int all_streams_closed() {
  return may_change_for_good("standard output", __builtin_return_address(0)) ? ::fcloseall() : EOF;
}

int folder_changed(const char* path) {
  return may_change("the working folder", __builtin_return_address(0)) ? ::chdir(path) : -1;
}

int folder_changed_to(int file) {
  return may_change("the working folder", __builtin_return_address(0)) ? ::fchdir(file) : -1;
}

int limited(decltype(RLIMIT_CPU) which, const struct rlimit* limit) {
  return may_change(kLimit, __builtin_return_address(0)) ? ::setrlimit(which, limit) : -1;
}

unsigned alarmed(unsigned seconds) {
  return seconds == 0 || may_change(kTimer, __builtin_return_address(0)) ? ::alarm(seconds) : 0;
}

int timed(decltype(ITIMER_REAL) which, const struct itimerval* given, struct itimerval* before) {
  return may_change(kTimer, __builtin_return_address(0)) ? ::setitimer(which, given, before) : -1;
}

}  // namespace

const std::vector<Redirected>& redirected_functions() {
  static const auto* all = [] {
    files_before_plugins();
    auto* const made = new std::vector<Redirected>{
        instead("sigaction", handled),
        instead("signal", handled_simply<::signal>),
        instead("bsd_signal", handled_simply<::signal>),
        instead("ssignal", handled_simply<::signal>),
        instead("sysv_signal", handled_simply<::sysv_signal>),
        instead("__sysv_signal", handled_simply<::sysv_signal>),
        instead("sigset", handled_by_set),
        instead("sigaltstack", stacked),
        instead("close", closed),
        instead("dup2", doubled),
        instead("dup3", doubled_with),
        instead("fclose", stream_closed),
        instead("fcloseall", all_streams_closed),
        instead("fcntl", controlled),
        instead("fcntl64", controlled),
        instead("chdir", folder_changed),
        instead("fchdir", folder_changed_to),
        instead("setrlimit", limited),
        instead("alarm", alarmed),
        instead("setitimer", timed),
    };
    add_ending_functions(*made);
    add_page_functions(*made);
    add_setting_functions(*made);
    add_memory_functions(*made);
    add_file_functions(*made);
    add_machine_functions(*made);
    add_looking_functions(*made);
    return made;
  }();
  return *all;
}

}  // namespace drystone::host
