// Whether a library was built for this machine, as the platform strings in its bytes say.
#ifndef DRYSTONE_HOST_LIBRARY_PLATFORM_H_
#define DRYSTONE_HOST_LIBRARY_PLATFORM_H_

#include <string>
#include <string_view>

namespace drystone::host {

// Fails (FAILED_PRECONDITION) when the platform strings in `file`, the bytes of `path`, are of an
// unknown format or name another system, machine or byte order, processor features that are not
// there, or another major version of the ABI. A file without any passes.
//
// The checks and tables are those of drystone_base.plugins._platform and ._processor.
void require_platform(const std::string& path, std::string_view file);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_PLATFORM_H_
