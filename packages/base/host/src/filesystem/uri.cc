// Paths as users write them: see uri.h.
#include "filesystem/uri.h"

#include <algorithm>

namespace drystone::host {
namespace {

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool later(char c) {
  return letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

}  // namespace

bool valid_scheme(std::string_view scheme) {
  return !scheme.empty() && scheme.size() <= 64 && letter(scheme[0]) &&
         std::all_of(scheme.begin(), scheme.end(), later);
}

Uri parse_uri(std::string_view text) {
  const std::size_t mark = text.find("://");
  if (mark == std::string_view::npos || !valid_scheme(text.substr(0, mark))) return {{}, {}, text};
  const std::string_view rest = text.substr(mark + 3);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  return {text.substr(0, mark), rest.substr(0, slash), rest.substr(slash)};
}

std::string clean_path(std::string_view path) {
  const bool rooted = !path.empty() && path[0] == '/';
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (part.empty() || part == ".") continue;
    const bool is_up = part == "..";
    if (is_up && !parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else if (!is_up || !rooted) {
      parts.push_back(part);
    }
  }
  std::string out(rooted ? "/" : "");
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (k != 0) out += '/';
    out += parts[k];
  }
  return out.empty() ? "." : out;
}

std::string join(std::string_view directory, std::string_view name) {
  std::string out(directory);
  if (!out.empty() && out.back() != '/') out += '/';
  return out.append(name);
}

std::string parent(std::string_view path) {
  const Uri uri = parse_uri(path);
  const std::size_t before = path.size() - uri.path.size();
  std::string_view rest = uri.path;
  while (rest.size() > 1 && rest.back() == '/') rest.remove_suffix(1);
  const std::size_t slash = rest.rfind('/');
  if (slash == std::string_view::npos) return std::string(path.substr(0, before));
  rest = rest.substr(0, slash);
  while (rest.size() > 1 && rest.back() == '/') rest.remove_suffix(1);
  return std::string(path.substr(0, before)).append(rest.empty() ? "/" : rest);
}

}  // namespace drystone::host
