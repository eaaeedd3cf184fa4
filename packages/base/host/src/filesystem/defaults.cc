// What the host does where a filesystem offers no function of its own.
#include <algorithm>

#include "filesystem/filesystem.h"
#include "filesystem/uri.h"

namespace drystone::host {
namespace {

constexpr std::size_t kDeepest = 2000;  // directories in one another that a walk follows

bool one_of(const Maybe& failure, std::initializer_list<TF_Code> codes) {
  return failure && std::find(codes.begin(), codes.end(), failure->code) != codes.end();
}

// The walk of delete_recursively.
class Deletion {
 public:
  explicit Deletion(Undeleted& left) : left_(left) {}

  void keep(Maybe failure, std::uint64_t Undeleted::* count) {
    if (!failure) return;
    left_.*count += 1;
    if (!left_.failure) left_.failure = std::move(failure);
  }

 private:
  Undeleted& left_;
};

struct Found {
  std::string path;
  std::size_t depth;
};

bool proper(const std::string& name) { return !name.empty() && name != "." && name != ".."; }

std::string without_slash(std::string name) {
  while (!name.empty() && name.back() == '/') name.pop_back();
  return name;
}

}  // namespace

std::vector<Maybe> Filesystem::paths_exist(const std::vector<std::string>& paths) {
  std::vector<Maybe> out;
  for (const auto& path : paths) out.push_back(failure_of([&] { path_exists(path); }));
  return out;
}

void Filesystem::is_directory(const std::string& path) {
  if (!stat(path).is_directory) fail(TF_FAILED_PRECONDITION, path + ": not a directory");
}

std::int64_t Filesystem::file_size(const std::string& path) {
  const TF_FileStatistics found = stat(path);
  if (found.is_directory) fail(TF_FAILED_PRECONDITION, path + ": is a directory");
  return found.length;
}

void Filesystem::make_dirs(const std::string& path) {
  std::vector<std::string> missing;
  for (std::string at = path;; at = parent(at)) {
    const Maybe failure = failure_of([&] { path_exists(at); });
    if (!failure) {
      const Maybe kind = failure_of([&] { is_directory(at); });
      if (kind && one_of(kind, {TF_FAILED_PRECONDITION})) fail(kind->code, kind->message);
      break;
    }
    if (!one_of(failure, {TF_NOT_FOUND})) fail(failure->code, failure->message);
    if (!at.empty()) missing.push_back(at);
    if (at.empty() || parent(at) == at) break;
  }
  for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
    const Maybe failure = failure_of([&] { create_dir(*at); });
    if (failure && failure->code != TF_ALREADY_EXISTS) fail(failure->code, failure->message);
  }
}

bool Filesystem::walkable(const std::string& path) {
  return !failure_of([&] { is_directory(path); });
}

Undeleted Filesystem::delete_recursively(const std::string& path) {
  Undeleted left;
  Deletion deletion(left);
  if (Maybe missing = failure_of([&] { path_exists(path); }); one_of(missing, {TF_NOT_FOUND})) {
    deletion.keep(std::move(missing), &Undeleted::directories);
    return left;
  }
  if (!walkable(path)) {
    deletion.keep(failure_of([&] { delete_file(path); }), &Undeleted::files);
    return left;
  }
  std::vector<Found> open{{path, 0}};
  std::vector<std::string> directories;
  while (!open.empty()) {
    const Found at = std::move(open.back());
    open.pop_back();
    directories.push_back(at.path);
    if (at.depth >= kDeepest) continue;  // its own deletion fails then, and is counted
    std::vector<std::string> names;
    const Maybe listing = failure_of([&] { names = children(at.path); });
    if (listing && !left.failure) left.failure = listing;
    for (auto& name : names) {
      name = without_slash(std::move(name));
      if (!proper(name)) continue;
      const std::string child = join(at.path, name);
      if (walkable(child)) {
        open.push_back({child, at.depth + 1});
      } else {
        deletion.keep(failure_of([&] { delete_file(child); }), &Undeleted::files);
      }
    }
  }
  for (auto at = directories.rbegin(); at != directories.rend(); ++at) {
    deletion.keep(failure_of([&] { delete_dir(*at); }), &Undeleted::directories);
  }
  return left;
}

void Filesystem::rename(const std::string& from, const std::string& to) {
  if (translated(from) == translated(to)) return path_exists(from);
  copy(from, to);
  delete_file(from);
}

void Filesystem::copy(const std::string& from, const std::string& to) {
  if (translated(from) == translated(to)) return path_exists(from);
  copy_bytes(*this, from, *this, to);
}

void copy_bytes(Filesystem& source, const std::string& from, Filesystem& target,
                const std::string& to) {
  const auto input = source.open_readable(from);
  const auto output = target.open_writable(to);
  std::string piece(kPiece, '\0');
  for (std::uint64_t offset = 0;;) {
    const std::size_t got = input->read(offset, piece.data(), piece.size());
    if (got != 0) output->append({piece.data(), got});
    if (got < piece.size()) break;
    offset += got;
  }
  output->close();
}

std::vector<std::string> Filesystem::matching(const std::string& pattern) {
  return walk_matching(*this, pattern);
}

}  // namespace drystone::host
