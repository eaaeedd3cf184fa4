// Handles of the env and embedding interfaces.
#ifndef DRYSTONE_HOST_FILESYSTEM_HANDLES_H_
#define DRYSTONE_HOST_FILESYSTEM_HANDLES_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/live.h"
#include "drystone/env.h"
#include "filesystem/filesystem.h"

namespace drystone::host {

// Counts an open file among the live objects.
struct CountedFile {
  CountedFile() { born(Kind::file); }
  ~CountedFile() { died(Kind::file); }
  CountedFile(const CountedFile&) = delete;
  CountedFile& operator=(const CountedFile&) = delete;
};

// A path that must be there.
inline std::string needed_path(const char* path, const char* name = "path") {
  require(path, name);
  return path;
}

}  // namespace drystone::host

struct TF_WritableFileHandle {
  explicit TF_WritableFileHandle(std::unique_ptr<drystone::host::WritableFile> opened)
      : file(std::move(opened)) {}
  drystone::host::CountedFile counted;
  std::unique_ptr<drystone::host::WritableFile> file;
};

struct TF_StringStream {
  explicit TF_StringStream(std::vector<std::string> given) : texts(std::move(given)) {}
  std::vector<std::string> texts;
  std::size_t next = 0;
};

#endif  // DRYSTONE_HOST_FILESYSTEM_HANDLES_H_
