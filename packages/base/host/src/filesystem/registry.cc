// The registry of schemes: see registry.h.
#include "filesystem/registry.h"

#include <unistd.h>

#include <cstdlib>
#include <mutex>

#include "filesystem/local.h"
#include "filesystem/uri.h"

namespace drystone::host {
namespace {

struct Scheme {
  std::string library;
  std::shared_ptr<Filesystem> filesystem;  // NULL while it is being made
};

struct Registry {
  std::mutex mutex;
  std::map<std::string, Scheme, std::less<>> entries;
  pid_t process = 0;  // that registered last
};

Registry& registry() {
  static auto* one = new Registry();  // never destroyed: plugins may use files during exit
  return *one;
}

bool local(std::string_view scheme) { return scheme.empty() || scheme == "file"; }

// At exit, before the libraries' own static objects go. In a child process that was only forked the
// plugins' threads do not exist, and waiting for them would hang.
void cleanup_at_exit() {
  if (registry().process == getpid()) cleanup_filesystems();
}

void take(const std::string& scheme, const std::string& library) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().entries.find(scheme);
  if (local(scheme) || found != registry().entries.end()) {
    fail(TF_ALREADY_EXISTS,
         "the scheme \"" + scheme + "\" of " + library + " is registered already, by " +
             (local(scheme) ? "the host itself" : found->second.library) +
             "; needed: one library for a scheme, so disable one of the two");
  }
  static const int armed = std::atexit(cleanup_at_exit);
  static_cast<void>(armed);
  registry().process = getpid();
  registry().entries[scheme].library = library;
}

}  // namespace

void register_scheme(const std::string& scheme, const std::string& library,
                     const std::function<std::shared_ptr<Filesystem>()>& make) {
  take(scheme, library);
  try {
    auto made = make();
    const std::lock_guard lock(registry().mutex);
    registry().entries[scheme] = {library, std::move(made)};
  } catch (...) {
    const std::lock_guard lock(registry().mutex);
    registry().entries.erase(scheme);
    throw;
  }
}

std::shared_ptr<Filesystem> filesystem_for_scheme(std::string_view scheme,
                                                  const std::string& path) {
  if (local(scheme)) return local_filesystem();
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().entries.find(scheme);
  if (found != registry().entries.end() && found->second.filesystem != nullptr) {
    return found->second.filesystem;
  }
  std::string known = "file";
  for (const auto& [name, entry] : registry().entries) {
    if (entry.filesystem != nullptr) known += ", " + name;
  }
  fail(TF_UNIMPLEMENTED, path + ": no filesystem is registered for the scheme \"" +
                             std::string(scheme) + "\" (registered: " + known +
                             "); load a plugin that offers it");
}

std::shared_ptr<Filesystem> filesystem_of(const std::string& path) {
  return filesystem_for_scheme(parse_uri(path).scheme, path);
}

Filesystems registered_filesystems() {
  Filesystems out{{"file", local_filesystem()}};
  const std::lock_guard lock(registry().mutex);
  for (const auto& [scheme, entry] : registry().entries) {
    if (entry.filesystem != nullptr) out[scheme] = entry.filesystem;
  }
  return out;
}

void cleanup_filesystems() noexcept {
  std::map<std::string, Scheme, std::less<>> gone;
  const std::lock_guard lock(registry().mutex);
  for (auto at = registry().entries.begin(); at != registry().entries.end();) {
    auto next = std::next(at);
    if (at->second.filesystem != nullptr) gone.insert(registry().entries.extract(at));
    at = next;
  }
}  // the lock goes before `gone`, whose filesystems then call their plugins

}  // namespace drystone::host
