// Patterns of paths, and the walk that finds what matches one.
#include <algorithm>

#include "filesystem/filesystem.h"
#include "filesystem/uri.h"

namespace drystone::host {
namespace {

constexpr std::size_t npos = std::string_view::npos;

// The end of the set that starts at `at` ("[...]"), or npos when the bracket means itself.
std::size_t end_of_set(std::string_view pattern, std::size_t at) {
  std::size_t k = at + 1;
  if (k < pattern.size() && (pattern[k] == '!' || pattern[k] == '^')) ++k;
  if (k < pattern.size() && pattern[k] == ']') ++k;  // first in the set it is a member
  for (; k < pattern.size(); ++k) {
    if (pattern[k] == ']') return k;
    if (pattern[k] == '\\') ++k;
  }
  return npos;
}

// Whether a character is in the set between the brackets.
bool in_set(std::string_view set, char wanted) {
  const bool negated = !set.empty() && (set[0] == '!' || set[0] == '^');
  const auto c = static_cast<unsigned char>(wanted);
  bool found = false;
  std::size_t k = negated ? 1 : 0;
  const auto next = [&] {
    if (set[k] == '\\' && k + 1 < set.size()) ++k;
    return static_cast<unsigned char>(set[k++]);
  };
  while (k < set.size()) {
    const unsigned char low = next();
    unsigned char high = low;
    if (k + 1 < set.size() && set[k] == '-') {
      ++k;
      high = next();
    }
    found = found || (low <= c && c <= high);
  }
  return found != negated;
}

// Length of the pattern's element at `at` when it takes the character, else 0. Not for "*".
std::size_t takes(std::string_view pattern, std::size_t at, char c) {
  if (pattern[at] == '?') return 1;
  if (pattern[at] == '[') {
    const std::size_t end = end_of_set(pattern, at);
    if (end != npos) {
      return in_set(pattern.substr(at + 1, end - at - 1), c) ? end - at + 1 : 0;
    }
  }
  const bool escaped = pattern[at] == '\\' && at + 1 < pattern.size();
  return pattern[at + (escaped ? 1 : 0)] == c ? (escaped ? 2 : 1) : 0;
}

bool has_wildcard(std::string_view part) {
  for (std::size_t k = 0; k < part.size(); ++k) {
    if (part[k] == '\\') {
      ++k;
    } else if (part[k] == '*' || part[k] == '?' ||
               (part[k] == '[' && end_of_set(part, k) != npos)) {
      return true;
    }
  }
  return false;
}

std::string unescaped(std::string_view part) {
  std::string out;
  for (std::size_t k = 0; k < part.size(); ++k) {
    if (part[k] == '\\' && k + 1 < part.size()) ++k;
    out += part[k];
  }
  return out;
}

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> out;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (slash != 0) out.push_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return out;
}

// The names in a directory; none where there is no directory that may be read.
std::vector<std::string> names_in(Filesystem& filesystem, const std::string& path) {
  std::vector<std::string> names;
  const Maybe failure = failure_of([&] { names = filesystem.children(path.empty() ? "." : path); });
  if (failure && failure->code != TF_NOT_FOUND && failure->code != TF_FAILED_PRECONDITION &&
      failure->code != TF_PERMISSION_DENIED) {
    fail(failure->code, failure->message);
  }
  for (auto& name : names) {
    while (!name.empty() && name.back() == '/') name.pop_back();
  }
  return names;
}

}  // namespace

// On a mismatch only the last "*" takes one character more: that is enough, and never exponential.
bool matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = npos;
  std::size_t taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
      continue;
    }
    const std::size_t step = p < pattern.size() ? takes(pattern, p, name[n]) : 0;
    if (step != 0) {
      p += step;
      ++n;
    } else if (star != npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::vector<std::string> walk_matching(Filesystem& filesystem, const std::string& pattern) {
  const Uri uri = parse_uri(pattern);
  std::string start = pattern.substr(0, pattern.size() - uri.path.size());
  if (!uri.path.empty() && uri.path[0] == '/') start += '/';
  std::vector<std::string> found{start};
  bool exist = false;  // whether what was found is known to exist
  for (const std::string_view part : parts_of(uri.path)) {
    std::vector<std::string> next;
    exist = has_wildcard(part);
    for (const auto& at : found) {
      if (!exist) {
        next.push_back(join(at, unescaped(part)));
        continue;
      }
      for (const auto& name : names_in(filesystem, at)) {
        if (!name.empty() && matches(part, name)) next.push_back(join(at, name));
      }
    }
    found = std::move(next);
  }
  if (!exist) {
    const auto missing = filesystem.paths_exist(found);
    std::vector<std::string> there;
    for (std::size_t k = 0; k < found.size(); ++k) {
      if (!missing[k]) there.push_back(found[k]);
    }
    found = std::move(there);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace drystone::host
