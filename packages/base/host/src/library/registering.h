// Who may register: constructors and entry functions of plugins, and the host program.
#ifndef DRYSTONE_HOST_LIBRARY_REGISTERING_H_
#define DRYSTONE_HOST_LIBRARY_REGISTERING_H_

namespace drystone::host {

// Fails with FAILED_PRECONDITION with `rule` where a plugin's code asks at another time: from a kernel or an
// optimizer that runs, or on a thread of its own. It would not be known then whose it is, and sessions
// that exist have chosen their kernels. `caller`: an address in the code that asks.
void require_registering(const char* rule, const void* caller);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_REGISTERING_H_
