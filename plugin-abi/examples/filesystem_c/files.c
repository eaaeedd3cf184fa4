/* Open files and memory regions: see files.h. */
#include "files.h"

#include <stdlib.h>
#include <string.h>

typedef struct OpenFile {
  Store* store;
  Node* node;
  bool is_draft; /* a new file that does not show yet */
} OpenFile;

typedef struct Region {
  size_t length;
  char data[];
} Region;

void* file_open(Store* store, Node* node, TF_Status* status) {
  OpenFile* file = malloc(sizeof *file);
  node->open += 1;
  if (file == NULL) {
    store_close(node);
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for the open file");
    return NULL;
  }
  file->store = store;
  file->node = node;
  file->is_draft = !node->is_named;
  return file;
}

static void file_close(OpenFile* file) {
  Store* store = file->store;
  mtx_lock(&store->mutex);
  store_close(file->node);
  mtx_unlock(&store->mutex);
  free(file);
}

static void readable_cleanup(TF_RandomAccessFile* file) { file_close(file->plugin_file); }
static void writable_cleanup(TF_WritableFile* file) { file_close(file->plugin_file); }

static int64_t file_read(const TF_RandomAccessFile* file, uint64_t offset, size_t n, char* buffer,
                         TF_Status* status) {
  const OpenFile* open = file->plugin_file;
  mtx_lock(&open->store->mutex);
  const Node* node = open->node;
  const size_t left = offset < node->length ? node->length - (size_t)offset : 0;
  const size_t got = n < left ? n : left;
  if (got != 0) memcpy(buffer, node->data + offset, got);
  mtx_unlock(&open->store->mutex);
  if (got < n) TF_SetStatus(status, TF_OUT_OF_RANGE, "the file ends here");
  return (int64_t)got;
}

static void file_append(const TF_WritableFile* file, const char* buffer, size_t n,
                        TF_Status* status) {
  const OpenFile* open = file->plugin_file;
  mtx_lock(&open->store->mutex);
  const bool done = store_append(open->node, buffer, n);
  mtx_unlock(&open->store->mutex);
  if (!done) TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for the bytes");
}

static int64_t file_tell(const TF_WritableFile* file, TF_Status* status) {
  (void)status;
  const OpenFile* open = file->plugin_file;
  mtx_lock(&open->store->mutex);
  const int64_t length = (int64_t)open->node->length;
  mtx_unlock(&open->store->mutex);
  return length;
}

/* A new file shows when it is flushed or closed; one that is given up never does. */
static void file_show(const TF_WritableFile* file, TF_Status* status) {
  OpenFile* open = file->plugin_file;
  mtx_lock(&open->store->mutex);
  if (open->is_draft && !store_show(open->store, open->node)) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for its name");
  } else {
    open->is_draft = false;
  }
  mtx_unlock(&open->store->mutex);
}

void* region_open(const Node* node, TF_Status* status) {
  Region* region = malloc(sizeof *region + node->length);
  if (region == NULL) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for the region");
    return NULL;
  }
  region->length = node->length;
  if (node->length != 0) memcpy(region->data, node->data, node->length);
  return region;
}

static void region_cleanup(TF_ReadOnlyMemoryRegion* region) { free(region->plugin_memory_region); }

static const void* region_data(const TF_ReadOnlyMemoryRegion* region) {
  return ((const Region*)region->plugin_memory_region)->data;
}

static uint64_t region_length(const TF_ReadOnlyMemoryRegion* region) {
  return ((const Region*)region->plugin_memory_region)->length;
}

void readable_table(TF_RandomAccessFileOps* ops) {
  ops->cleanup = readable_cleanup;
  ops->read = file_read;
}

/* The host flushes where it would sync: that member stays NULL. */
void writable_table(TF_WritableFileOps* ops) {
  ops->cleanup = writable_cleanup;
  ops->append = file_append;
  ops->tell = file_tell;
  ops->flush = file_show;
  ops->close = file_show;
}

void region_table(TF_ReadOnlyMemoryRegionOps* ops) {
  ops->cleanup = region_cleanup;
  ops->data = region_data;
  ops->length = region_length;
}
