// Opening plugins: see library/open.h.
//
// A plugin is opened as a dependency of a generated library that needs first the host and then the
// plugin. The linker looks symbols up in that order, so that TF_ symbols of plugins that link to
// nothing are found in the host although the host itself was opened locally.
#include "library/open.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/failure.h"
#include "library/binding.h"
#include "library/elf_image.h"
#include "library/symbol_stubs.h"

namespace drystone::host {
namespace {

std::vector<std::string>& opened_aliases() {
  static std::vector<std::string> names;
  return names;
}

// The linker's own name of the file this code is in; "" when that is the program itself.
std::string host_name() {
  Dl_info info;
  link_map* map = nullptr;
  if (dladdr1(reinterpret_cast<void*>(&aliases), &info, reinterpret_cast<void**>(&map),
              RTLD_DL_LINKMAP) == 0 ||
      map == nullptr) {
    return "";
  }
  return map->l_name;
}

bool is_tensorflow_name(std::string_view name) {
  constexpr std::string_view kBeginnings[] = {"libtensorflow_framework.so", "libtensorflow_cc.so",
                                              "libtensorflow.so", "_pywrap_tensorflow_"};
  const auto begins = [&](std::string_view with) { return name.substr(0, with.size()) == with; };
  return std::any_of(std::begin(kBeginnings), std::end(kBeginnings), begins);
}

// The library of TensorFlow that the linker's message says is missing, or "".
std::string missing_tensorflow_library(const std::string& error) {
  const std::string name = error.substr(0, error.find(": "));
  const bool missing = error.find("cannot open shared object file") != std::string::npos;
  return missing && is_tensorflow_name(name) ? name : "";
}

// Symbols of the whole program come before those of the host only when the program, or a library
// that it opened globally, defines them; then the plugin's own scope must be searched first.
int binding_flags() {
  void* found = dlsym(RTLD_DEFAULT, "TF_NewStatus");
  return found == nullptr || is_in_host(found) ? 0 : RTLD_DEEPBIND;
}

void open_alias(const std::string& name, const std::string& host) {
  std::string error;
  const std::vector<std::string> needed = host.empty() ? std::vector<std::string>{}
                                                       : std::vector<std::string>{host};
  if (open_image(elf_image(name, needed), 0, &error) == nullptr) {
    fail(TF_FAILED_PRECONDITION, "an alias for " + name + " cannot be opened: " + error);
  }
  opened_aliases().push_back(name);
}

}  // namespace

void* open_file(const char* path, int flags, std::string* error) {
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
  if (handle == nullptr) {
    const char* text = dlerror();
    *error = text == nullptr ? "the dynamic linker gave no reason" : text;
  }
  return handle;
}

void* find_open_symbol(const char* path, const char* name) noexcept {
  void* const library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  void* const found = library == nullptr ? nullptr : dlsym(library, name);
  if (library != nullptr) dlclose(library);
  return found;
}

void* find_symbol(void* handle, const char* name) noexcept {
  return handle == nullptr || name == nullptr ? nullptr : dlsym(handle, name);
}

void* find_own_symbol(void* handle, const char* name) noexcept {
  void* found = find_symbol(handle, name);
  link_map* owner = nullptr;
  link_map* map = nullptr;
  Dl_info info;
  if (found == nullptr) return nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0) return nullptr;
  if (dladdr1(found, &info, reinterpret_cast<void**>(&owner), RTLD_DL_LINKMAP) == 0) return nullptr;
  return owner == map ? found : nullptr;
}

void* open_plugin(const std::string& path, const std::vector<std::string>& without) {
  const std::string host = host_name();
  const int flags = binding_flags();
  std::vector<std::string> needed = {path};
  if (!host.empty()) needed.insert(needed.begin(), host);
  if (!without.empty()) needed.push_back(open_symbol_stubs(path, without));
  const Opening no_throwing;
  std::string error;
  for (;;) {
    void* wrapper = needed.size() == 1 ? open_file(path.c_str(), flags, &error)
                                       : open_image(elf_image("", needed), flags, &error);
    if (wrapper != nullptr) break;
    const std::string missing = missing_tensorflow_library(error);
    if (missing.empty()) fail(TF_FAILED_PRECONDITION, error);
    const std::vector<std::string>& known = opened_aliases();
    if (std::find(known.begin(), known.end(), missing) != known.end()) {
      fail(TF_FAILED_PRECONDITION, error);
    }
    open_alias(missing, host);
  }
  void* handle = open_file(path.c_str(), RTLD_NOLOAD, &error);
  if (handle == nullptr) fail(TF_INTERNAL, error);
  return handle;
}

std::vector<std::string> aliases() {
  std::vector<std::string> names = opened_aliases();
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace drystone::host
