// Names in messages.
#ifndef DRYSTONE_HOST_CORE_QUOTED_H_
#define DRYSTONE_HOST_CORE_QUOTED_H_

#include <string>
#include <string_view>

namespace drystone::host {

// The text between single quotes, as every message has names.
inline std::string quoted(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  out += '\'';
  out += text;
  return out += '\'';
}

// Found before std::quoted, which argument-dependent lookup finds where <iomanip> is included.
inline std::string quoted(const std::string& text) { return quoted(std::string_view(text)); }
inline std::string quoted(std::string& text) { return quoted(std::string_view(text)); }
inline std::string quoted(const char* text) { return quoted(std::string_view(text)); }

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_QUOTED_H_
