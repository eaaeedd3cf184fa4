// A filesystem as the host sees it: the local one, or the tables of a plugin.
#ifndef DRYSTONE_HOST_FILESYSTEM_FILESYSTEM_H_
#define DRYSTONE_HOST_FILESYSTEM_FILESYSTEM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/failure.h"
#include "drystone/file_statistics.h"

namespace drystone::host {

// All of these throw Failure, and their destructors free what was opened.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  // How many bytes there were: fewer than `size` only at the end of the file.
  virtual std::size_t read(std::uint64_t offset, char* buffer, std::size_t size) = 0;
};

class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual void append(std::string_view bytes) = 0;
  virtual std::int64_t tell() = 0;
  virtual void flush() = 0;
  virtual void sync() = 0;
  virtual void close() = 0;  // at most once, and nothing after it
};

class MemoryRegion {
 public:
  virtual ~MemoryRegion() = default;
  virtual const void* data() = 0;
  virtual std::uint64_t length() = 0;
};

// Bytes asked for at once when the host itself reads a whole file. Not more: the GCS plugin of
// TensorFlow I/O 0.37.1 writes past a buffer of its own when it is asked for more than 128 KiB.
inline constexpr std::size_t kPiece = std::size_t{1} << 17;

using Maybe = std::optional<Failure>;

// What is left of a tree after it was deleted.
struct Undeleted {
  std::uint64_t files = 0;
  std::uint64_t directories = 0;
  Maybe failure;  // the first
};

// Paths are as users write them, scheme and all. The members that are not pure do with the others
// what drystone/filesystem.h says of a member that is NULL.
class Filesystem {
 public:
  Filesystem() = default;
  virtual ~Filesystem() = default;
  Filesystem(const Filesystem&) = delete;
  Filesystem& operator=(const Filesystem&) = delete;

  virtual std::string library() const = 0;               // path; empty for the host's own
  virtual std::vector<std::string> offers() const = 0;   // names of members
  virtual std::string translated(const std::string& path) = 0;

  virtual std::unique_ptr<ReadableFile> open_readable(const std::string& path) = 0;
  virtual std::unique_ptr<WritableFile> open_writable(const std::string& path) = 0;
  virtual std::unique_ptr<WritableFile> open_appendable(const std::string& path) = 0;
  virtual std::unique_ptr<MemoryRegion> open_region(const std::string& path) = 0;

  virtual void create_dir(const std::string& path) = 0;
  virtual void delete_file(const std::string& path) = 0;
  virtual void delete_dir(const std::string& path) = 0;
  virtual void path_exists(const std::string& path) = 0;  // fails with NOT_FOUND
  virtual TF_FileStatistics stat(const std::string& path) = 0;
  virtual std::vector<std::string> children(const std::string& path) = 0;

  virtual std::vector<Maybe> paths_exist(const std::vector<std::string>& paths);
  virtual void is_directory(const std::string& path);  // fails with FAILED_PRECONDITION for a file
  virtual std::int64_t file_size(const std::string& path);
  virtual void make_dirs(const std::string& path);
  virtual Undeleted delete_recursively(const std::string& path);
  virtual void rename(const std::string& from, const std::string& to);
  virtual void copy(const std::string& from, const std::string& to);
  virtual std::vector<std::string> matching(const std::string& pattern);
  virtual void flush_caches() {}

 protected:
  // Whether the walk of delete_recursively goes into it.
  virtual bool walkable(const std::string& path);
};

// The failure of `body`, if it fails.
template <class Body>
Maybe failure_of(Body&& body) {
  try {
    std::forward<Body>(body)();
  } catch (Failure& failure) {
    return std::move(failure);
  }
  return std::nullopt;
}

// Copies bytes from one filesystem to another (or the same).
void copy_bytes(Filesystem& source, const std::string& from, Filesystem& target,
                const std::string& to);

// The default of get_matching_paths: a walk with path_exists and children. Sorted.
std::vector<std::string> walk_matching(Filesystem& filesystem, const std::string& pattern);

// Whether one part of a path matches one part of a pattern.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_FILESYSTEM_FILESYSTEM_H_
