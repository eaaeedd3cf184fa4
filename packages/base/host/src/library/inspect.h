// Looking at the bytes of a library before the dynamic linker does.
#ifndef DRYSTONE_HOST_LIBRARY_INSPECT_H_
#define DRYSTONE_HOST_LIBRARY_INSPECT_H_

#include <string>

namespace drystone::host {

// Fails (INVALID_ARGUMENT) unless the file is a whole ELF file for this machine. The linker maps what
// the header states; reading past the end of a truncated file would end the process.
void require_whole_library(const std::string& path);

// Fails (FAILED_PRECONDITION) when the platform strings of the file name another machine, processor
// features that are not there, or another major version of the ABI. A file without any passes.
void require_platform(const std::string& path);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_INSPECT_H_
