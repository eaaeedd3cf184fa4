// A filesystem as one writes it for TensorFlow: a scheme whose only file reads as "stone".
#include <cstdlib>
#include <cstring>

#include "tensorflow/c/env.h"
#include "tensorflow/c/experimental/filesystem/filesystem_interface.h"
#include "tensorflow/c/logging.h"
#include "tensorflow/c/tf_file_statistics.h"

namespace {

void Init(TF_Filesystem* filesystem, TF_Status* status) {
  filesystem->plugin_filesystem = nullptr;
  TF_SetStatus(status, TF_OK, "");
}

void Cleanup(TF_Filesystem*) { TF_VLog(3, "cleanup at %d", static_cast<int>(TF_NowSeconds())); }

void NewRandomAccessFile(const TF_Filesystem*, const char*, TF_RandomAccessFile* file,
                         TF_Status* status) {
  file->plugin_file = nullptr;
  TF_SetStatus(status, TF_OK, "");
}

int64_t GetFileSize(const TF_Filesystem*, const char*, TF_Status* status) {
  TF_SetStatus(status, TF_OK, "");
  return 5;
}

void CleanupFile(TF_RandomAccessFile*) {}

int64_t Read(const TF_RandomAccessFile*, uint64_t offset, size_t n, char* buffer,
             TF_Status* status) {
  const uint64_t left = offset < 5 ? 5 - offset : 0;
  const size_t count = n < left ? n : static_cast<size_t>(left);
  std::memcpy(buffer, &"stone"[offset < 5 ? offset : 5], count);
  TF_SetStatus(status, count < n ? TF_OUT_OF_RANGE : TF_OK, "");
  return static_cast<int64_t>(count);
}

}  // namespace

void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  info->plugin_memory_allocate = [](size_t size) { return std::calloc(1, size); };
  info->plugin_memory_free = [](void* memory) { std::free(memory); };
  info->num_schemes = 1;
  info->ops = static_cast<TF_FilesystemPluginOps*>(info->plugin_memory_allocate(sizeof *info->ops));
  TF_FilesystemPluginOps* ops = info->ops;
  TF_SetFilesystemVersionMetadata(ops);
  ops->scheme = strdup("stone");
  ops->random_access_file_ops = static_cast<TF_RandomAccessFileOps*>(
      info->plugin_memory_allocate(TF_RANDOM_ACCESS_FILE_OPS_SIZE));
  ops->random_access_file_ops->cleanup = CleanupFile;
  ops->random_access_file_ops->read = Read;
  ops->filesystem_ops =
      static_cast<TF_FilesystemOps*>(info->plugin_memory_allocate(TF_FILESYSTEM_OPS_SIZE));
  ops->filesystem_ops->init = Init;
  ops->filesystem_ops->cleanup = Cleanup;
  ops->filesystem_ops->new_random_access_file = NewRandomAccessFile;
  ops->filesystem_ops->get_file_size = GetFileSize;
}
