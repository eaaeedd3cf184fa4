/* A filesystem plugin in C: files in memory, for paths "ramdemo://anything/path".
 *
 * It offers what only a filesystem itself can do, and leaves to the host what the host can do with
 * that: patterns, copies, directory trees, sizes. It does not set translate_name, so the host hands
 * over the path alone, cleaned up: "/path". Files last until the host shuts the filesystem down.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drystone/filesystem.h"
#include "drystone/platform_strings.h"
#include "files.h"
#include "store.h"

TF_PLATFORM_STRINGS()

static Store* locked(const TF_Filesystem* filesystem) {
  Store* store = filesystem->plugin_filesystem;
  mtx_lock(&store->mutex);
  return store;
}

static void init(TF_Filesystem* filesystem, TF_Status* status) {
  filesystem->plugin_filesystem = store_create();
  if (filesystem->plugin_filesystem == NULL) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for the store");
  }
}

static void cleanup(TF_Filesystem* filesystem) { store_destroy(filesystem->plugin_filesystem); }

/* The node, or NULL with NOT_FOUND. */
static Node* needed(Store* store, const char* path, TF_Status* status) {
  Node* node = store_find(store, path);
  if (node == NULL) TF_SetStatus(status, TF_NOT_FOUND, "there is nothing of this name");
  return node;
}

/* The node when it is a file, else NULL with an error. */
static Node* needed_file(Store* store, const char* path, TF_Status* status) {
  Node* node = needed(store, path, status);
  if (node == NULL || !node->is_directory) return node;
  TF_SetStatus(status, TF_FAILED_PRECONDITION, "it is a directory");
  return NULL;
}

/* A new directory in one that exists, or an error. */
static void add_directory(Store* store, const char* path, TF_Status* status) {
  if (store_parent(store, path) == NULL) {
    TF_SetStatus(status, TF_NOT_FOUND, "there is no directory for it");
  } else if (store_add(store, path, true) == NULL) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for it");
  }
}

static void new_random_access_file(const TF_Filesystem* filesystem, const char* path,
                                   TF_RandomAccessFile* file, TF_Status* status) {
  Store* store = locked(filesystem);
  Node* node = needed_file(store, path, status);
  if (node != NULL) file->plugin_file = file_open(store, node, status);
  mtx_unlock(&store->mutex);
}

/* A draft of a file for a directory that exists, or NULL with an error. */
static Node* drafted(Store* store, const char* path, TF_Status* status) {
  const Node* there = store_find(store, path);
  if (there != NULL && there->is_directory) {
    TF_SetStatus(status, TF_FAILED_PRECONDITION, "it is a directory");
    return NULL;
  }
  if (store_parent(store, path) == NULL) {
    TF_SetStatus(status, TF_NOT_FOUND, "there is no directory for it");
    return NULL;
  }
  Node* node = store_draft(path);
  if (node == NULL) TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for it");
  return node;
}

static void open_for_writing(const TF_Filesystem* filesystem, const char* path, bool keep,
                             TF_WritableFile* file, TF_Status* status) {
  Store* store = locked(filesystem);
  Node* node = keep ? store_find(store, path) : NULL;
  node = node != NULL ? needed_file(store, path, status) : drafted(store, path, status);
  if (node != NULL) file->plugin_file = file_open(store, node, status);
  mtx_unlock(&store->mutex);
}

static void new_writable_file(const TF_Filesystem* filesystem, const char* path,
                              TF_WritableFile* file, TF_Status* status) {
  open_for_writing(filesystem, path, false, file, status);
}

static void new_appendable_file(const TF_Filesystem* filesystem, const char* path,
                                TF_WritableFile* file, TF_Status* status) {
  open_for_writing(filesystem, path, true, file, status);
}

static void new_region(const TF_Filesystem* filesystem, const char* path,
                       TF_ReadOnlyMemoryRegion* region, TF_Status* status) {
  Store* store = locked(filesystem);
  const Node* node = needed_file(store, path, status);
  if (node != NULL) region->plugin_memory_region = region_open(node, status);
  mtx_unlock(&store->mutex);
}

static void create_dir(const TF_Filesystem* filesystem, const char* path, TF_Status* status) {
  Store* store = locked(filesystem);
  if (store_find(store, path) != NULL) {
    TF_SetStatus(status, TF_ALREADY_EXISTS, "there is something of this name");
  } else {
    add_directory(store, path, status);
  }
  mtx_unlock(&store->mutex);
}

static void delete_file(const TF_Filesystem* filesystem, const char* path, TF_Status* status) {
  Store* store = locked(filesystem);
  Node* node = needed_file(store, path, status);
  if (node != NULL) store_remove(store, node);
  mtx_unlock(&store->mutex);
}

static bool is_empty(const Store* store, const Node* directory) {
  for (size_t k = 0; k < store->count; ++k) {
    if (store_name_in(store->nodes[k], directory->path) != NULL) return false;
  }
  return true;
}

static void delete_dir(const TF_Filesystem* filesystem, const char* path, TF_Status* status) {
  Store* store = locked(filesystem);
  Node* node = needed(store, path, status);
  if (node != NULL && !node->is_directory) {
    TF_SetStatus(status, TF_FAILED_PRECONDITION, "it is a file");
  } else if (node != NULL && (strcmp(path, "/") == 0 || !is_empty(store, node))) {
    TF_SetStatus(status, TF_FAILED_PRECONDITION, "it is not empty");
  } else if (node != NULL) {
    store_remove(store, node);
  }
  mtx_unlock(&store->mutex);
}

static void rename_file(const TF_Filesystem* filesystem, const char* src, const char* dst,
                        TF_Status* status) {
  Store* store = locked(filesystem);
  Node* node = needed_file(store, src, status);
  Node* there = store_find(store, dst);
  if (node == NULL || node == there) {
    mtx_unlock(&store->mutex);
    return;
  }
  if (there != NULL && there->is_directory) {
    TF_SetStatus(status, TF_FAILED_PRECONDITION, "the new name is a directory's");
  } else if (store_parent(store, dst) == NULL) {
    TF_SetStatus(status, TF_NOT_FOUND, "there is no directory for the new name");
  } else {
    if (there != NULL) store_remove(store, there);
    if (!store_rename(store, node, dst)) {
      TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for the new name");
    }
  }
  mtx_unlock(&store->mutex);
}

static void path_exists(const TF_Filesystem* filesystem, const char* path, TF_Status* status) {
  Store* store = locked(filesystem);
  needed(store, path, status);
  mtx_unlock(&store->mutex);
}

static void stat_path(const TF_Filesystem* filesystem, const char* path, TF_FileStatistics* stats,
                      TF_Status* status) {
  Store* store = locked(filesystem);
  const Node* node = needed(store, path, status);
  if (node != NULL) {
    stats->length = (int64_t)node->length;
    stats->mtime_nsec = node->mtime_nsec;
    stats->is_directory = node->is_directory;
  }
  mtx_unlock(&store->mutex);
}

static char* text_copy(const char* text) {
  const size_t size = strlen(text) + 1;
  char* out = malloc(size);
  return out == NULL ? NULL : memcpy(out, text, size);
}

/* The names in a directory that exists; -1 with an error. */
static int listed(const Store* store, const Node* directory, char*** entries, TF_Status* status) {
  char** names = calloc(store->count, sizeof *names);
  int count = 0;
  bool whole = names != NULL;
  for (size_t k = 0; whole && k < store->count; ++k) {
    const char* name = store_name_in(store->nodes[k], directory->path);
    if (name == NULL) continue;
    names[count] = text_copy(name);
    whole = names[count++] != NULL;
  }
  if (whole) {
    *entries = names;
    return count;
  }
  for (int k = 0; k < count; ++k) free(names[k]);
  free(names);
  TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for the names");
  return -1;
}

static int get_children(const TF_Filesystem* filesystem, const char* path, char*** entries,
                        TF_Status* status) {
  Store* store = locked(filesystem);
  const Node* node = needed(store, path, status);
  int count = -1;
  if (node != NULL && !node->is_directory) {
    TF_SetStatus(status, TF_FAILED_PRECONDITION, "it is a file");
  } else if (node != NULL) {
    count = listed(store, node, entries, status);
  }
  mtx_unlock(&store->mutex);
  return count;
}

static void* memory_allocate(size_t size) { return calloc(1, size); }
static void memory_free(void* pointer) { free(pointer); }

static void fill_table(TF_FilesystemOps* ops) {
  ops->init = init;
  ops->cleanup = cleanup;
  ops->new_random_access_file = new_random_access_file;
  ops->new_writable_file = new_writable_file;
  ops->new_appendable_file = new_appendable_file;
  ops->new_read_only_memory_region_from_file = new_region;
  ops->create_dir = create_dir;
  ops->delete_file = delete_file;
  ops->delete_dir = delete_dir;
  ops->rename_file = rename_file;
  ops->path_exists = path_exists;
  ops->stat = stat_path;
  ops->get_children = get_children;
}

/* The host frees what is allocated here, with memory_free. Without memory nothing is offered. */
void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  info->plugin_memory_allocate = memory_allocate;
  info->plugin_memory_free = memory_free;
  TF_FilesystemPluginOps* ops = memory_allocate(sizeof *ops);
  if (ops == NULL) return;
  info->ops = ops;
  info->num_schemes = 1;
  TF_SetFilesystemVersionMetadata(ops);
  ops->scheme = text_copy("ramdemo");
  ops->filesystem_ops = memory_allocate(sizeof *ops->filesystem_ops);
  ops->random_access_file_ops = memory_allocate(sizeof *ops->random_access_file_ops);
  ops->writable_file_ops = memory_allocate(sizeof *ops->writable_file_ops);
  ops->read_only_memory_region_ops = memory_allocate(sizeof *ops->read_only_memory_region_ops);
  if (ops->filesystem_ops != NULL) fill_table(ops->filesystem_ops);
  if (ops->random_access_file_ops != NULL) readable_table(ops->random_access_file_ops);
  if (ops->writable_file_ops != NULL) writable_table(ops->writable_file_ops);
  if (ops->read_only_memory_region_ops != NULL) region_table(ops->read_only_memory_region_ops);
}
