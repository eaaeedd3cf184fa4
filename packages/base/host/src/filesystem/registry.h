// Which filesystem answers for a scheme.
#ifndef DRYSTONE_HOST_FILESYSTEM_REGISTRY_H_
#define DRYSTONE_HOST_FILESYSTEM_REGISTRY_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "filesystem/filesystem.h"

namespace drystone::host {

using Filesystems = std::map<std::string, std::shared_ptr<Filesystem>, std::less<>>;

// Takes the scheme, makes the filesystem without a lock held, and keeps it. Fails with
// ALREADY_EXISTS, naming both libraries, when the scheme is taken; when `make` fails, the scheme is
// free again.
void register_scheme(const std::string& scheme, const std::string& library,
                     const std::function<std::shared_ptr<Filesystem>()>& make);

// The filesystem of a path; fails with UNIMPLEMENTED and the list of schemes when there is none.
std::shared_ptr<Filesystem> filesystem_of(const std::string& path);

// The filesystem of a scheme; "" and "file" are the local one.
std::shared_ptr<Filesystem> filesystem_for_scheme(std::string_view scheme, const std::string& path);

// All that are ready now, by scheme.
Filesystems registered_filesystems();

// Forget all of plugins; each is cleaned up as soon as its last open file is closed.
void cleanup_filesystems() noexcept;

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_FILESYSTEM_REGISTRY_H_
