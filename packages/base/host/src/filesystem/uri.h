// Paths as users write them: "scheme://host/path" or a local path.
#ifndef DRYSTONE_HOST_FILESYSTEM_URI_H_
#define DRYSTONE_HOST_FILESYSTEM_URI_H_

#include <string>
#include <string_view>
#include <vector>

namespace drystone::host {

struct Uri {
  std::string_view scheme;  // empty for a local path
  std::string_view host;    // up to the first slash
  std::string_view path;    // from that slash on; all of a local path
};

// A letter, then letters, digits, "+", "-" and ".", 64 characters at most.
bool valid_scheme(std::string_view scheme);

// What does not start with a valid scheme and "://" is a local path as a whole.
Uri parse_uri(std::string_view text);

// Without empty, "." and ".." parts, by the letters of the path alone. "" becomes ".".
std::string clean_path(std::string_view path);

// DIRECTORY/NAME with one slash between.
std::string join(std::string_view directory, std::string_view name);

// The path above, with scheme and host; the same when there is none above.
std::string parent(std::string_view path);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_FILESYSTEM_URI_H_
