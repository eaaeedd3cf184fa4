// Looking at the bytes of a library before the dynamic linker does.
#ifndef DRYSTONE_HOST_LIBRARY_INSPECT_H_
#define DRYSTONE_HOST_LIBRARY_INSPECT_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace drystone::host {

// What tells one state of a file from another. Who writes to a file can set the time of its change
// (modified) back, but not the time of that (changed).
struct FileState {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  std::int64_t modified = 0;  // nanoseconds
  std::int64_t changed = 0;

  bool operator==(const FileState&) const = default;
};

// The state of the file of that name; that of none where there is none.
FileState state_of(const std::string& path) noexcept;

// A file in memory, read-only: every check reads through the one descriptor that it was opened by.
class FileBytes {
 public:
  explicit FileBytes(const std::string& path);  // throws Failure
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::string_view view() const noexcept;
  const FileState& state() const noexcept { return state_; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
  FileState state_;
};

// Fails (INVALID_ARGUMENT) unless `file`, the bytes of `path`, is a whole ELF file for this machine.
// The linker maps what the header states; reading past the end of a truncated file would end the
// process.
void require_whole_library(const std::string& path, std::string_view file);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_INSPECT_H_
