/* The filesystem module: a plugin that gives the host new kinds of paths.
 *
 * Since ABI 1.0. Implemented by the plugin, called by the host. Layouts, names and signatures are
 * those of TensorFlow's filesystem_interface.h, so that a plugin built for that loads here
 * unchanged; this header is valid C11, too.
 *
 * The way of a load
 *   1. The host opens the library and looks for TF_InitPlugin.
 *   2. It calls TF_InitPlugin with a zeroed TF_FilesystemPluginInfo. The plugin sets its two memory
 *      functions, allocates an array of TF_FilesystemPluginOps, one element per scheme, allocates
 *      the scheme's name and the tables it implements, fills them in, and returns.
 *   3. Scheme by scheme the host checks versions, then members, copies the tables (the smaller of
 *      the plugin's size and its own, into zeroed memory), and calls `init`. A scheme that fails is
 *      left out and the others are kept; the first error is what the caller of the load sees.
 *   4. The host frees the names, the tables and the array with `plugin_memory_free`, whether it
 *      worked or not. So all of them are allocated memory, never constants.
 *   5. At shutdown the host calls `cleanup` of each filesystem once. It never unloads the library.
 *
 * What the host promises to every function of the tables
 *   - Pointers are not NULL, except where a comment says so.
 *   - Every path went through `translate_name` first, patterns excepted. A plugin that leaves that
 *     member NULL is given the path alone, cleaned up ("/a/b" for "scheme://host/a//./b"); one that
 *     wants to see scheme and host sets it, and may answer a copy of what it is given.
 *   - `status` is fresh (TF_OK), so leaving it alone means success. Its message is kept whole.
 *   - Calls may come from several threads at once, for one filesystem, too. One file is used by one
 *     thread at a time, except `read`, which must allow several.
 * What the plugin promises
 *   - It touches only the memory it is given, and no C++ exception leaves a function.
 *   - Strings and arrays that it returns come from its own `plugin_memory_allocate`; the host frees
 *     them with `plugin_memory_free`.
 *   - A member left NULL is "not offered". What the host then does is said at the member.
 *
 * Handles hold one pointer that belongs to the plugin; the host hands them over zeroed, keeps the
 * holder, and never looks in.
 */
#ifndef DRYSTONE_FILESYSTEM_H_
#define DRYSTONE_FILESYSTEM_H_

#include "drystone/file_statistics.h"
#include "drystone/macros.h"
#include "drystone/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Holders of the plugin's state ----------------------------------------------------------- */

/* A file open for reading at any place. 8 bytes. */
typedef struct TF_RandomAccessFile {
  void* plugin_file; /* set by new_random_access_file; cleared by `cleanup` */
} TF_RandomAccessFile;

/* A file open for writing at its end. 8 bytes. */
typedef struct TF_WritableFile {
  void* plugin_file; /* set by new_writable_file or new_appendable_file */
} TF_WritableFile;

/* A file as one piece of memory. 8 bytes. */
typedef struct TF_ReadOnlyMemoryRegion {
  void* plugin_memory_region; /* set by new_read_only_memory_region_from_file */
} TF_ReadOnlyMemoryRegion;

/* A filesystem. 8 bytes. */
typedef struct TF_Filesystem {
  void* plugin_filesystem; /* set by `init`; NULL is fine for a filesystem without state */
} TF_Filesystem;

/* A transaction. 16 bytes. Made by the plugin with `plugin_memory_allocate`. */
typedef struct TF_TransactionToken {
  void* token;          /* the plugin's */
  TF_Filesystem* owner; /* the filesystem that made it */
} TF_TransactionToken;

/* ---- Options --------------------------------------------------------------------------------- */

/* One value of an option; which member counts is said by the type tag. 16 bytes. */
typedef union TF_Filesystem_Option_Value_Union {
  int64_t int_val; /* TF_Filesystem_Option_Type_Int */
  double real_val; /* TF_Filesystem_Option_Type_Real */
  struct {
    char* buf;      /* bytes, not NUL-terminated */
    int buf_length; /* how many */
  } buffer_val;     /* TF_Filesystem_Option_Type_Buffer */
} TF_Filesystem_Option_Value_Union;

/* A list of values of one type. 16 bytes. */
typedef struct TF_Filesystem_Option_Value {
  int type_tag;                             /* a TF_Filesystem_Option_Type */
  int num_values;                           /* length of `values` */
  TF_Filesystem_Option_Value_Union* values; /* owned by the owner of the option */
} TF_Filesystem_Option_Value;

/* The types of values; more may be appended. */
typedef enum TF_Filesystem_Option_Type {
  TF_Filesystem_Option_Type_Int = 0,
  TF_Filesystem_Option_Type_Real = 1,
  TF_Filesystem_Option_Type_Buffer = 2,
  TF_Filesystem_Num_Option_Types = 3 /* how many there are in this version */
} TF_Filesystem_Option_Type;

/* A named option of a filesystem. 32 bytes. */
typedef struct TF_Filesystem_Option {
  char* name;                        /* NUL-terminated */
  char* description;                 /* NUL-terminated, for people; may be NULL */
  int per_file;                      /* nonzero: holds for one file, and not for all */
  TF_Filesystem_Option_Value* value; /* may be NULL: no value */
} TF_Filesystem_Option;

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Functions of a file open for reading. 16 bytes. Needed when new_random_access_file is set. */
typedef struct TF_RandomAccessFileOps {
  /* Free the plugin's state. Called once, after the last read. Required. */
  void (*cleanup)(TF_RandomAccessFile* file);
  /* Copy up to `n` bytes from `offset` into `buffer` and answer how many. TF_OK when it is all `n`;
   * TF_OUT_OF_RANGE when the file ends before, and the bytes that were there are in `buffer` and
   * counted; any other status is an error and the answer -1. NULL: reading is TF_UNIMPLEMENTED. */
  int64_t (*read)(const TF_RandomAccessFile* file, uint64_t offset, size_t n, char* buffer,
                  TF_Status* status);
} TF_RandomAccessFileOps;

/* Functions of a file open for writing. 48 bytes. Needed when new_writable_file or
 * new_appendable_file is set. */
typedef struct TF_WritableFileOps {
  /* Free the plugin's state. Called once, after `close`, and also when `close` failed. Required. */
  void (*cleanup)(TF_WritableFile* file);
  /* Add bytes at the end. `buffer` is the host's and lives only during the call. NULL: appending is
   * TF_UNIMPLEMENTED. */
  void (*append)(const TF_WritableFile* file, const char* buffer, size_t n, TF_Status* status);
  /* The place of the next byte; -1 with an error. NULL: TF_UNIMPLEMENTED. */
  int64_t (*tell)(const TF_WritableFile* file, TF_Status* status);
  /* Let others see what was appended, even if it is not on the medium. NULL: nothing to do. */
  void (*flush)(const TF_WritableFile* file, TF_Status* status);
  /* Bring what was appended onto the medium. NULL: the host calls `flush` instead. */
  void (*sync)(const TF_WritableFile* file, TF_Status* status);
  /* End the file. Called at most once; nothing but `cleanup` follows. NULL: the host calls `flush`
   * instead. */
  void (*close)(const TF_WritableFile* file, TF_Status* status);
} TF_WritableFileOps;

/* Functions of a memory region. 24 bytes. Needed when new_read_only_memory_region_from_file is set.
 * */
typedef struct TF_ReadOnlyMemoryRegionOps {
  /* Free the region; `data` is no longer read. Required. */
  void (*cleanup)(TF_ReadOnlyMemoryRegion* region);
  /* Where the bytes are. The same answer each time. NULL only when the length is 0. Required. */
  const void* (*data)(const TF_ReadOnlyMemoryRegion* region);
  /* How many there are. The same answer each time. Required. */
  uint64_t (*length)(const TF_ReadOnlyMemoryRegion* region);
} TF_ReadOnlyMemoryRegionOps;

/* Functions of a filesystem. 264 bytes: 33 pointers. */
typedef struct TF_FilesystemOps {
  /* Make the plugin's state. Called once, before every other function. An error means that the
   * scheme is not registered, and `cleanup` is not called. Required. */
  void (*init)(TF_Filesystem* filesystem, TF_Status* status);

  /* Free the plugin's state. Called once, at shutdown, when every file is closed. Required. */
  void (*cleanup)(TF_Filesystem* filesystem);

  /* Open a file for reading. TF_NOT_FOUND when there is none, TF_FAILED_PRECONDITION for a
   * directory. When it fails nothing is to be freed. Members from here on may be NULL, and the call
   * is then TF_UNIMPLEMENTED where nothing else is said. */
  void (*new_random_access_file)(const TF_Filesystem* filesystem, const char* path,
                                 TF_RandomAccessFile* file, TF_Status* status);

  /* Create a file, or empty one that exists, for writing. */
  void (*new_writable_file)(const TF_Filesystem* filesystem, const char* path,
                            TF_WritableFile* file, TF_Status* status);

  /* Open a file for writing after its last byte; create it when there is none. */
  void (*new_appendable_file)(const TF_Filesystem* filesystem, const char* path,
                              TF_WritableFile* file, TF_Status* status);

  /* Show a whole file as memory. TF_INVALID_ARGUMENT for an empty file where the store cannot. */
  void (*new_read_only_memory_region_from_file)(const TF_Filesystem* filesystem, const char* path,
                                                TF_ReadOnlyMemoryRegion* region,
                                                TF_Status* status);

  /* Make a directory. TF_ALREADY_EXISTS, TF_NOT_FOUND when its parent does not exist. A store
   * without directories answers TF_OK. */
  void (*create_dir)(const TF_Filesystem* filesystem, const char* path, TF_Status* status);

  /* Make a directory and those above it; TF_OK when it exists. NULL: the host calls `path_exists`
   * and `create_dir` from the top. */
  void (*recursively_create_dir)(const TF_Filesystem* filesystem, const char* path,
                                 TF_Status* status);

  /* Delete a file. TF_NOT_FOUND, TF_FAILED_PRECONDITION for a directory. */
  void (*delete_file)(const TF_Filesystem* filesystem, const char* path, TF_Status* status);

  /* Delete an empty directory. TF_NOT_FOUND, TF_FAILED_PRECONDITION when it is not empty or no
   * directory. */
  void (*delete_dir)(const TF_Filesystem* filesystem, const char* path, TF_Status* status);

  /* Delete a tree, going on after failures; the two counts say how many files and directories are
   * left. Counts are never NULL. NULL: the host walks with `get_children`, `is_directory`,
   * `delete_file` and `delete_dir`. */
  void (*delete_recursively)(const TF_Filesystem* filesystem, const char* path,
                             uint64_t* undeleted_files, uint64_t* undeleted_dirs,
                             TF_Status* status);

  /* Move a file, over one that exists. Both paths are of this scheme. NULL: the host copies and
   * then deletes `src`. */
  void (*rename_file)(const TF_Filesystem* filesystem, const char* src, const char* dst,
                      TF_Status* status);

  /* Copy a file, over one that exists. Both paths are of this scheme. NULL: the host reads and
   * writes. */
  void (*copy_file)(const TF_Filesystem* filesystem, const char* src, const char* dst,
                    TF_Status* status);

  /* TF_OK when there is a file or a directory, TF_NOT_FOUND when not. */
  void (*path_exists)(const TF_Filesystem* filesystem, const char* path, TF_Status* status);

  /* The same for several; true when all exist. `statuses` has one status per path, or is NULL when
   * only the answer is wanted. NULL: the host calls `path_exists` for each. */
  bool (*paths_exist)(const TF_Filesystem* filesystem, char** paths, int num_files,
                      TF_Status** statuses);

  /* Fill in what is known about a path. TF_NOT_FOUND. */
  void (*stat)(const TF_Filesystem* filesystem, const char* path, TF_FileStatistics* stats,
               TF_Status* status);

  /* True and TF_OK for a directory; false with TF_FAILED_PRECONDITION for a file, TF_NOT_FOUND for
   * nothing. NULL: the host asks `stat`. */
  bool (*is_directory)(const TF_Filesystem* filesystem, const char* path, TF_Status* status);

  /* Bytes in a file; -1 with an error, TF_FAILED_PRECONDITION for a directory. NULL: the host asks
   * `stat`. */
  int64_t (*get_file_size)(const TF_Filesystem* filesystem, const char* path, TF_Status* status);

  /* The form, allocated, in which the host hands the path of `uri` to every other function. NULL
   * (the member, or the answer): the path part, without scheme and host, without empty, "." and
   * ".." parts, and "/" when nothing is left. */
  char* (*translate_name)(const TF_Filesystem* filesystem, const char* uri);

  /* The names in a directory (not their paths): sets `*entries` to an allocated array of allocated
   * strings and answers how many; -1 with an error, and `*entries` is then left alone. */
  int (*get_children)(const TF_Filesystem* filesystem, const char* path, char*** entries,
                      TF_Status* status);

  /* The paths that match a pattern ("*", "?" and "[a-z]" within one part of the path, and "\"
   * before a character that means itself; they work on bytes). The pattern comes as the user wrote
   * it, with scheme and host, and so do the answers go back. Allocated like those of get_children.
   * Nothing found is 0 and TF_OK. NULL: the host walks with `get_children`. */
  int (*get_matching_paths)(const TF_Filesystem* filesystem, const char* glob, char*** entries,
                            TF_Status* status);

  /* Forget everything read before. NULL: nothing to do. */
  void (*flush_caches)(const TF_Filesystem* filesystem);

  /* Transactions, for stores that have them. They answer 0 for success, and set the status. This
   * host never begins one by itself. */
  int (*start_transaction)(const TF_Filesystem* filesystem, TF_TransactionToken** token,
                           TF_Status* status);
  int (*end_transaction)(const TF_Filesystem* filesystem, TF_TransactionToken* token,
                         TF_Status* status);
  /* Make `path` part of the transaction. */
  int (*add_to_transaction)(const TF_Filesystem* filesystem, const char* path,
                            TF_TransactionToken* token, TF_Status* status);
  /* The transaction that `path` is part of. */
  int (*get_transaction_for_path)(const TF_Filesystem* filesystem, const char* path,
                                  TF_TransactionToken** token, TF_Status* status);
  /* The same, and a new one when there is none. */
  int (*get_or_start_transaction_for_path)(const TF_Filesystem* filesystem, const char* path,
                                           TF_TransactionToken** token, TF_Status* status);
  /* A transaction in words, allocated. */
  char* (*decode_transaction_token)(const TF_Filesystem* filesystem,
                                    const TF_TransactionToken* token);

  /* All options of the filesystem: sets `*options` to an allocated array. */
  void (*get_filesystem_configuration)(const TF_Filesystem* filesystem,
                                       TF_Filesystem_Option** options, int* num_options,
                                       TF_Status* status);
  /* Set several options; all or none. */
  void (*set_filesystem_configuration)(const TF_Filesystem* filesystem,
                                       const TF_Filesystem_Option* options, int num_options,
                                       TF_Status* status);
  /* One option by its name. TF_NOT_FOUND. */
  void (*get_filesystem_configuration_option)(const TF_Filesystem* filesystem, const char* key,
                                              TF_Filesystem_Option** option, TF_Status* status);
  /* Set one option. */
  void (*set_filesystem_configuration_option)(const TF_Filesystem* filesystem,
                                              const TF_Filesystem_Option* option,
                                              TF_Status* status);
  /* The names of the options: sets `*keys` to one allocated block, in which each name ends with its
   * NUL and the next one follows. */
  void (*get_filesystem_configuration_keys)(const TF_Filesystem* filesystem, char** keys,
                                            int* num_keys, TF_Status* status);
} TF_FilesystemOps;

/* ---- Versions -------------------------------------------------------------------------------- */

/* Of each table three numbers. ABI: raised when a table changes so that old plugins cannot be
 * called; the host refuses another number than its own. API: raised when a meaning changes; the
 * host notes a difference and goes on. SIZE: bytes in the table that this header describes; members
 * are only ever appended, and the host takes the smaller of both sizes. */
#define TF_RANDOM_ACCESS_FILE_OPS_API 0
#define TF_RANDOM_ACCESS_FILE_OPS_ABI 0
#define TF_RANDOM_ACCESS_FILE_OPS_SIZE (sizeof(TF_RandomAccessFileOps))
#define TF_WRITABLE_FILE_OPS_API 0
#define TF_WRITABLE_FILE_OPS_ABI 0
#define TF_WRITABLE_FILE_OPS_SIZE (sizeof(TF_WritableFileOps))
#define TF_READ_ONLY_MEMORY_REGION_OPS_API 0
#define TF_READ_ONLY_MEMORY_REGION_OPS_ABI 0
#define TF_READ_ONLY_MEMORY_REGION_OPS_SIZE (sizeof(TF_ReadOnlyMemoryRegionOps))
#define TF_FILESYSTEM_OPS_API 0
#define TF_FILESYSTEM_OPS_ABI 0
#define TF_FILESYSTEM_OPS_SIZE (sizeof(TF_FilesystemOps))

/* ---- Registration ---------------------------------------------------------------------------- */

/* One scheme of a plugin. 104 bytes. A table that is NULL is not offered; its numbers are then not
 * looked at. `filesystem_ops` is required. */
typedef struct TF_FilesystemPluginOps {
  /* What stands before "://", allocated: a letter, then letters, digits, "+", "-" and ".". A scheme
   * that is taken is refused with TF_ALREADY_EXISTS. "" is the host's own local filesystem, as is
   * "file": both are taken. */
  char* scheme;

  int filesystem_ops_abi;
  int filesystem_ops_api;
  size_t filesystem_ops_size;
  TF_FilesystemOps* filesystem_ops;

  int random_access_file_ops_abi;
  int random_access_file_ops_api;
  size_t random_access_file_ops_size;
  TF_RandomAccessFileOps* random_access_file_ops;

  int writable_file_ops_abi;
  int writable_file_ops_api;
  size_t writable_file_ops_size;
  TF_WritableFileOps* writable_file_ops;

  int read_only_memory_region_ops_abi;
  int read_only_memory_region_ops_api;
  size_t read_only_memory_region_ops_size;
  TF_ReadOnlyMemoryRegionOps* read_only_memory_region_ops;
} TF_FilesystemPluginOps;

/* What TF_InitPlugin fills in. 32 bytes. */
typedef struct TF_FilesystemPluginInfo {
  size_t num_schemes;          /* length of `ops`; 0 when the library offers no filesystem */
  TF_FilesystemPluginOps* ops; /* allocated with plugin_memory_allocate */
  /* The plugin's malloc and free. Both are required when there is a scheme, and must work from any
   * thread as long as the process lives. */
  void* (*plugin_memory_allocate)(size_t size);
  void (*plugin_memory_free)(void* ptr);
} TF_FilesystemPluginInfo;

/* Set the twelve version numbers of `ops` to those of the header that the plugin is built with.
 * Call it for each scheme: this is how the host knows what the plugin knew. */
static inline void TF_SetFilesystemVersionMetadata(TF_FilesystemPluginOps* ops) {
  ops->filesystem_ops_abi = TF_FILESYSTEM_OPS_ABI;
  ops->filesystem_ops_api = TF_FILESYSTEM_OPS_API;
  ops->filesystem_ops_size = TF_FILESYSTEM_OPS_SIZE;
  ops->random_access_file_ops_abi = TF_RANDOM_ACCESS_FILE_OPS_ABI;
  ops->random_access_file_ops_api = TF_RANDOM_ACCESS_FILE_OPS_API;
  ops->random_access_file_ops_size = TF_RANDOM_ACCESS_FILE_OPS_SIZE;
  ops->writable_file_ops_abi = TF_WRITABLE_FILE_OPS_ABI;
  ops->writable_file_ops_api = TF_WRITABLE_FILE_OPS_API;
  ops->writable_file_ops_size = TF_WRITABLE_FILE_OPS_SIZE;
  ops->read_only_memory_region_ops_abi = TF_READ_ONLY_MEMORY_REGION_OPS_ABI;
  ops->read_only_memory_region_ops_api = TF_READ_ONLY_MEMORY_REGION_OPS_API;
  ops->read_only_memory_region_ops_size = TF_READ_ONLY_MEMORY_REGION_OPS_SIZE;
}

/* The entry function, exported by the plugin. `plugin_info` is zeroed by the host and lives during
 * the call. A library that registers other things than filesystems may leave it zeroed, and may
 * define the function without a parameter (define DRYSTONE_INIT_PLUGIN_WITHOUT_INFO before
 * including this header): the host's call fits both forms in every calling convention of C that it
 * supports. */
#ifdef DRYSTONE_INIT_PLUGIN_WITHOUT_INFO
TF_CAPI_EXPORT extern void TF_InitPlugin(void);
#else
TF_CAPI_EXPORT extern void TF_InitPlugin(TF_FilesystemPluginInfo* plugin_info);
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_FILESYSTEM_H_ */
