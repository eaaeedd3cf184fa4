// A filesystem made of a plugin's tables.
#ifndef DRYSTONE_HOST_FILESYSTEM_PLUGIN_H_
#define DRYSTONE_HOST_FILESYSTEM_PLUGIN_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/failure.h"
#include "core/guarded.h"
#include "core/guarded_bytes.h"
#include "core/plugin_call.h"
#include "drystone/filesystem.h"
#include "core/answers.h"
#include "filesystem/filesystem.h"

namespace drystone::host {

// The host's own copies of a scheme's tables; members that the plugin does not have are NULL.
struct Tables {
  TF_FilesystemOps filesystem{};
  TF_RandomAccessFileOps readable{};
  TF_WritableFileOps writable{};
  TF_ReadOnlyMemoryRegionOps region{};
};

// What every call of a plugin needs: who it is, how to free its memory, and the way an error is
// told.
struct Plugin {
  std::string scheme;
  std::string library;
  Tables tables;
  void (*release)(void*) = nullptr;  // plugin_memory_free
  bool is_watched = true;            // it may write outside of buffers

  // "PATH: MEMBER of the SCHEME filesystem (LIBRARY): TEXT"
  std::string told(const std::string& path, const char* member, const std::string& text) const;

  [[noreturn]] void not_offered(const std::string& path, const char* member) const;

  // The number of bytes or of things; fails (INTERNAL) when a plugin answered a negative one without an
  // error, or more than there can be.
  std::int64_t checked_size(std::int64_t number, const std::string& path, const char* member) const;

  // Fails (INTERNAL) when the plugin wrote outside of what it was given, which `what` says.
  template <class Given>
  void check_whole(const Given& given, const std::string& path, const char* member, const char* what) const {
    if (given.is_whole(library.c_str())) return;
    given.renew();  // for the next call
    wrote_outside(path, member, what);
  }
  [[noreturn]] void wrote_outside(const std::string& path, const char* member, const char* what) const;

  // What a status of the plugin's says about a path.
  Failure said(const TF_Status& status, const std::string& path, const char* member) const;

  // Calls body(status) with a fresh status. What the plugin says or throws becomes a Failure,
  // except that a status `fine` is let through.
  template <class Body>
  auto call(const std::string& path, const char* member, Body&& body, TF_Code fine = TF_OK) const {
    TF_Status status;
    const PluginCall running(member, library.c_str());
    const auto checked = [&] {
      if (status.code != TF_OK && status.code != fine) {
        throw said(status, path, member);
      }
    };
    try {
      if constexpr (std::is_void_v<decltype(body(&status))>) {
        body(&status);
        checked();
      } else {
        auto answer = body(&status);
        checked();
        return answer;
      }
    } catch (const Failure&) {
      throw;
    } catch (const std::exception& error) {
      fail(TF_INTERNAL, told(path, member, std::string("threw an exception: ") + error.what()));
    } catch (...) {
      fail(TF_INTERNAL, told(path, member, "threw an exception of unknown type"));
    }
  }

  // The same for a member that must be there.
  template <class Member, class Body>
  auto need(const std::string& path, const char* member, Member pointer, Body&& body) const {
    if (pointer == nullptr) not_offered(path, member);
    return call(path, member, std::forward<Body>(body));
  }

  // A string of the plugin's, freed; and an array of them, freed with its strings. Strings that are
  // NULL or cannot be read are a failure, as is a count that is negative or too large for the array.
  std::string taken(char* text, const std::string& path, const char* member) const;
  std::vector<std::string> taken(char** entries, int count, const std::string& path,
                                 const char* member) const;
};

// Calls the plugin's `init`; its `cleanup` is called when the last reference goes.
std::shared_ptr<Filesystem> make_plugin_filesystem(Plugin plugin);

// Names of the members that are set: "stat", ..., "random_access_file.read", ...
std::vector<std::string> members_of(const Tables& tables);

// The state and the tables of a filesystem that a plugin made; NULL for the host's own.
class PluginState {
 public:
  explicit PluginState(Plugin plugin);
  ~PluginState();
  PluginState(const PluginState&) = delete;
  PluginState& operator=(const PluginState&) = delete;

  TF_Filesystem* handle() const { return const_cast<PluginState*>(this)->handle_.get(); }
  // Fails when the plugin wrote outside of its handle.
  void check_handle(const std::string& path, const char* member) const {
    plugin.check_whole(handle_, path, member, "TF_Filesystem");
  }
  const Plugin plugin;

 private:
  Guarded<TF_Filesystem> handle_;
};
std::shared_ptr<PluginState> plugin_state(const Filesystem& filesystem);

// Open files of a plugin; each keeps the state, and so the filesystem, alive.
std::unique_ptr<ReadableFile> open_plugin_readable(std::shared_ptr<PluginState> state,
                                                   const std::string& path,
                                                   const std::string& local);
std::unique_ptr<WritableFile> open_plugin_writable(std::shared_ptr<PluginState> state,
                                                   const std::string& path,
                                                   const std::string& local, bool append);
std::unique_ptr<MemoryRegion> open_plugin_region(std::shared_ptr<PluginState> state,
                                                 const std::string& path,
                                                 const std::string& local);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_FILESYSTEM_PLUGIN_H_
