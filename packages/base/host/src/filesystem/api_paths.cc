// Paths in the embedding interface: drystone_host/filesystem.h.
#include "core/buffer.h"
#include "drystone_host/filesystem.h"
#include "filesystem/handles.h"
#include "filesystem/registry.h"
#include "filesystem/uri.h"

namespace drystone::host {
namespace {

// Calls within(filesystem) when both paths are of one filesystem, else copies; whether it was
// within.
template <class Within>
bool within_or_copied(const std::string& from, const std::string& to, Within&& within) {
  const auto source = filesystem_of(from);
  const auto target = filesystem_of(to);
  if (source == target) {
    within(*source);
    return true;
  }
  copy_bytes(*source, from, *target, to);
  return false;
}

// Sets a status as a function of this interface does.
void report(TF_Status* status, const Maybe& failure) {
  guarded(status, "DS_PathsExist", [&] {
    if (failure) fail(failure->code, failure->message);
  });
}

}  // namespace
}  // namespace drystone::host

using namespace drystone::host;

extern "C" {

void DS_PathExists(const char* path, TF_Status* status) {
  guarded(status, "DS_PathExists", [&] {
    const std::string name = needed_path(path);
    filesystem_of(name)->path_exists(name);
  });
}

bool DS_PathsExist(const char* const* paths, int num_paths, TF_Status** statuses) {
  return answered(false, [&] {
    if (num_paths < 0 || (num_paths > 0 && paths == nullptr)) return false;
    const auto count = static_cast<std::size_t>(num_paths);
    std::vector<Maybe> found(count);
    std::map<std::shared_ptr<Filesystem>, std::vector<std::size_t>> groups;
    for (std::size_t k = 0; k < count; ++k) {
      found[k] = failure_of([&] { groups[filesystem_of(needed_path(paths[k]))].push_back(k); });
    }
    for (const auto& [filesystem, members] : groups) {
      std::vector<std::string> names;
      for (const std::size_t k : members) names.emplace_back(paths[k]);
      std::vector<Maybe> part(members.size());
      const Maybe all = failure_of([&] { part = filesystem->paths_exist(names); });
      for (std::size_t k = 0; k < members.size(); ++k) found[members[k]] = all ? all : part[k];
    }
    bool every = true;
    for (std::size_t k = 0; k < count; ++k) {
      every = every && !found[k];
      if (statuses != nullptr) report(statuses[k], found[k]);
    }
    return every;
  });
}

bool DS_IsDirectory(const char* path, TF_Status* status) {
  bool out = false;
  guarded(status, "DS_IsDirectory", [&] {
    const std::string name = needed_path(path);
    filesystem_of(name)->is_directory(name);
    out = true;
  });
  return out;
}

int64_t DS_GetFileSize(const char* path, TF_Status* status) {
  int64_t out = -1;
  guarded(status, "DS_GetFileSize", [&] {
    const std::string name = needed_path(path);
    out = filesystem_of(name)->file_size(name);
  });
  return out;
}

void DS_RecursivelyCreateDir(const char* path, TF_Status* status) {
  guarded(status, "DS_RecursivelyCreateDir", [&] {
    const std::string name = needed_path(path);
    filesystem_of(name)->make_dirs(name);
  });
}

void DS_RenameFile(const char* src, const char* dst, TF_Status* status) {
  guarded(status, "DS_RenameFile", [&] {
    const std::string from = needed_path(src, "src");
    const std::string to = needed_path(dst, "dst");
    const bool moved =
        within_or_copied(from, to, [&](Filesystem& filesystem) { filesystem.rename(from, to); });
    if (!moved) filesystem_of(from)->delete_file(from);
  });
}

void DS_CopyFile(const char* src, const char* dst, TF_Status* status) {
  guarded(status, "DS_CopyFile", [&] {
    const std::string from = needed_path(src, "src");
    const std::string to = needed_path(dst, "dst");
    within_or_copied(from, to, [&](Filesystem& filesystem) { filesystem.copy(from, to); });
  });
}

void DS_TranslateName(const char* path, TF_Buffer* out, TF_Status* status) {
  guarded(status, "DS_TranslateName", [&] {
    const std::string name = needed_path(path);
    fill(out, filesystem_of(name)->translated(name));
  });
}

TF_StringStream* DS_GetMatchingPaths(const char* pattern, TF_Status* status) {
  TF_StringStream* out = nullptr;
  guarded(status, "DS_GetMatchingPaths", [&] {
    const std::string name = needed_path(pattern, "pattern");
    out = new TF_StringStream(filesystem_of(name)->matching(name));
  });
  return out;
}

}  // extern "C"
