// Paths as text.
#ifndef DRYSTONE_FILES_PATHS_H_
#define DRYSTONE_FILES_PATHS_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace drystone::files {

// Where the path of a URI begins: behind "scheme://host". 0 for a text that has no scheme.
inline std::size_t head_of(std::string_view uri) {
  const std::size_t mark = uri.find("://");
  return mark == std::string_view::npos ? 0 : std::min(uri.find('/', mark + 3), uri.size());
}

// Where the host of a URI begins: behind "scheme://".
inline std::size_t host_of(std::string_view uri) {
  const std::size_t mark = uri.find("://");
  return mark == std::string_view::npos ? 0 : mark + 3;
}

// The parts between slashes that are not empty.
inline std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> out;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (slash != 0) out.push_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return out;
}

}  // namespace drystone::files

#endif  // DRYSTONE_FILES_PATHS_H_
