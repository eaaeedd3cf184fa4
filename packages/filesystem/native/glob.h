// Patterns of paths, as get_matching_paths in drystone/filesystem.h has them.
#ifndef DRYSTONE_FILES_GLOB_H_
#define DRYSTONE_FILES_GLOB_H_

#include <string>
#include <string_view>
#include <vector>

#include "files.h"

namespace drystone::files {

// Whether a name, byte by byte, is what one part of a pattern stands for.
bool matches(std::string_view pattern, std::string_view name);

// The URIs that match, sorted; the pattern is one with scheme and host, and so are they.
std::vector<std::string> matching_paths(const Files& files, const std::string& pattern);

}  // namespace drystone::files

#endif  // DRYSTONE_FILES_GLOB_H_
