// Shared libraries of the environment, and plugins loaded by path: drystone/env.h, registry.h.
#include <mutex>
#include <set>

#include "drystone/env.h"
#include "filesystem/handles.h"
#include "library/open.h"

namespace drystone::host {
namespace {

struct Handles {
  std::mutex mutex;
  std::set<void*> known;
};

Handles& handles() {
  static auto* one = new Handles();
  return *one;
}

}  // namespace
}  // namespace drystone::host

using namespace drystone::host;

extern "C" {

void* TF_LoadSharedLibrary(const char* library_filename, TF_Status* status) {
  void* out = nullptr;
  guarded(status, "TF_LoadSharedLibrary", [&] {
    const std::string path = needed_path(library_filename, "library_filename");
    if (path.empty()) fail(TF_INVALID_ARGUMENT, "library_filename must not be empty");
    std::string error;
    void* opened = open_file(path.c_str(), 0, &error);
    if (opened == nullptr) fail(TF_NOT_FOUND, error);
    const std::lock_guard lock(handles().mutex);
    handles().known.insert(opened);
    out = opened;
  });
  return out;
}

void* TF_GetSymbolFromLibrary(void* handle, const char* symbol_name, TF_Status* status) {
  void* out = nullptr;
  guarded(status, "TF_GetSymbolFromLibrary", [&] {
    require(handle, "handle");
    const std::string name = needed_path(symbol_name, "symbol_name");
    {
      const std::lock_guard lock(handles().mutex);
      if (handles().known.count(handle) == 0) {
        fail(TF_INVALID_ARGUMENT, "handle is none that TF_LoadSharedLibrary answered");
      }
    }
    out = find_symbol(handle, name.c_str());
    if (out == nullptr) fail(TF_NOT_FOUND, "the library has no symbol " + name);
  });
  return out;
}

}  // extern "C"
