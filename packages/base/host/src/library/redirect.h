// Calls that plugins make of the C library and that end the process, or change what is the program's:
// they go through functions of the host.
//
// What ends it says who called (library/crash_report.h). What changes the program's signals, files 0 to 2,
// working folder, limits or timer is refused (EPERM) with a warning where changes are not looked at afterwards
// (library/host_state.h): on a plugin's own threads, and in calls that are not looked at. Copies that were
// made by fork do as they like.
#ifndef DRYSTONE_HOST_LIBRARY_REDIRECT_H_
#define DRYSTONE_HOST_LIBRARY_REDIRECT_H_

#include <string>
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

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_REDIRECT_H_
