// Calls that plugins make of the C library and that end the process, or change what is the program's:
// they go through functions of the host.
//
// What ends it says who called (library/crash_report.h). What changes the program's signals, files, memory of its
// libraries, working folder, limits, scheduling or timer, or stops it, is refused (EPERM) with a warning where changes are not looked at afterwards
// (library/host_state.h): on a plugin's own threads, and in calls that are not looked at. Copies that were
// made by fork do as they like. What is freed in a call that is looked after stays until the call is over
// (core/freed_blocks.h), and what is opened in a call of a kernel is counted.
#ifndef DRYSTONE_HOST_LIBRARY_REDIRECT_H_
#define DRYSTONE_HOST_LIBRARY_REDIRECT_H_

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "library/binding.h"

namespace drystone::host {

// Redirects the calls of the plugin at `path` and of its own libraries: those mapped since `before` that it
// needs by name and that lie beside it.
void redirect_calls(const std::string& path, const std::vector<Mapped>& before);

// A C function, and the one of the host that is called instead.
struct Redirected {
  const char* name;
  void* function;
};

const std::vector<Redirected>& redirected_functions();

// The function that a plugin calls for this one: the same, or one of the host's.
void* instead_of(void* function) noexcept;

// Those of them that end the process, that change pages of memory, that change settings of the program, that give
// memory back, that open files, and what is the machine's or rarely called.
void add_ending_functions(std::vector<Redirected>& all);
void add_page_functions(std::vector<Redirected>& all);
void add_setting_functions(std::vector<Redirected>& all);
void add_memory_functions(std::vector<Redirected>& all);
void add_file_functions(std::vector<Redirected>& all);
void add_machine_functions(std::vector<Redirected>& all);
void add_looking_functions(std::vector<Redirected>& all);

template <class Function>
Redirected instead(const char* name, Function* function) {
  return {name, reinterpret_cast<void*>(function)};
}

// Whether the plugin that `caller` is in may change this: what it changes is looked at and put back, or it is a
// copy that it has made. Else errno is EPERM, and the first time is a warning.
bool may_change(const char* what, const void* caller);
inline constexpr const char* kTimer = "the timer that sends signals";
inline constexpr const char* kLimit = "a limit of resources";
inline constexpr const char* kIdentity = "who the process is";
inline constexpr const char* kScheduling = "how the program's threads are scheduled";
inline constexpr const char* kBuffers = "how standard streams are buffered";
// The same for what nobody puts back.
bool may_change_for_good(const char* what, const void* caller);
// Of a standard stream; any other file may be.
bool may_change_stream(int file, const void* caller);
// Of a standard stream, and of what was open before any plugin was.
bool may_change_file(int file, const void* caller);
// Of handlers, on a thread of the host's.
bool may_change_stack(const void* caller);
// What fcntl() does, by command and argument.
bool may_control(int file, int command, unsigned long argument, const void* caller);
// What prctl() does, by option.
bool may_control_process(int option, const void* caller);
// Of another library than the caller's.
bool may_change_pages(const void* address, std::size_t size, const void* caller);
// Of a signal that stops or ends the program, or that it may wait for.
bool may_change_handler(int number, const void* caller);

// A system call by its number.
struct SystemCall {
  long number;
  std::array<long, 6> arguments;
};
// Whether it may be made, but for those that end or copy the process or send signals.
bool may_call(const SystemCall& call, const void* caller);

// Unlocks standard streams that calls of a plugin have left locked on this thread; whether there were any.
bool unlock_streams() noexcept;

// A file that is being closed is no longer counted.
void forget_opened(int file) noexcept;

// Warns, once for each library, where calls of its kernels have left many files open. `when`: in which call.
void remark_left_open(const char* library, const std::string& when) noexcept;

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_REDIRECT_H_
