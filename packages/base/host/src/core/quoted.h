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

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_QUOTED_H_
