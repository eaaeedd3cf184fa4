// A filesystem behind the functions of the contract, and TF_InitPlugin's part for one scheme.
#include "tables.h"

#include <cstdlib>
#include <cstring>

#include "errors.h"
#include "files.h"
#include "glob.h"
#include "tables_special.h"

namespace drystone::files {
namespace {

void cleanup(TF_Filesystem* filesystem) { delete static_cast<Files*>(filesystem->plugin_filesystem); }

void new_random_access_file(const TF_Filesystem* filesystem, const char* path,
                            TF_RandomAccessFile* file, TF_Status* status) {
  guarded(status, [&] { file->plugin_file = files_of(filesystem).open(path).release(); });
}

void new_writable_file(const TF_Filesystem* filesystem, const char* path, TF_WritableFile* file,
                       TF_Status* status) {
  guarded(status, [&] {
    file->plugin_file = files_of(filesystem).write(path, Writing::kReplace).release();
  });
}

void new_appendable_file(const TF_Filesystem* filesystem, const char* path, TF_WritableFile* file,
                         TF_Status* status) {
  guarded(status, [&] {
    file->plugin_file = files_of(filesystem).write(path, Writing::kAppend).release();
  });
}

void new_region(const TF_Filesystem* filesystem, const char* path, TF_ReadOnlyMemoryRegion* region,
                TF_Status* status) {
  guarded(status, [&] {
    region->plugin_memory_region = files_of(filesystem).map(path).release();
  });
}

void create_dir(const TF_Filesystem* filesystem, const char* path, TF_Status* status) {
  guarded(status, [&] { files_of(filesystem).make_directory(path); });
}

void recursively_create_dir(const TF_Filesystem* filesystem, const char* path, TF_Status* status) {
  guarded(status, [&] { files_of(filesystem).make_directories(path); });
}

void delete_file(const TF_Filesystem* filesystem, const char* path, TF_Status* status) {
  guarded(status, [&] { files_of(filesystem).remove(path); });
}

void delete_dir(const TF_Filesystem* filesystem, const char* path, TF_Status* status) {
  guarded(status, [&] { files_of(filesystem).remove_directory(path); });
}

void delete_recursively(const TF_Filesystem* filesystem, const char* path,
                        uint64_t* undeleted_files, uint64_t* undeleted_dirs, TF_Status* status) {
  guarded(status, [&] {
    const Left left = files_of(filesystem).remove_tree(path);
    *undeleted_files = left.files;
    *undeleted_dirs = left.directories;
    if (left.first) std::rethrow_exception(left.first);
  });
}

void rename_file(const TF_Filesystem* filesystem, const char* from, const char* to,
                 TF_Status* status) {
  guarded(status, [&] { files_of(filesystem).rename(from, to); });
}

void copy_file(const TF_Filesystem* filesystem, const char* from, const char* to,
               TF_Status* status) {
  guarded(status, [&] { files_of(filesystem).copy(from, to); });
}

void path_exists(const TF_Filesystem* filesystem, const char* path, TF_Status* status) {
  guarded(status, [&] { static_cast<void>(files_of(filesystem).found(path)); });
}

bool paths_exist(const TF_Filesystem* filesystem, char** paths, int count, TF_Status** statuses) {
  bool all = true;
  for (int k = 0; k < count; ++k) {
    TF_Status* status = statuses == nullptr ? TF_NewStatus() : statuses[k];
    path_exists(filesystem, paths[k], status);
    all = all && TF_GetCode(status) == TF_OK;
    if (statuses == nullptr) TF_DeleteStatus(status);
  }
  return all;
}

void stat_path(const TF_Filesystem* filesystem, const char* path, TF_FileStatistics* stats,
               TF_Status* status) {
  guarded(status, [&] {
    const Found found = files_of(filesystem).found(path);
    *stats = {found.length, found.mtime_nsec, found.is_directory};
  });
}

bool is_directory(const TF_Filesystem* filesystem, const char* path, TF_Status* status) {
  bool yes = false;
  guarded(status, [&] {
    yes = files_of(filesystem).found(path).is_directory;
    if (!yes) fail(TF_FAILED_PRECONDITION, "it is a file");
  });
  return yes;
}

int64_t get_file_size(const TF_Filesystem* filesystem, const char* path, TF_Status* status) {
  int64_t size = -1;
  guarded(status, [&] {
    const Found found = files_of(filesystem).found(path);
    if (found.is_directory) fail(TF_FAILED_PRECONDITION, "it is a directory");
    size = found.length;
  });
  return size;
}

char* translate_name(const TF_Filesystem* filesystem, const char* uri) {
  try {
    return copied(files_of(filesystem).translated(uri));
  } catch (...) {
    return nullptr;  // no memory: the host then takes the path as it is
  }
}

int get_children(const TF_Filesystem* filesystem, const char* path, char*** entries,
                 TF_Status* status) {
  int count = -1;
  guarded(status, [&] { count = given(files_of(filesystem).children(path), entries); });
  return count;
}

int get_matching_paths(const TF_Filesystem* filesystem, const char* pattern, char*** entries,
                       TF_Status* status) {
  int count = -1;
  guarded(status, [&] { count = given(matching_paths(files_of(filesystem), pattern), entries); });
  return count;
}

void flush_caches(const TF_Filesystem*) {}  // nothing is remembered

void fill_table(TF_FilesystemOps* ops, Init init) {
  ops->init = init;
  ops->cleanup = cleanup;
  ops->new_random_access_file = new_random_access_file;
  ops->new_writable_file = new_writable_file;
  ops->new_appendable_file = new_appendable_file;
  ops->new_read_only_memory_region_from_file = new_region;
  ops->create_dir = create_dir;
  ops->recursively_create_dir = recursively_create_dir;
  ops->delete_file = delete_file;
  ops->delete_dir = delete_dir;
  ops->delete_recursively = delete_recursively;
  ops->rename_file = rename_file;
  ops->copy_file = copy_file;
  ops->path_exists = path_exists;
  ops->paths_exist = paths_exist;
  ops->stat = stat_path;
  ops->is_directory = is_directory;
  ops->get_file_size = get_file_size;
  ops->translate_name = translate_name;
  ops->get_children = get_children;
  ops->get_matching_paths = get_matching_paths;
  ops->flush_caches = flush_caches;
  fill_transactions(ops);
  fill_options(ops);
}

template <class Table>
Table* new_table() {
  return static_cast<Table*>(allocate(sizeof(Table)));
}

}  // namespace

void* allocate(std::size_t size) { return std::calloc(1, size == 0 ? 1 : size); }
void release(void* memory) { std::free(memory); }

char* copied(const std::string& text) {
  char* out = static_cast<char*>(allocate(text.size() + 1));
  if (out == nullptr) throw std::bad_alloc();
  std::memcpy(out, text.c_str(), text.size() + 1);
  return out;
}

int given(const std::vector<std::string>& texts, char*** entries) {
  char** array = static_cast<char**>(allocate(texts.size() * sizeof(char*)));
  if (array == nullptr) throw std::bad_alloc();
  std::size_t done = 0;
  try {
    for (; done < texts.size(); ++done) array[done] = copied(texts[done]);
  } catch (...) {
    while (done > 0) release(array[--done]);
    release(static_cast<void*>(array));
    throw;
  }
  *entries = array;
  return static_cast<int>(texts.size());
}

void fill_scheme(TF_FilesystemPluginOps* ops, const char* scheme, Init init) {
  TF_SetFilesystemVersionMetadata(ops);
  ops->scheme = static_cast<char*>(allocate(std::strlen(scheme) + 1));
  ops->filesystem_ops = new_table<TF_FilesystemOps>();
  ops->random_access_file_ops = new_table<TF_RandomAccessFileOps>();
  ops->writable_file_ops = new_table<TF_WritableFileOps>();
  ops->read_only_memory_region_ops = new_table<TF_ReadOnlyMemoryRegionOps>();
  if (ops->scheme == nullptr || ops->filesystem_ops == nullptr ||
      ops->random_access_file_ops == nullptr || ops->writable_file_ops == nullptr ||
      ops->read_only_memory_region_ops == nullptr) {
    return;  // the host frees what there is
  }
  std::strcpy(ops->scheme, scheme);
  fill_table(ops->filesystem_ops, init);
  fill_files(ops->random_access_file_ops, ops->writable_file_ops, ops->read_only_memory_region_ops);
}

}  // namespace drystone::files
