// Open files and mapped files of the system.
#ifndef DRYSTONE_FILES_POSIX_OPEN_H_
#define DRYSTONE_FILES_POSIX_OPEN_H_

#include <memory>
#include <string>
#include <vector>

#include "files.h"

namespace drystone::files {

// Options of "posix://", by index.
enum PosixOption : std::size_t { kAtomicWrites, kSyncOnClose };
std::vector<Option> posix_options();

std::unique_ptr<Reader> posix_open(const std::string& path);
std::unique_ptr<Region> posix_map(const std::string& path);

// `files`: whose options and transactions hold.
std::unique_ptr<Writer> posix_write(Files& files, const std::string& path, Writing how);

}  // namespace drystone::files

#endif  // DRYSTONE_FILES_POSIX_OPEN_H_
