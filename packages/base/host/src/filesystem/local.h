// The host's own filesystem: paths without a scheme, and "file://".
#ifndef DRYSTONE_HOST_FILESYSTEM_LOCAL_H_
#define DRYSTONE_HOST_FILESYSTEM_LOCAL_H_

#include <memory>

#include "filesystem/filesystem.h"

namespace drystone::host {

std::shared_ptr<Filesystem> local_filesystem();

// Fails with the code for `number` and "CONTEXT; TEXT OF THE ERROR".
[[noreturn]] void fail_errno(int number, const std::string& context);

// Open files of the local filesystem, by local path; `mode` is 'w' or 'a'.
std::unique_ptr<ReadableFile> open_local_readable(const std::string& path);
std::unique_ptr<WritableFile> open_local_writable(const std::string& path, char mode);
std::unique_ptr<MemoryRegion> open_local_region(const std::string& path);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_FILESYSTEM_LOCAL_H_
