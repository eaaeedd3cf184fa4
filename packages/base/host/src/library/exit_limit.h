// Bounding the end of a process: what plugins run then may take forever.
#ifndef DRYSTONE_HOST_LIBRARY_ENDING_H_
#define DRYSTONE_HOST_LIBRARY_ENDING_H_

namespace drystone::host {

// From exit() on, code of a plugin that has not returned for some seconds is named on standard error, and
// the process ends without it. Handlers that were registered after this was called the last time run first,
// without a bound.
void limit_exit_time() noexcept;

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_ENDING_H_
