// The last words of a process that ends in a plugin's code: which plugin, and which call.
//
// Written to standard error by a handler of the signals that end processes, and at exit where a
// plugin calls exit(). The handlers that were there before come next, as if this one were not.
#ifndef DRYSTONE_HOST_LIBRARY_LAST_WORDS_H_
#define DRYSTONE_HOST_LIBRARY_LAST_WORDS_H_

#include <atomic>
#include <string>
#include <vector>

#include "library/binding.h"

namespace drystone::host {

// The plugin in whose code the address is, or NULL. Safe in signal handlers.
const char* plugin_at(const void* address) noexcept;

// The same for where a signal came: in whose code it is, or whose code has called that.
const char* plugin_around(const void* signal_context) noexcept;

// Says what a plugin does that ends the process, unless something was said before. `caller`: an address in
// the code that does. Nothing in a copy of the program.
void say_ended(const char* what, const void* caller) noexcept;

// Whether this process was made by fork from one where plugins are open.
bool is_forked_copy() noexcept;

// This process is a copy that has just been made: in a plugin's call, or by the program.
void note_copy() noexcept;

// Puts the handlers in place, the first time.
void install_crash_handlers();

// Lets them tell code of this library, and of what was mapped with it since `before`.
void remember_code_of(const std::string& library, const std::vector<Mapped>& before);

extern std::atomic<bool> has_crash_handlers;  // whether the handlers are in place
void give_signal_stack() noexcept;

// Gives this thread a stack for the handlers, the first time, if it has none: a plugin may have used
// up the thread's own. Nothing before a plugin was opened.
inline void prepare_thread() noexcept {
  if (has_crash_handlers.load(std::memory_order_relaxed)) give_signal_stack();
}

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_LAST_WORDS_H_
