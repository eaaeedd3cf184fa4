// Functions of drystone_host/ are for the program: with them a plugin could vouch for itself, take the program's services
// away or end its devices.
#ifndef DRYSTONE_HOST_LIBRARY_OF_PROGRAMS_H_
#define DRYSTONE_HOST_LIBRARY_OF_PROGRAMS_H_

namespace drystone::host {

// Whether the code at `caller` is a plugin's, which must not call this function; the first time is a warning.
bool is_refused(const char* function, const void* caller) noexcept;

// Fails with PERMISSION_DENIED where it is.
void require_program(const char* function, const void* caller);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_OF_PROGRAMS_H_
