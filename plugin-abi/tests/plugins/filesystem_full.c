/* A filesystem that has every member, notes each call, and misbehaves where a test asks for it.
 *
 * -DSCHEME=\"name\" is what it serves. Paths that contain "missing" are TF_NOT_FOUND, "denied" is
 * TF_PERMISSION_DENIED. A macro ON_<MEMBER> is run at the start of that member, over its arguments.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drystone/filesystem.h"
#include "filesystem_hooks.h"

#define SHOWN __attribute__((visibility("default"), unused))

static char noted[1 << 16];

/* What was called since the last time. */
SHOWN const char* take_notes(void) {
  static char out[sizeof noted];
  memcpy(out, noted, sizeof out);
  noted[0] = '\0';
  return out;
}

static void note(const char* format, ...) {
  const size_t used = strlen(noted);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(noted + used, sizeof noted - used, format, arguments);
  va_end(arguments);
  strncat(noted, ";", sizeof noted - strlen(noted) - 1);
}

static int blocks;
SHOWN int blocks_alive(void) { return blocks; }

static void* allocate(size_t size) {
  blocks += 1;
  return calloc(1, size == 0 ? 1 : size);
}

static void release(void* pointer) {
  if (pointer != NULL) blocks -= 1;
  free(pointer);
}

static char* text_of(const char* text) { return strcpy(allocate(strlen(text) + 1), text); }

/* Note a call on a path, and answer as the path says; every status must come fresh. */
static bool fine(const char* member, const char* path, TF_Status* status) {
  note("%s %s", member, path);
  if (TF_GetCode(status) != TF_OK || *TF_Message(status) != '\0') note("STALE STATUS");
  if (strstr(path, "missing") != NULL) TF_SetStatus(status, TF_NOT_FOUND, "it is missing");
  if (strstr(path, "denied") != NULL) TF_SetStatus(status, TF_PERMISSION_DENIED, "not you");
  return TF_GetCode(status) == TF_OK;
}

/* ---- open files ---- */

static void readable_cleanup(TF_RandomAccessFile* file) {
  ON_CLEANUP_FILE
  note("cleanup readable %d", file->plugin_file != NULL);
}

/* A file of the bytes 0, 1, ... 9. */
static int64_t readable_read(const TF_RandomAccessFile* file, uint64_t offset, size_t n,
                             char* buffer, TF_Status* status) {
  (void)file;
  note("read %llu %zu", (unsigned long long)offset, n);
  ON_READ
  int64_t got = 0;
  for (; (size_t)got < n && offset + (uint64_t)got < 10; ++got) {
    buffer[got] = (char)('0' + offset + (uint64_t)got);
  }
  if ((size_t)got < n) TF_SetStatus(status, TF_OUT_OF_RANGE, "no more");
  return got;
}

static void writable_cleanup(TF_WritableFile* file) {
  note("cleanup writable %d", file->plugin_file != NULL);
}
static void writable_append(const TF_WritableFile* file, const char* buffer, size_t n,
                            TF_Status* status) {
  (void)file;
  note("append %.*s", (int)n, buffer);
  (void)status;
  ON_APPEND
}
static int64_t writable_tell(const TF_WritableFile* file, TF_Status* status) {
  (void)file, (void)status;
  note("tell");
  ON_TELL
  return 42;
}
static void writable_flush(const TF_WritableFile* file, TF_Status* status) {
  (void)file, (void)status;
  note("flush");
}
static void writable_sync(const TF_WritableFile* file, TF_Status* status) {
  (void)file, (void)status;
  note("sync");
}
static void writable_close(const TF_WritableFile* file, TF_Status* status) {
  (void)file, (void)status;
  note("close");
  ON_CLOSE
}

static void region_cleanup(TF_ReadOnlyMemoryRegion* region) {
  note("cleanup region %d", region->plugin_memory_region != NULL);
}
static const void* region_data(const TF_ReadOnlyMemoryRegion* region) {
  ON_DATA
  return region->plugin_memory_region;
}
static uint64_t region_length(const TF_ReadOnlyMemoryRegion* region) {
  (void)region;
  ON_LENGTH
  return 6;
}

/* ---- the filesystem ---- */

static char state[] = "region";

static void init(TF_Filesystem* filesystem, TF_Status* status) {
  note("init %d", TF_GetCode(status));
  filesystem->plugin_filesystem = state;
}
static void cleanup(TF_Filesystem* filesystem) {
  note("cleanup %s", (const char*)filesystem->plugin_filesystem);
  ON_CLEANUP
}

static void new_random_access_file(const TF_Filesystem* filesystem, const char* path,
                                   TF_RandomAccessFile* file, TF_Status* status) {
  (void)filesystem;
  ON_OPEN
  if (fine("new_random_access_file", path, status)) file->plugin_file = state;
}
static void new_writable_file(const TF_Filesystem* filesystem, const char* path,
                              TF_WritableFile* file, TF_Status* status) {
  (void)filesystem;
  if (fine("new_writable_file", path, status)) file->plugin_file = state;
}
static void new_appendable_file(const TF_Filesystem* filesystem, const char* path,
                                TF_WritableFile* file, TF_Status* status) {
  (void)filesystem;
  if (fine("new_appendable_file", path, status)) file->plugin_file = state;
}
static void new_region(const TF_Filesystem* filesystem, const char* path,
                       TF_ReadOnlyMemoryRegion* region, TF_Status* status) {
  (void)filesystem;
  if (fine("new_read_only_memory_region_from_file", path, status)) {
    region->plugin_memory_region = state;
  }
}

#define ON_ONE_PATH(name)                                                             \
  static void name(const TF_Filesystem* filesystem, const char* path, TF_Status* status) { \
    (void)filesystem;                                                                 \
    fine(#name, path, status);                                                        \
  }
ON_ONE_PATH(create_dir)
ON_ONE_PATH(recursively_create_dir)
ON_ONE_PATH(delete_file)
ON_ONE_PATH(delete_dir)
ON_ONE_PATH(path_exists)

static void delete_recursively(const TF_Filesystem* filesystem, const char* path,
                               uint64_t* undeleted_files, uint64_t* undeleted_dirs,
                               TF_Status* status) {
  (void)filesystem;
  ON_DELETE
  if (fine("delete_recursively", path, status)) return;
  *undeleted_files = 3;
  *undeleted_dirs = 4;
}

#define ON_TWO_PATHS(name)                                                          \
  static void name(const TF_Filesystem* filesystem, const char* src, const char* dst, \
                   TF_Status* status) {                                             \
    (void)filesystem;                                                               \
    note("to %s", dst);                                                             \
    fine(#name, src, status);                                                       \
  }
ON_TWO_PATHS(rename_file)
ON_TWO_PATHS(copy_file)

static bool paths_exist(const TF_Filesystem* filesystem, char** paths, int num_files,
                        TF_Status** statuses) {
  (void)filesystem;
  ON_PATHS
  bool all = true;
  for (int k = 0; k < num_files; ++k) all = fine("paths_exist", paths[k], statuses[k]) && all;
  return all;
}

static void stat_path(const TF_Filesystem* filesystem, const char* path, TF_FileStatistics* stats,
                      TF_Status* status) {
  (void)filesystem;
  ON_STAT
  if (!fine("stat", path, status)) return;
  stats->length = 10;
  stats->mtime_nsec = 7;
}

static bool is_directory(const TF_Filesystem* filesystem, const char* path, TF_Status* status) {
  (void)filesystem;
  return fine("is_directory", path, status) && strstr(path, "file") == NULL;
}

static int64_t get_file_size(const TF_Filesystem* filesystem, const char* path,
                             TF_Status* status) {
  (void)filesystem;
  ON_SIZE
  return fine("get_file_size", path, status) ? 10 : -1;
}

static char* translate_name(const TF_Filesystem* filesystem, const char* uri) {
  (void)filesystem;
  ON_TRANSLATE
  char* out = allocate(strlen(uri) + 2);
  strcpy(out, "=");
  return strcat(out, uri);
}

static int two_names(char*** entries, const char* first, const char* second) {
  *entries = allocate(2 * sizeof **entries);
  (*entries)[0] = text_of(first);
  (*entries)[1] = text_of(second);
  return 2;
}

static int get_children(const TF_Filesystem* filesystem, const char* path, char*** entries,
                        TF_Status* status) {
  (void)filesystem;
  ON_CHILDREN
  return fine("get_children", path, status) ? two_names(entries, "b", "a") : -1;
}

static int get_matching_paths(const TF_Filesystem* filesystem, const char* glob, char*** entries,
                              TF_Status* status) {
  (void)filesystem;
  ON_MATCHING
  return fine("get_matching_paths", glob, status) ? two_names(entries, "x://b", "x://a") : -1;
}

static void flush_caches(const TF_Filesystem* filesystem) {
  (void)filesystem;
  note("flush_caches");
}

/* ---- transactions and options ---- */

static int start_transaction(const TF_Filesystem* filesystem, TF_TransactionToken** token,
                             TF_Status* status) {
  (void)status;
  ON_TRANSACTION
  *token = allocate(sizeof **token);
  (*token)->token = state;
  (*token)->owner = (TF_Filesystem*)(uintptr_t)filesystem;
  return 0;
}
static int end_transaction(const TF_Filesystem* filesystem, TF_TransactionToken* token,
                           TF_Status* status) {
  (void)filesystem, (void)status;
  note("end_transaction %s", (const char*)token->token);
  release(token);
  return 0;
}
static int add_to_transaction(const TF_Filesystem* filesystem, const char* path,
                              TF_TransactionToken* token, TF_Status* status) {
  (void)filesystem, (void)token;
  return fine("add_to_transaction", path, status) ? 0 : 1;
}
static int get_transaction_for_path(const TF_Filesystem* filesystem, const char* path,
                                    TF_TransactionToken** token, TF_Status* status) {
  if (!fine("get_transaction_for_path", path, status)) return 1;
  return start_transaction(filesystem, token, status);
}
static int get_or_start(const TF_Filesystem* filesystem, const char* path,
                        TF_TransactionToken** token, TF_Status* status) {
  if (!fine("get_or_start_transaction_for_path", path, status)) return 1;
  return start_transaction(filesystem, token, status);
}
static char* decode_transaction_token(const TF_Filesystem* filesystem,
                                      const TF_TransactionToken* token) {
  (void)filesystem;
  return text_of(token->token);
}

static TF_Filesystem_Option_Value_Union numbers[2] = {{.int_val = -3}, {.int_val = 9}};
static TF_Filesystem_Option_Value_Union reals[1] = {{.real_val = 0.5}};
static TF_Filesystem_Option_Value_Union buffers[1] = {{.buffer_val = {"bytes", 5}}};
static TF_Filesystem_Option_Value values[3] = {
    {TF_Filesystem_Option_Type_Int, 2, numbers},
    {TF_Filesystem_Option_Type_Real, 1, reals},
    {TF_Filesystem_Option_Type_Buffer, 1, buffers},
};
static TF_Filesystem_Option options[4] = {
    {"retries", "how often", 0, &values[0]},
    {"share", NULL, 1, &values[1]},
    {"key", "secret", 0, &values[2]},
    {NULL, NULL, 0, NULL},
};

static void get_configuration(const TF_Filesystem* filesystem, TF_Filesystem_Option** out,
                              int* num_options, TF_Status* status) {
  (void)filesystem, (void)status;
  *out = options;
  *num_options = 4;
  ON_OPTIONS
}
static void set_configuration(const TF_Filesystem* filesystem, const TF_Filesystem_Option* given,
                              int num_options, TF_Status* status) {
  (void)filesystem, (void)given, (void)status;
  note("set_filesystem_configuration %d", num_options);
}
static void get_option(const TF_Filesystem* filesystem, const char* key,
                       TF_Filesystem_Option** option, TF_Status* status) {
  (void)filesystem;
  if (fine("get_filesystem_configuration_option", key, status)) *option = options;
}
static void set_option(const TF_Filesystem* filesystem, const TF_Filesystem_Option* option,
                       TF_Status* status) {
  (void)filesystem, (void)status;
  note("set_filesystem_configuration_option %s", option->name);
}
static void get_keys(const TF_Filesystem* filesystem, char** keys, int* num_keys,
                     TF_Status* status) {
  static const char names[] = "retries\0share";
  (void)filesystem, (void)status;
  note("get_filesystem_configuration_keys");
  *keys = memcpy(allocate(sizeof names), names, sizeof names);
  *num_keys = 2;
  ON_KEYS
}

static const TF_FilesystemOps kFilesystem = {
    init, cleanup, new_random_access_file, new_writable_file, new_appendable_file, new_region,
    create_dir, recursively_create_dir, delete_file, delete_dir, delete_recursively, rename_file,
    copy_file, path_exists, paths_exist, stat_path, is_directory, get_file_size, translate_name,
    get_children, get_matching_paths, flush_caches, start_transaction, end_transaction,
    add_to_transaction, get_transaction_for_path, get_or_start, decode_transaction_token,
    get_configuration, set_configuration, get_option, set_option, get_keys};
static const TF_RandomAccessFileOps kReadable = {readable_cleanup, readable_read};
static const TF_WritableFileOps kWritable = {writable_cleanup, writable_append, writable_tell,
                                             writable_flush, writable_sync, writable_close};
static const TF_ReadOnlyMemoryRegionOps kRegion = {region_cleanup, region_data, region_length};

static void* copy_of(const void* table, size_t size) { return memcpy(allocate(size), table, size); }

SHOWN void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  info->plugin_memory_allocate = allocate;
  info->plugin_memory_free = release;
  info->num_schemes = 1;
  TF_FilesystemPluginOps* ops = info->ops = allocate(sizeof *ops);
  TF_SetFilesystemVersionMetadata(ops);
  ops->scheme = text_of(SCHEME);
  ops->filesystem_ops = copy_of(&kFilesystem, sizeof kFilesystem);
  ops->random_access_file_ops = copy_of(&kReadable, sizeof kReadable);
  ops->writable_file_ops = copy_of(&kWritable, sizeof kWritable);
  ops->read_only_memory_region_ops = copy_of(&kRegion, sizeof kRegion);
  TF_FilesystemOps* table = ops->filesystem_ops;
  TF_WritableFileOps* writable = ops->writable_file_ops;
  (void)table, (void)writable;
  LEAVE_OUT
}
