// The local filesystem: see local.h.
#include "filesystem/local.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "filesystem/uri.h"

namespace drystone::host {
namespace {

struct CloseDir {
  void operator()(DIR* directory) const { closedir(directory); }
};

class LocalFilesystem : public Filesystem {
 public:
  std::string library() const override { return {}; }
  std::vector<std::string> offers() const override {
    return {"new_random_access_file", "new_writable_file", "new_appendable_file",
            "new_read_only_memory_region_from_file", "create_dir", "delete_file", "delete_dir",
            "rename_file", "copy_file", "path_exists", "stat", "translate_name", "get_children",
            "random_access_file.read", "writable_file.append", "writable_file.tell",
            "writable_file.flush", "writable_file.sync", "writable_file.close",
            "read_only_memory_region.data", "read_only_memory_region.length"};
  }

  std::string translated(const std::string& path) override {
    const Uri uri = parse_uri(path);
    if (!uri.scheme.empty() && !uri.host.empty() && uri.host != "localhost") {
      fail(TF_INVALID_ARGUMENT, path + ": a file on another host (\"" + std::string(uri.host) +
                                    "\"); needed: file:///path");
    }
    return uri.scheme.empty() || !uri.path.empty() ? std::string(uri.path) : "/";
  }

  std::unique_ptr<ReadableFile> open_readable(const std::string& path) override {
    return open_local_readable(translated(path));
  }
  std::unique_ptr<WritableFile> open_writable(const std::string& path) override {
    return open_local_writable(translated(path), 'w');
  }
  std::unique_ptr<WritableFile> open_appendable(const std::string& path) override {
    return open_local_writable(translated(path), 'a');
  }
  std::unique_ptr<MemoryRegion> open_region(const std::string& path) override {
    return open_local_region(translated(path));
  }

  void create_dir(const std::string& path) override {
    const std::string local = translated(path);
    if (local.empty()) fail_errno(EEXIST, "the empty path");
    check(mkdir(local.c_str(), 0777), path);
  }
  void delete_file(const std::string& path) override {
    check(unlink(translated(path).c_str()), path);
  }
  void delete_dir(const std::string& path) override {
    check(rmdir(translated(path).c_str()), path);
  }
  void path_exists(const std::string& path) override {
    if (access(translated(path).c_str(), F_OK) == 0) return;
    fail_errno(errno == ENOTDIR ? ENOENT : errno, path);  // below a file there is nothing
  }

  TF_FileStatistics stat(const std::string& path) override {
    struct ::stat found {};
    check(::stat(translated(path).c_str(), &found), path);
    const bool directory = S_ISDIR(found.st_mode);
    return {directory ? 0 : static_cast<std::int64_t>(found.st_size),
            static_cast<std::int64_t>(found.st_mtim.tv_sec) * 1'000'000'000 + found.st_mtim.tv_nsec,
            directory};
  }

  std::vector<std::string> children(const std::string& path) override {
    const std::unique_ptr<DIR, CloseDir> directory(opendir(translated(path).c_str()));
    if (directory == nullptr) fail_errno(errno, path);
    std::vector<std::string> names;
    for (errno = 0; const dirent* entry = readdir(directory.get()); errno = 0) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(name);
    }
    if (errno != 0) fail_errno(errno, path);
    std::sort(names.begin(), names.end());
    return names;
  }

  void rename(const std::string& from, const std::string& to) override {
    if (std::rename(translated(from).c_str(), translated(to).c_str()) == 0) return;
    if (errno != EXDEV) fail_errno(errno, from + " to " + to);
    Filesystem::rename(from, to);  // to another disk: copy, then delete
  }

  void copy(const std::string& from, const std::string& to) override {
    struct ::stat source {};
    struct ::stat target {};
    check(::stat(translated(from).c_str(), &source), from);
    const bool there = ::stat(translated(to).c_str(), &target) == 0;
    if (there && source.st_dev == target.st_dev && source.st_ino == target.st_ino) return;
    copy_bytes(*this, from, *this, to);
  }

 protected:
  bool walkable(const std::string& path) override {
    struct ::stat found {};
    return lstat(translated(path).c_str(), &found) == 0 && S_ISDIR(found.st_mode);
  }

 private:
  static void check(int answer, const std::string& path) {
    if (answer != 0) fail_errno(errno, path);
  }
};

}  // namespace

std::shared_ptr<Filesystem> local_filesystem() {
  static auto* one = new std::shared_ptr<Filesystem>(std::make_shared<LocalFilesystem>());
  return *one;  // never destroyed: plugins may use files during exit
}

}  // namespace drystone::host
