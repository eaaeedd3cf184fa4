// The libraries that are open: see library/loaded.h.
#include "library/loaded.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>

#include "core/failure.h"
#include "core/plugin_call.h"
#include "drystone/logging.h"
#include "library/binding.h"
#include "library/exit_limit.h"
#include "library/inspect.h"
#include "library/crash_report.h"
#include "library/open.h"
#include "library/platform.h"
#include "library/redirect.h"

namespace drystone::host {
namespace {

struct Open {
  dev_t device;
  ino_t inode;
  std::unique_ptr<DS_Library> library;
};

// Never destroyed: libraries may still be used while the process ends.
std::vector<Open>& all() {
  static auto* libraries = new std::vector<Open>;
  return *libraries;
}

std::string real_path(const char* path) {
  char resolved[PATH_MAX];
  if (realpath(path, resolved) == nullptr) {
    fail(TF_NOT_FOUND, std::string(path) + ": " + std::strerror(errno));
  }
  return resolved;
}

// Whether the symbol is this library's: its own or of what it needs, but not of another plugin.
void* entry_function(const DS_Library& library, const char* symbol) {
  void* found = find_symbol(library.handle, symbol);
  if (found == nullptr || is_in_host(found)) return nullptr;
  for (const Open& open : all()) {
    const bool other = open.library->handle != library.handle;
    if (other && find_own_symbol(open.library->handle, symbol) == found) return nullptr;
  }
  return found;
}

DS_Library* find_handle(void* handle) {
  for (const Open& open : all()) {
    if (open.library->handle == handle) return open.library.get();
  }
  return nullptr;
}

void require_unchanged(const std::string& path, const FileState& checked, const char* when) {
  if (state_of(path) != checked) fail(TF_ABORTED, path + " was changed while it was " + when);
}

// What the library had changed is a remark, and what cannot be restored is its failure.
void take(Library& library, const Changes& changes, const std::string& when) {
  for (const std::string& what : changes.put_back) {
    const std::string text = when + " it changed " + what + "; that was put back";
    const auto& known = library.warnings;
    if (std::find(known.begin(), known.end(), text) == known.end()) library.warnings.push_back(text);
  }
  if (changes.lasting.empty()) return;
  std::string all;
  for (const std::string& what : changes.lasting) all += (all.empty() ? "" : "; ") + what;
  fail(TF_FAILED_PRECONDITION, when + " it changed what belongs to the process and cannot be put back: " + all,
       {{DS_PAYLOAD_CODE, "plugin-changed-host"}, {DS_PAYLOAD_LIBRARY, library.path}});
}

// The numbers of the files that the process has open.
std::set<int> open_files() {
  std::set<int> out;
  DIR* const folder = opendir("/proc/self/fd");
  if (folder == nullptr) return out;
  while (const dirent* one = readdir(folder)) {
    const int file = std::atoi(one->d_name);
    if (one->d_name[0] != '.' && file != dirfd(folder)) out.insert(file);
  }
  closedir(folder);
  return out;
}

// A remark about what a plugin has opened and not closed.
void remark_opened(Library& library, const std::set<int>& before, const std::string& when) {
  std::string all;
  int count = 0;
  for (const int file : open_files()) {
    char text[256] = "";
    const std::string link = "/proc/self/fd/" + std::to_string(file);
    if (before.contains(file) || readlink(link.c_str(), text, sizeof text - 1) < 0) continue;
    if (std::string_view(text).starts_with("/memfd:drystone-")) continue;  // of what was opened (library/open.h)
    if (++count <= 4) all += (all.empty() ? "" : ", ") + std::string(text);
  }
  if (count == 0) return;
  if (count > 4) all += ", ...";
  library.warnings.push_back(when + " it opened " + (count == 1 ? "a file" : std::to_string(count) + " files") +
                             " and left " + (count == 1 ? "it" : "them") + " open: " + all);
}

// Opens the file, whose constructors run.
void open_into(DS_Library& library, const std::vector<std::string>& without) {
  install_crash_handlers();
  prepare_thread();
  const OutputToError elsewhere;
  const std::set<int> files = open_files();
  HostState state;
  {
    const LibraryScope scope(&library);  // its constructors may register things
    const PluginCall running("a constructor", library.path.c_str());
    library.handle = open_plugin(library.path, without);
  }
  limit_exit_time();
  take(library, state.put_back(), "while it was opened");
  remark_opened(library, files, "while it was opened");
}

DS_Library* open_new(const std::string& path, const FileState& checked,
                     const std::vector<std::string>& without) {
  auto library = std::make_unique<DS_Library>();
  library->path = path;
  const std::vector<Mapped> before = mapped_files();
  const GlobalNames global;
  require_unchanged(path, checked, "checked; it was not opened");
  open_into(*library, without);
  remember_code_of(path, before);
  redirect_calls(path, before);
  require_unchanged(path, checked, "opened; its constructors may have run, but it is not called");
  if (DS_Library* same = find_handle(library->handle); same != nullptr) {
    same->warnings.push_back(path + " has changed since it was opened; a new process sees the change");
    return same;
  }
  require_bound_to_host(library->handle, before);
  global.report(&library->warnings);
  for (const Entry& entry : entries()) {
    if (entry_function(*library, entry.symbol) != nullptr) {
      library->results.push_back({&entry, false, std::nullopt});
    }
  }
  all().push_back({checked.device, checked.inode, std::move(library)});
  return all().back().library.get();
}

// Runs the entry's handler and keeps what it answers.
void call(DS_Library& library, DS_EntryResult& result) {
  result.called = true;
  TF_Status status;
  const GlobalNames global;
  guarded(&status, nullptr, [&] {
    const LibraryScope scope(&library);
    void* const function = entry_function(library, result.entry->symbol);
    prepare_thread();
    const OutputToError elsewhere;
    const std::set<int> files = open_files();
    HostState state;
    {
      const PluginCall running(result.entry->symbol, library.path.c_str());
      result.entry->handler(library, function);
    }
    const std::string when = std::string("while ") + result.entry->symbol + " ran";
    take(library, state.put_back(), when);
    remark_opened(library, files, when);
  });
  limit_exit_time();
  global.report(&library.warnings);
  if (status.code != TF_OK) result.failure = failure_in(status, std::string(result.entry->symbol) + ": ");
}

}  // namespace

std::recursive_mutex& library_lock() {
  static auto* mutex = new std::recursive_mutex;
  return *mutex;
}

DS_Library* open_library(const char* path, const std::vector<std::string>& without) {
  require(path, "path");
  if (*path == '\0') fail(TF_INVALID_ARGUMENT, "path must not be empty");
  const std::string real = real_path(path);
  struct stat facts;
  if (stat(real.c_str(), &facts) != 0) fail(TF_NOT_FOUND, real + ": " + std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) fail(TF_NOT_FOUND, real + ": not a regular file");
  const std::lock_guard<std::recursive_mutex> held(library_lock());
  for (const Open& open : all()) {
    if (open.device == facts.st_dev && open.inode == facts.st_ino) return open.library.get();
  }
  const FileBytes bytes(real);
  require_whole_library(real, bytes.view());
  require_platform(real, bytes.view());
  return open_new(real, bytes.state(), without);
}

namespace {

// The same while it runs: its caller is told, once.
void take_in_run(DS_Library& library, const Changes& changes, const std::string& when) {
  const std::size_t known = library.warnings.size();
  const auto tell = [&] {
    for (std::size_t k = known; k < library.warnings.size(); ++k) {
      TF_Log(TF_WARNING, "plugin %s: %s", library.path.c_str(), library.warnings[k].c_str());
    }
  };
  try {
    take(library, changes, when);
  } catch (...) {
    tell();
    throw;
  }
  tell();
}

void take_in_run(std::string_view path, const Changes& changes, const std::string& when) {
  const std::lock_guard<std::recursive_mutex> held(library_lock());
  for (const Open& open : all()) {
    if (open.library->path == path) return take_in_run(*open.library, changes, when);
  }
  DS_Library unknown;
  take(unknown, changes, when);
}

}  // namespace

bool settle_changes(std::string_view path, HostState& state, const std::string& when) {
  const Changes changes = state.put_back();
  if (changes.put_back.empty() && changes.lasting.empty()) return true;
  take_in_run(path, changes, when);
  return false;
}

void remark_changes(std::string_view path, const Changes& changes, const std::string& when) {
  take_in_run(path, changes, when);
}

void init_library(DS_Library& library, const char* symbol) {
  const std::lock_guard<std::recursive_mutex> held(library_lock());
  if (find_entry(symbol) == nullptr) {
    fail(TF_UNIMPLEMENTED, std::string(symbol) + " is no entry symbol that this host knows");
  }
  for (DS_EntryResult& result : library.results) {
    if (std::strcmp(result.entry->symbol, symbol) != 0) continue;
    if (!result.called) call(library, result);
    if (result.failure) throw Failure(*result.failure);
    return;
  }
  fail(TF_NOT_FOUND, library.path + " does not export " + symbol);
}

}  // namespace drystone::host

bool DS_Library::exports(std::string_view symbol) const {
  for (const DS_EntryResult& result : results) {
    if (symbol == result.entry->symbol) return true;
  }
  return false;
}
