// Patterns of paths: see glob.h.
#include "glob.h"

#include <algorithm>

#include "errors.h"
#include "paths.h"

namespace drystone::files {
namespace {

// One element of a pattern: a star, or the bytes that may stand at its place.
struct Element {
  bool star = false;
  bool any = false;
  bool negated = false;
  std::vector<std::pair<unsigned char, unsigned char>> ranges;

  bool takes(char byte) const {
    const auto c = static_cast<unsigned char>(byte);
    const bool in = std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
      return range.first <= c && c <= range.second;
    });
    return any || in != negated;
  }
};

// Reads the set after "[" at `at`, and moves behind its "]"; false when there is none, and the
// bracket means itself.
bool read_set(std::string_view pattern, std::size_t* at, Element* out) {
  std::size_t k = *at;
  const auto next = [&] {
    if (pattern[k] == '\\' && k + 1 < pattern.size()) ++k;
    return static_cast<unsigned char>(pattern[k++]);
  };
  if (k < pattern.size() && (pattern[k] == '!' || pattern[k] == '^')) {
    out->negated = true;
    ++k;
  }
  for (bool first = true; k < pattern.size(); first = false) {
    if (pattern[k] == ']' && !first) {
      *at = k + 1;
      return true;
    }
    const unsigned char low = next();
    const bool range = k + 1 < pattern.size() && pattern[k] == '-' && pattern[k + 1] != ']';
    if (range) ++k;
    out->ranges.emplace_back(low, range ? next() : low);
  }
  return false;
}

std::vector<Element> elements_of(std::string_view pattern) {
  std::vector<Element> out;
  for (std::size_t k = 0; k < pattern.size();) {
    Element one;
    char c = pattern[k++];
    if (c == '*') {
      one.star = true;
    } else if (c == '?') {
      one.any = true;
    } else if (c != '[' || !read_set(pattern, &k, &one)) {
      if (c == '\\' && k < pattern.size()) c = pattern[k++];
      one = Element();
      one.ranges = {{static_cast<unsigned char>(c), static_cast<unsigned char>(c)}};
    }
    out.push_back(std::move(one));
  }
  return out;
}

// What a part means when no element of it leaves a choice; else false.
bool is_plain(const std::vector<Element>& elements, std::string* name) {
  for (const Element& one : elements) {
    const bool single = !one.star && !one.any && !one.negated && one.ranges.size() == 1 &&
                        one.ranges[0].first == one.ranges[0].second;
    if (!single) return false;
    name->push_back(static_cast<char>(one.ranges[0].first));
  }
  return true;
}

bool matches(const std::vector<Element>& elements, std::string_view name) {
  std::size_t at = 0;
  std::size_t star = elements.size();  // the last star passed, and what it has taken up to
  std::size_t taken = 0;
  for (std::size_t k = 0; k < name.size();) {
    if (at < elements.size() && elements[at].star) {
      star = at++;
      taken = k;
    } else if (at < elements.size() && elements[at].takes(name[k])) {
      ++at;
      ++k;
    } else if (star < elements.size()) {
      at = star + 1;
      k = ++taken;
    } else {
      return false;
    }
  }
  return std::all_of(elements.begin() + static_cast<std::ptrdiff_t>(at), elements.end(),
                     [](const Element& one) { return one.star; });
}

// The names in a directory; none where there is none that may be read.
std::vector<std::string> names_in(const Files& files, const std::string& uri) {
  try {
    return files.children(files.translated(uri));
  } catch (const SystemError&) {
    return {};
  } catch (const Error& error) {
    if (error.code == TF_NOT_FOUND || error.code == TF_FAILED_PRECONDITION) return {};
    throw;
  }
}

}  // namespace

bool matches(std::string_view pattern, std::string_view name) {
  return matches(elements_of(pattern), name);
}

std::vector<std::string> matching_paths(const Files& files, const std::string& pattern) {
  const std::size_t head = head_of(pattern);
  std::vector<std::string> found{pattern.substr(0, head)};
  bool exist = false;  // whether what was found is known to exist
  for (const std::string_view part : parts_of(std::string_view(pattern).substr(head))) {
    std::vector<std::string> next;
    const auto elements = elements_of(part);
    std::string plain;
    exist = !is_plain(elements, &plain);
    for (const std::string& above : found) {
      if (!exist) next.push_back(above + "/" + plain);
      if (!exist) continue;
      for (const std::string& name : names_in(files, above)) {
        if (matches(elements, name)) next.push_back(above + "/" + name);
      }
    }
    found = std::move(next);
  }
  if (!exist) std::erase_if(found, [&](const auto& uri) { return !files.look(files.translated(uri)); });
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace drystone::files
