// A filesystem whose functions throw C++ exceptions through the C interface, which they must not.
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "drystone/filesystem.h"

namespace {

void* allocate(size_t size) { return std::calloc(1, size); }

void init(TF_Filesystem*, TF_Status*) {
#ifdef THROW_IN_INIT
  throw std::runtime_error("thrown by init");
#endif
}
void cleanup(TF_Filesystem*) { throw 7; }
void path_exists(const TF_Filesystem*, const char*, TF_Status*) {
  throw std::runtime_error("thrown by path_exists");
}
void delete_file(const TF_Filesystem*, const char*, TF_Status*) { throw 7; }

}  // namespace

extern "C" __attribute__((visibility("default"))) void TF_InitPlugin(
    TF_FilesystemPluginInfo* info) {
#ifdef THROW_IN_ENTRY
  throw std::runtime_error("thrown by TF_InitPlugin");
#endif
  info->plugin_memory_allocate = allocate;
  info->plugin_memory_free = std::free;
  info->num_schemes = 1;
  auto* ops = info->ops = static_cast<TF_FilesystemPluginOps*>(allocate(sizeof(*info->ops)));
  TF_SetFilesystemVersionMetadata(ops);
  ops->scheme = static_cast<char*>(allocate(16));
  std::strcpy(ops->scheme, "throwing");
  ops->filesystem_ops = static_cast<TF_FilesystemOps*>(allocate(sizeof(TF_FilesystemOps)));
  ops->filesystem_ops->init = init;
  ops->filesystem_ops->cleanup = cleanup;
  ops->filesystem_ops->path_exists = path_exists;
  ops->filesystem_ops->delete_file = delete_file;
}
