// Dispatch of a filesystem's calls to a plugin's table, and to the defaults where a member is NULL.
#include <cstring>
#include <string_view>

#include "core/guarded.h"
#include "filesystem/plugin.h"
#include "filesystem/uri.h"

namespace drystone::host {
namespace {

// Whether one of the parts of a path leads up.
bool climbs(std::string_view path) {
  for (;;) {
    const std::size_t slash = path.find('/');
    if (path.substr(0, slash) == "..") return true;
    if (slash == std::string_view::npos) return false;
    path.remove_prefix(slash + 1);
  }
}

// Whether it names an entry of a folder: folders may end in one slash.
bool is_entry(std::string_view name) {
  if (name.size() > 1 && name.back() == '/') name.remove_suffix(1);
  return name.find('/') == std::string_view::npos && name != "..";
}

class PluginFilesystem : public Filesystem {
 public:
  explicit PluginFilesystem(Plugin plugin)
      : state_(std::make_shared<PluginState>(std::move(plugin))) {}

  const std::shared_ptr<PluginState>& state() const { return state_; }
  std::string library() const override { return plugin().library; }
  std::vector<std::string> offers() const override { return members_of(plugin().tables); }
  std::string translated(const std::string& path) override;

  std::unique_ptr<ReadableFile> open_readable(const std::string& path) override {
    return open_plugin_readable(state_, path, translated(path));
  }
  std::unique_ptr<WritableFile> open_writable(const std::string& path) override {
    return open_plugin_writable(state_, path, translated(path), false);
  }
  std::unique_ptr<WritableFile> open_appendable(const std::string& path) override {
    return open_plugin_writable(state_, path, translated(path), true);
  }
  std::unique_ptr<MemoryRegion> open_region(const std::string& path) override {
    return open_plugin_region(state_, path, translated(path));
  }

  void create_dir(const std::string& path) override { one("create_dir", ops().create_dir, path); }
  void delete_file(const std::string& path) override {
    one("delete_file", ops().delete_file, path);
  }
  void delete_dir(const std::string& path) override { one("delete_dir", ops().delete_dir, path); }
  void path_exists(const std::string& path) override {
    one("path_exists", ops().path_exists, path);
  }
  TF_FileStatistics stat(const std::string& path) override {
    Guarded<TF_FileStatistics> found;
    plugin().need(path, "stat", ops().stat, [&](TF_Status* status) {
      ops().stat(handle(), translated(path).c_str(), found.get(), status);
    });
    check(found, path, "stat", "TF_FileStatistics");
    plugin().checked_size(found->length, path, "stat");
    check_time(found->mtime_nsec, path);
    unsigned char directory = 0;  // a plugin may have written another byte than 0 and 1
    std::memcpy(&directory, &found->is_directory, 1);
    return {found->length, found->mtime_nsec, directory != 0};
  }
  std::vector<std::string> children(const std::string& path) override {
    constexpr const char* kName = "get_children";
    auto names = listed(kName, ops().get_children, path, translated(path));
    for (const std::string& name : names) {
      if (!is_entry(name)) fail(TF_INTERNAL, plugin().told(path, kName, outside(name)));
    }
    return names;
  }

  std::vector<Maybe> paths_exist(const std::vector<std::string>& paths) override;
  void is_directory(const std::string& path) override;
  std::int64_t file_size(const std::string& path) override;
  Undeleted delete_recursively(const std::string& path) override;
  void make_dirs(const std::string& path) override {
    if (ops().recursively_create_dir == nullptr) return Filesystem::make_dirs(path);
    one("recursively_create_dir", ops().recursively_create_dir, path);
  }
  void rename(const std::string& from, const std::string& to) override {
    if (ops().rename_file == nullptr) return Filesystem::rename(from, to);
    two("rename_file", ops().rename_file, from, to);
  }
  void copy(const std::string& from, const std::string& to) override {
    if (ops().copy_file == nullptr) return Filesystem::copy(from, to);
    two("copy_file", ops().copy_file, from, to);
  }
  std::vector<std::string> matching(const std::string& pattern) override {
    if (ops().get_matching_paths == nullptr) return Filesystem::matching(pattern);
    constexpr const char* kName = "get_matching_paths";
    auto paths = listed(kName, ops().get_matching_paths, pattern, pattern);
    for (const std::string& path : paths) {
      if (climbs(path) && !climbs(pattern)) {
        fail(TF_INTERNAL, plugin().told(pattern, kName, outside(path)));
      }
    }
    return paths;
  }
  void flush_caches() override {
    if (ops().flush_caches == nullptr) return;
    const std::string path = plugin().scheme + "://";
    plugin().call(path, "flush_caches", [&](TF_Status*) { ops().flush_caches(handle()); });
    state_->check_handle(path, "flush_caches");
  }

 private:
  using OnPath = void (*)(const TF_Filesystem*, const char*, TF_Status*);
  using OnTwo = void (*)(const TF_Filesystem*, const char*, const char*, TF_Status*);
  using Listing = int (*)(const TF_Filesystem*, const char*, char***, TF_Status*);

  static std::string outside(const std::string& name) {
    return "answered " + name + ", which is outside of what it was asked for";
  }

  const Plugin& plugin() const { return state_->plugin; }
  const TF_FilesystemOps& ops() const { return plugin().tables.filesystem; }
  const TF_Filesystem* handle() const { return state_->handle(); }

  // What a call of a member was given.
  template <class T>
  void check(const T& given, const std::string& path, const char* member, const char* what) const {
    plugin().check_whole(given, path, member, what);
    state_->check_handle(path, member);
  }

  // Of a file that was changed between 1900 and 2200.
  void check_time(std::int64_t nanoseconds, const std::string& path) const {
    constexpr std::int64_t kFirst = -2'208'988'800;
    constexpr std::int64_t kLast = 7'258'118'400;
    const std::int64_t seconds = nanoseconds / 1'000'000'000;
    if (seconds >= kFirst && seconds <= kLast) return;
    fail(TF_INTERNAL, plugin().told(path, "stat", "answered a time of change of " + std::to_string(nanoseconds) +
                                                      " ns, which is in no year from 1900 to 2200"));
  }

  void one(const char* name, OnPath member, const std::string& path) {
    plugin().need(path, name, member, [&](TF_Status* status) {
      member(handle(), translated(path).c_str(), status);
    });
    state_->check_handle(path, name);
  }

  void two(const char* name, OnTwo member, const std::string& from, const std::string& to) {
    plugin().need(from + " to " + to, name, member, [&](TF_Status* status) {
      member(handle(), translated(from).c_str(), translated(to).c_str(), status);
    });
    state_->check_handle(from, name);
  }

  std::vector<std::string> listed(const char* name, Listing member, const std::string& path,
                                  const std::string& local) {
    Guarded<char**> entries;
    const int count = plugin().need(path, name, member, [&](TF_Status* status) {
      return member(handle(), local.c_str(), entries.get(), status);
    });
    check(entries, path, name, "pointer to the array");
    return plugin().taken(*entries, count, path, name);
  }

  std::shared_ptr<PluginState> state_;
};

std::string PluginFilesystem::translated(const std::string& path) {
  if (ops().translate_name != nullptr) {
    char* text = plugin().call(path, "translate_name", [&](TF_Status*) {
      return ops().translate_name(handle(), path.c_str());
    });
    if (text != nullptr) return plugin().taken(text, path, "translate_name");
  }
  const Uri uri = parse_uri(path);
  return uri.path.empty() ? "/" : clean_path(uri.path);
}

std::vector<Maybe> PluginFilesystem::paths_exist(const std::vector<std::string>& paths) {
  if (ops().paths_exist == nullptr) return Filesystem::paths_exist(paths);
  std::vector<std::string> locals;
  for (const auto& path : paths) locals.push_back(translated(path));
  std::vector<std::unique_ptr<TF_Status>> owned;
  for (std::size_t k = 0; k < paths.size(); ++k) owned.push_back(std::make_unique<TF_Status>());
  GuardedBytes pointers(paths.size() * sizeof(char*));
  GuardedBytes statuses(paths.size() * sizeof(TF_Status*));
  auto** const names = reinterpret_cast<char**>(pointers.data());
  auto** const results = reinterpret_cast<TF_Status**>(statuses.data());
  for (std::size_t k = 0; k < paths.size(); ++k) names[k] = locals[k].data(), results[k] = owned[k].get();
  const std::string where = plugin().scheme + "://";
  plugin().call(where, "paths_exist", [&](TF_Status*) {
    return ops().paths_exist(handle(), names, static_cast<int>(paths.size()), results);
  });
  check(pointers, where, "paths_exist", "array of paths");
  check(statuses, where, "paths_exist", "array of statuses");
  std::vector<Maybe> out;
  for (std::size_t k = 0; k < paths.size(); ++k) {
    const TF_Status& status = *owned[k];
    out.push_back(status.code == TF_OK
                      ? Maybe()
                      : plugin().said(status, paths[k], "paths_exist"));
  }
  return out;
}

void PluginFilesystem::is_directory(const std::string& path) {
  if (ops().is_directory == nullptr) return Filesystem::is_directory(path);
  const bool yes = plugin().call(path, "is_directory", [&](TF_Status* status) {
    return ops().is_directory(handle(), translated(path).c_str(), status);
  });
  if (!yes) fail(TF_FAILED_PRECONDITION, plugin().told(path, "is_directory", "not a directory"));
}

std::int64_t PluginFilesystem::file_size(const std::string& path) {
  if (ops().get_file_size == nullptr) return Filesystem::file_size(path);
  const std::int64_t size = plugin().call(path, "get_file_size", [&](TF_Status* status) {
    return ops().get_file_size(handle(), translated(path).c_str(), status);
  });
  state_->check_handle(path, "get_file_size");
  return plugin().checked_size(size, path, "get_file_size");
}

Undeleted PluginFilesystem::delete_recursively(const std::string& path) {
  if (ops().delete_recursively == nullptr) return Filesystem::delete_recursively(path);
  struct Counts {
    std::uint64_t files, directories;
  };
  Guarded<Counts> counts;
  Undeleted left;
  left.failure = failure_of([&] {
    plugin().call(path, "delete_recursively", [&](TF_Status* status) {
      ops().delete_recursively(handle(), translated(path).c_str(), &counts->files, &counts->directories,
                               status);
    });
  });
  Maybe wrong = failure_of([&] {
    check(counts, path, "delete_recursively", "counts");
    for (const std::uint64_t count : {counts->files, counts->directories}) {
      plugin().checked_size(static_cast<std::int64_t>(count), path, "delete_recursively");
    }
  });
  if (wrong) return {0, 0, std::move(wrong)};
  left.files = counts->files;
  left.directories = counts->directories;
  return left;
}

}  // namespace

std::shared_ptr<Filesystem> make_plugin_filesystem(Plugin plugin) {
  return std::make_shared<PluginFilesystem>(std::move(plugin));
}

std::shared_ptr<PluginState> plugin_state(const Filesystem& filesystem) {
  const auto* made = dynamic_cast<const PluginFilesystem*>(&filesystem);
  return made == nullptr ? nullptr : made->state();
}

}  // namespace drystone::host
