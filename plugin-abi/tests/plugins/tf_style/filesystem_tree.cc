// A filesystem as one writes it for TensorFlow, with all four tables: files in a map, "oak://...".
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tensorflow/c/experimental/filesystem/filesystem_interface.h"
#include "tensorflow/c/tf_file_statistics.h"
#include "tensorflow/c/tf_status.h"

static_assert(TF_RANDOM_ACCESS_FILE_OPS_SIZE == 16 && TF_WRITABLE_FILE_OPS_SIZE == 48, "");
static_assert(TF_READ_ONLY_MEMORY_REGION_OPS_SIZE == 24 && TF_FILESYSTEM_OPS_SIZE == 264, "");
static_assert(sizeof(TF_FilesystemPluginOps) == 104 && sizeof(TF_FilesystemPluginInfo) == 32, "");
static_assert(TF_FILESYSTEM_OPS_ABI == 0 && TF_FILESYSTEM_OPS_API == 0, "");

namespace {

void* plugin_memory_allocate(size_t size) { return std::calloc(1, size); }
void plugin_memory_free(void* memory) { std::free(memory); }

struct Tree {
  std::mutex mutex;
  std::map<std::string, std::string> files;
};

struct OpenFile {
  Tree* tree;
  std::string path;
};

Tree* TreeOf(const TF_Filesystem* filesystem) {
  return static_cast<Tree*>(filesystem->plugin_filesystem);
}

namespace tf_random_access_file {

void Cleanup(TF_RandomAccessFile* file) { delete static_cast<OpenFile*>(file->plugin_file); }

int64_t Read(const TF_RandomAccessFile* file, uint64_t offset, size_t n, char* buffer,
             TF_Status* status) {
  const auto* open = static_cast<const OpenFile*>(file->plugin_file);
  const std::lock_guard<std::mutex> lock(open->tree->mutex);
  const std::string& bytes = open->tree->files[open->path];
  const size_t left = offset < bytes.size() ? bytes.size() - offset : 0;
  const size_t count = n < left ? n : left;
  std::memcpy(buffer, bytes.data() + (left == 0 ? 0 : offset), count);
  TF_SetStatus(status, count < n ? TF_OUT_OF_RANGE : TF_OK, "");
  return static_cast<int64_t>(count);
}

}  // namespace tf_random_access_file

namespace tf_writable_file {

void Cleanup(TF_WritableFile* file) { delete static_cast<OpenFile*>(file->plugin_file); }

void Append(const TF_WritableFile* file, const char* buffer, size_t n, TF_Status* status) {
  const auto* open = static_cast<const OpenFile*>(file->plugin_file);
  const std::lock_guard<std::mutex> lock(open->tree->mutex);
  open->tree->files[open->path].append(buffer, n);
  TF_SetStatus(status, TF_OK, "");
}

int64_t Tell(const TF_WritableFile* file, TF_Status* status) {
  const auto* open = static_cast<const OpenFile*>(file->plugin_file);
  TF_SetStatus(status, TF_OK, "");
  return static_cast<int64_t>(open->tree->files[open->path].size());
}

void Flush(const TF_WritableFile*, TF_Status* status) { TF_SetStatus(status, TF_OK, ""); }

}  // namespace tf_writable_file

namespace tf_read_only_memory_region {

void Cleanup(TF_ReadOnlyMemoryRegion* region) {
  delete static_cast<std::string*>(region->plugin_memory_region);
}
const void* Data(const TF_ReadOnlyMemoryRegion* region) {
  return static_cast<std::string*>(region->plugin_memory_region)->data();
}
uint64_t Length(const TF_ReadOnlyMemoryRegion* region) {
  return static_cast<std::string*>(region->plugin_memory_region)->size();
}

}  // namespace tf_read_only_memory_region

namespace tf_oak_filesystem {

void Init(TF_Filesystem* filesystem, TF_Status* status) {
  filesystem->plugin_filesystem = new Tree();
  TF_SetStatus(status, TF_OK, "");
}

void Cleanup(TF_Filesystem* filesystem) { delete TreeOf(filesystem); }

// The bytes of a file, or NULL with a status.
std::string* Find(const TF_Filesystem* filesystem, const char* path, TF_Status* status) {
  auto& files = TreeOf(filesystem)->files;
  const auto found = files.find(path);
  if (found == files.end()) {
    TF_SetStatusFromIOError(status, ENOENT, path);
    return nullptr;
  }
  TF_SetStatus(status, TF_OK, "");
  return &found->second;
}

void NewRandomAccessFile(const TF_Filesystem* filesystem, const char* path,
                         TF_RandomAccessFile* file, TF_Status* status) {
  const std::lock_guard<std::mutex> lock(TreeOf(filesystem)->mutex);
  if (Find(filesystem, path, status) == nullptr) return;
  file->plugin_file = new OpenFile{TreeOf(filesystem), path};
}

void NewWritableFile(const TF_Filesystem* filesystem, const char* path, TF_WritableFile* file,
                     TF_Status* status) {
  const std::lock_guard<std::mutex> lock(TreeOf(filesystem)->mutex);
  TreeOf(filesystem)->files[path].clear();
  file->plugin_file = new OpenFile{TreeOf(filesystem), path};
  TF_SetStatus(status, TF_OK, "");
}

void NewRegion(const TF_Filesystem* filesystem, const char* path, TF_ReadOnlyMemoryRegion* region,
               TF_Status* status) {
  const std::lock_guard<std::mutex> lock(TreeOf(filesystem)->mutex);
  const std::string* bytes = Find(filesystem, path, status);
  if (bytes != nullptr) region->plugin_memory_region = new std::string(*bytes);
}

void DeleteFile(const TF_Filesystem* filesystem, const char* path, TF_Status* status) {
  const std::lock_guard<std::mutex> lock(TreeOf(filesystem)->mutex);
  if (Find(filesystem, path, status) != nullptr) TreeOf(filesystem)->files.erase(path);
}

void PathExists(const TF_Filesystem* filesystem, const char* path, TF_Status* status) {
  const std::lock_guard<std::mutex> lock(TreeOf(filesystem)->mutex);
  Find(filesystem, path, status);
}

void Stat(const TF_Filesystem* filesystem, const char* path, TF_FileStatistics* stats,
          TF_Status* status) {
  const std::lock_guard<std::mutex> lock(TreeOf(filesystem)->mutex);
  const std::string* bytes = Find(filesystem, path, status);
  if (bytes == nullptr) return;
  stats->length = static_cast<int64_t>(bytes->size());
  stats->mtime_nsec = 0;
  stats->is_directory = false;
}

int GetChildren(const TF_Filesystem* filesystem, const char* path, char*** entries,
                TF_Status* status) {
  const std::lock_guard<std::mutex> lock(TreeOf(filesystem)->mutex);
  const std::string above = std::string(path) + "/";
  std::vector<std::string> names;
  for (const auto& file : TreeOf(filesystem)->files) {
    if (file.first.compare(0, above.size(), above) == 0) {
      names.push_back(file.first.substr(above.size()));
    }
  }
  *entries = static_cast<char**>(plugin_memory_allocate(names.size() * sizeof(char*) + 1));
  for (size_t k = 0; k < names.size(); ++k) (*entries)[k] = strdup(names[k].c_str());
  TF_SetStatus(status, TF_OK, "");
  return static_cast<int>(names.size());
}

}  // namespace tf_oak_filesystem

template <class Table>
Table* NewTable(size_t size) {
  return static_cast<Table*>(plugin_memory_allocate(size));
}

void ProvideFilesystemSupportFor(TF_FilesystemPluginOps* ops, const char* scheme) {
  TF_SetFilesystemVersionMetadata(ops);
  ops->scheme = strdup(scheme);

  ops->random_access_file_ops = NewTable<TF_RandomAccessFileOps>(TF_RANDOM_ACCESS_FILE_OPS_SIZE);
  ops->random_access_file_ops->cleanup = tf_random_access_file::Cleanup;
  ops->random_access_file_ops->read = tf_random_access_file::Read;

  ops->writable_file_ops = NewTable<TF_WritableFileOps>(TF_WRITABLE_FILE_OPS_SIZE);
  ops->writable_file_ops->cleanup = tf_writable_file::Cleanup;
  ops->writable_file_ops->append = tf_writable_file::Append;
  ops->writable_file_ops->tell = tf_writable_file::Tell;
  ops->writable_file_ops->flush = tf_writable_file::Flush;
  ops->writable_file_ops->sync = tf_writable_file::Flush;
  ops->writable_file_ops->close = tf_writable_file::Flush;

  ops->read_only_memory_region_ops =
      NewTable<TF_ReadOnlyMemoryRegionOps>(TF_READ_ONLY_MEMORY_REGION_OPS_SIZE);
  ops->read_only_memory_region_ops->cleanup = tf_read_only_memory_region::Cleanup;
  ops->read_only_memory_region_ops->data = tf_read_only_memory_region::Data;
  ops->read_only_memory_region_ops->length = tf_read_only_memory_region::Length;

  ops->filesystem_ops = NewTable<TF_FilesystemOps>(TF_FILESYSTEM_OPS_SIZE);
  ops->filesystem_ops->init = tf_oak_filesystem::Init;
  ops->filesystem_ops->cleanup = tf_oak_filesystem::Cleanup;
  ops->filesystem_ops->new_random_access_file = tf_oak_filesystem::NewRandomAccessFile;
  ops->filesystem_ops->new_writable_file = tf_oak_filesystem::NewWritableFile;
  ops->filesystem_ops->new_read_only_memory_region_from_file = tf_oak_filesystem::NewRegion;
  ops->filesystem_ops->delete_file = tf_oak_filesystem::DeleteFile;
  ops->filesystem_ops->path_exists = tf_oak_filesystem::PathExists;
  ops->filesystem_ops->stat = tf_oak_filesystem::Stat;
  ops->filesystem_ops->get_children = tf_oak_filesystem::GetChildren;
}

}  // namespace

void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  info->plugin_memory_allocate = plugin_memory_allocate;
  info->plugin_memory_free = plugin_memory_free;
  info->num_schemes = 1;
  info->ops = static_cast<TF_FilesystemPluginOps*>(
      plugin_memory_allocate(info->num_schemes * sizeof(info->ops[0])));
  ProvideFilesystemSupportFor(&info->ops[0], "oak");
}
