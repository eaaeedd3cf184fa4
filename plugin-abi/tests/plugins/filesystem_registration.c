/* A filesystem plugin whose registration a test spoils.
 *
 * -DSCHEME=\"name\" and -DSCHEMES=n say what is offered (name, name1, name2, ...);
 * -DSPOIL=statements run over `info` and `first` (the first scheme) before TF_InitPlugin returns.
 * -DINIT=statements run in `init` over `status`.
 */
#include <stdlib.h>
#include <string.h>

#include "drystone/filesystem.h"

#ifndef SCHEMES
#define SCHEMES 1
#endif
#ifndef SPOIL
#define SPOIL
#endif
#ifndef INIT
#define INIT
#endif
#define SHOWN __attribute__((visibility("default"), unused))

enum { kRoom = 128 }; /* bytes after each table, as a newer plugin would have */

static int blocks, inits, cleanups;

SHOWN int blocks_alive(void) { return blocks; }
SHOWN int inits_called(void) { return inits; }
SHOWN int cleanups_called(void) { return cleanups; }

static void* allocate(size_t size) {
  blocks += 1;
  return calloc(1, size);
}

static void release(void* pointer) {
  if (pointer != NULL) blocks -= 1;
  free(pointer);
}

static void init(TF_Filesystem* filesystem, TF_Status* status) {
  (void)status;
  inits += 1;
  filesystem->plugin_filesystem = &inits;
  INIT;
}

static void cleanup(TF_Filesystem* filesystem) {
  cleanups += filesystem->plugin_filesystem == &inits ? 1 : 100;
}

static void open_readable(const TF_Filesystem* filesystem, const char* path,
                          TF_RandomAccessFile* file, TF_Status* status) {
  (void)filesystem, (void)path, (void)file, (void)status;
}
static void open_writable(const TF_Filesystem* filesystem, const char* path, TF_WritableFile* file,
                          TF_Status* status) {
  (void)filesystem, (void)path, (void)file, (void)status;
}
static void open_region(const TF_Filesystem* filesystem, const char* path,
                        TF_ReadOnlyMemoryRegion* region, TF_Status* status) {
  (void)filesystem, (void)path, (void)region, (void)status;
}
static void close_readable(TF_RandomAccessFile* file) { (void)file; }
static void close_writable(TF_WritableFile* file) { (void)file; }
static void close_region(TF_ReadOnlyMemoryRegion* region) { (void)region; }
static const void* region_data(const TF_ReadOnlyMemoryRegion* region) { return region; }
static uint64_t region_length(const TF_ReadOnlyMemoryRegion* region) {
  (void)region;
  return 0;
}

static char* scheme_name(int number) {
  char* text = allocate(64);
  strcpy(text, SCHEME);
  if (number != 0) text[strlen(text)] = (char)('0' + number);
  return text;
}

static void offer(TF_FilesystemPluginOps* ops, int number) {
  TF_SetFilesystemVersionMetadata(ops);
  ops->scheme = scheme_name(number);
  ops->filesystem_ops = allocate(sizeof *ops->filesystem_ops + kRoom);
  ops->filesystem_ops->init = init;
  ops->filesystem_ops->cleanup = cleanup;
  ops->filesystem_ops->new_random_access_file = open_readable;
  ops->filesystem_ops->new_writable_file = open_writable;
  ops->filesystem_ops->new_appendable_file = open_writable;
  ops->filesystem_ops->new_read_only_memory_region_from_file = open_region;
  ops->random_access_file_ops = allocate(sizeof *ops->random_access_file_ops + kRoom);
  ops->random_access_file_ops->cleanup = close_readable;
  ops->writable_file_ops = allocate(sizeof *ops->writable_file_ops + kRoom);
  ops->writable_file_ops->cleanup = close_writable;
  ops->read_only_memory_region_ops = allocate(sizeof *ops->read_only_memory_region_ops + kRoom);
  ops->read_only_memory_region_ops->cleanup = close_region;
  ops->read_only_memory_region_ops->data = region_data;
  ops->read_only_memory_region_ops->length = region_length;
}

SHOWN void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  TF_FilesystemPluginOps* first = allocate(SCHEMES * sizeof *first);
  info->plugin_memory_allocate = allocate;
  info->plugin_memory_free = release;
  info->num_schemes = SCHEMES;
  info->ops = first;
  for (int k = 0; k < SCHEMES; ++k) offer(first + k, k);
  SPOIL;
}
