// Temporary files and the clock of the environment: drystone/env.h.
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "drystone/env.h"
#include "filesystem/handles.h"
#include "filesystem/uri.h"

namespace drystone::host {
namespace {

bool is_directory(const char* path) {
  struct stat found {};
  return ::stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

std::vector<std::string> temporary_directories() {
  const char* candidates[] = {std::getenv("TEST_TMPDIR"), std::getenv("TMPDIR"),
                              std::getenv("TMP"), "/tmp"};
  std::vector<std::string> out;
  for (const char* path : candidates) {
    if (path != nullptr && is_directory(path)) out.emplace_back(path);
  }
  return out;
}

// A new empty file in one of the directories, or "".
std::string new_temporary_file(const char* extension) {
  const char* given = extension == nullptr ? "" : extension;
  const std::string end = *given == '\0' || *given == '.' ? given : std::string(".") + given;
  if (end.find('/') != std::string::npos) return {};
  for (const std::string& directory : temporary_directories()) {
    std::string path = join(directory, "drystone_XXXXXX" + end);
    const int file = mkstemps(path.data(), static_cast<int>(end.size()));
    if (file < 0) continue;
    close(file);
    return path;
  }
  return {};
}

template <class Unit>
uint64_t now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<Unit>(since).count());
}

}  // namespace
}  // namespace drystone::host

using namespace drystone::host;

extern "C" {

TF_StringStream* TF_GetLocalTempDirectories(void) {
  return answered<TF_StringStream*>(
      nullptr, [] { return new TF_StringStream(temporary_directories()); });
}

char* TF_GetTempFileName(const char* extension) {
  return answered<char*>(nullptr, [&]() -> char* {
    const std::string path = new_temporary_file(extension);
    return path.empty() ? nullptr : strdup(path.c_str());
  });
}

uint64_t TF_NowNanos(void) { return now<std::chrono::nanoseconds>(); }
uint64_t TF_NowMicros(void) { return now<std::chrono::microseconds>(); }
uint64_t TF_NowSeconds(void) { return now<std::chrono::seconds>(); }

}  // extern "C"
