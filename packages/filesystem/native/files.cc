// What every filesystem of this library does alike: see files.h.
#include "files.h"

#include "errors.h"

namespace drystone::files {
namespace {

// Runs `body` for one file or directory; counts and keeps its failure.
template <class Body>
void attempt(Left& left, std::uint64_t& count, Body&& body) {
  try {
    std::forward<Body>(body)();
  } catch (...) {
    count += 1;
    if (!left.first) left.first = std::current_exception();
  }
}

std::string below(const std::string& path, const std::string& name) {
  return path.back() == '/' ? path + name : path + "/" + name;
}

}  // namespace

bool Files::walkable(const std::string& path) const {
  const auto there = look(path);
  return there && there->is_directory;
}

Found Files::found(const std::string& path) const {
  const auto there = look(path);
  if (!there) fail(TF_NOT_FOUND, "there is no such file or directory");
  return *there;
}

void Files::make_directories(const std::string& path) {
  if (const auto there = look(path)) {
    if (!there->is_directory) fail(TF_FAILED_PRECONDITION, "there is a file of this name");
    return;
  }
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    const std::string above = path.substr(0, at);
    const auto there = look(above);
    if (there && !there->is_directory) fail(TF_FAILED_PRECONDITION, above + " is a file");
    if (!there) make_directories(above);
  }
  if (walkable(path)) return;  // it ended in a slash
  try {
    make_directory(path);
  } catch (...) {
    if (!walkable(path)) throw;  // another thread was first
  }
}

Left Files::remove_tree(const std::string& path) {
  Left left;
  if (!walkable(path)) {
    const bool file = look(path).has_value();
    attempt(left, file ? left.files : left.directories, [&] { remove(path); });
    return left;
  }
  std::vector<std::string> open{path};
  std::vector<std::string> directories;
  while (!open.empty()) {
    directories.push_back(std::move(open.back()));
    open.pop_back();
    std::vector<std::string> names;
    std::uint64_t unlisted = 0;  // its own deletion fails then, and is counted there
    attempt(left, unlisted, [&] { names = children(directories.back()); });
    for (const std::string& name : names) {
      std::string child = below(directories.back(), name);
      if (walkable(child)) {
        open.push_back(std::move(child));
      } else {
        attempt(left, left.files, [&] { remove(child); });
      }
    }
  }
  for (auto at = directories.rbegin(); at != directories.rend(); ++at) {
    attempt(left, left.directories, [&] { remove_directory(*at); });
  }
  return left;
}

}  // namespace drystone::files
