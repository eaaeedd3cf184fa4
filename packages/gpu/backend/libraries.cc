#include "libraries.h"

#include <dirent.h>
#include <dlfcn.h>

#include <cstdlib>
#include <vector>

namespace drystone::gpu {
namespace {

std::string parent(const std::string& path) {
  const std::size_t end = path.rfind('/');
  return end == std::string::npos ? std::string(".") : path.substr(0, end);
}

// The folders nvidia/*/lib of the site-packages that this library lies in.
std::vector<std::string> beside() {
  std::vector<std::string> found;
  Dl_info own = {};
  if (dladdr(reinterpret_cast<void*>(&open_nvidia), &own) == 0 || own.dli_fname == nullptr) {
    return found;
  }
  const std::string top = parent(parent(own.dli_fname)) + "/nvidia";
  DIR* folder = opendir(top.c_str());
  if (folder == nullptr) return found;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') found.push_back(top + "/" + entry->d_name + "/lib");
  }
  closedir(folder);
  return found;
}

std::vector<std::string> named() {
  std::vector<std::string> found;
  const char* value = std::getenv("DRYSTONE_GPU_LIBRARIES");
  std::string text = value == nullptr ? "" : value;
  while (!text.empty()) {
    const std::size_t end = text.find(':');
    if (end != 0) found.push_back(text.substr(0, end));
    text = end == std::string::npos ? "" : text.substr(end + 1);
  }
  return found;
}

}  // namespace

void* open_nvidia(const char* name, std::string* why) {
  std::vector<std::string> folders = named();
  for (std::string& folder : beside()) folders.push_back(std::move(folder));
  for (const std::string& folder : folders) {
    const std::string path = folder + "/" + name;
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  const char* error = dlerror();
  *why = error == nullptr ? name : error;
  return nullptr;
}

}  // namespace drystone::gpu
