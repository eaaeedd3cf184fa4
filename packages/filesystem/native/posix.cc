// "posix://": the files of the system, by the system's own calls.
//
// The path of a URI is handed to the system as it is written, so "..", links and doubled slashes
// mean there what they always mean. A URI may have no host but "localhost".
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "errors.h"
#include "paths.h"
#include "posix_open.h"
#include "schemes.h"

namespace drystone::files {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

void check(int answer, const std::string& path) {
  if (answer != 0) fail_errno(errno, path);
}

bool same_file(const std::string& one, const std::string& other) {
  struct stat first {};
  struct stat second {};
  return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

class Posix : public Files {
 public:
  Posix() : Files(posix_options()) {}

  std::string translated(const std::string& uri) const override {
    const std::size_t host = host_of(uri);
    const std::size_t head = head_of(uri);
    const std::string named = uri.substr(host, head - host);
    if (host != 0 && !named.empty() && named != "localhost") return uri;  // there is no such file
    return head == uri.size() ? "/" : uri.substr(head);
  }

  std::optional<Found> look(const std::string& path) const override {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;  // below a file is nothing
      fail_errno(errno, path);
    }
    const bool directory = S_ISDIR(found.st_mode);
    return Found{directory ? 0 : static_cast<std::int64_t>(found.st_size),
                 static_cast<std::int64_t>(found.st_mtim.tv_sec) * 1'000'000'000 +
                     found.st_mtim.tv_nsec,
                 directory};
  }

  bool walkable(const std::string& path) const override {
    struct stat found {};
    return lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
  }

  std::vector<std::string> children(const std::string& path) const override {
    const std::unique_ptr<DIR, CloseDirectory> directory(opendir(path.c_str()));
    if (directory == nullptr) fail_errno(errno, path);
    std::vector<std::string> names;
    for (errno = 0; const dirent* entry = readdir(directory.get()); errno = 0) {
      std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(std::move(name));
    }
    if (errno != 0) fail_errno(errno, path);
    std::sort(names.begin(), names.end());
    return names;
  }

  std::unique_ptr<Reader> open(const std::string& path) const override { return posix_open(path); }
  std::unique_ptr<Writer> write(const std::string& path, Writing how) override {
    return posix_write(*this, path, how);
  }
  std::unique_ptr<Region> map(const std::string& path) const override { return posix_map(path); }

  void make_directory(const std::string& path) override { check(mkdir(path.c_str(), 0777), path); }
  void remove(const std::string& path) override { check(unlink(path.c_str()), path); }
  void remove_directory(const std::string& path) override { check(rmdir(path.c_str()), path); }

  void rename(const std::string& from, const std::string& to) override {
    if (std::rename(from.c_str(), to.c_str()) == 0) return;
    if (errno != EXDEV || walkable(from)) fail_errno(errno, from + " to " + to);
    copy(from, to);  // to another disk
    remove(from);
  }

  void copy(const std::string& from, const std::string& to) override {
    const auto source = open(from);
    if (same_file(from, to)) return;
    const auto target = write(to, Writing::kReplace);
    std::string piece(std::size_t{1} << 20, '\0');
    for (std::uint64_t offset = 0;;) {
      const std::size_t got = source->read(offset, piece.data(), piece.size());
      target->append({piece.data(), got});
      if (got < piece.size()) break;
      offset += got;
    }
    target->close();
  }
};

}  // namespace

void init_posix(TF_Filesystem* filesystem, TF_Status* status) {
  guarded(status, [&] { filesystem->plugin_filesystem = static_cast<Files*>(new Posix()); });
}

}  // namespace drystone::files
