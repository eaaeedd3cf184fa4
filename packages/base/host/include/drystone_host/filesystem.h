/* The host library's own interface, for programs that embed it: files by URI.
 *
 * Works on local paths, "file:///path", and every scheme that a loaded plugin registered while
 * DS_InitLibrary(library, "TF_InitPlugin", status) or TF_RegisterFilesystemPlugin(path, status)
 * ran. The functions of drystone/env.h work on the same paths; what is here completes them.
 *
 *   TF_RegisterFilesystemPlugin("/path/libramdemo.so", status);
 *   TF_NewWritableFile("ramdemo://box/a.txt", &file, status);
 *   TF_AppendWritableFile(file, "hello", 5, status);
 *   TF_CloseWritableFile(file, status);
 *   DS_ReadWholeFile("ramdemo://box/a.txt", buffer, status);
 *
 * Errors: a failure of a plugin keeps the plugin's code, and its message reads "FUNCTION: PATH:
 * MEMBER of the SCHEME filesystem (LIBRARY): the plugin's text". A member that the plugin does not
 * offer and that has no default is UNIMPLEMENTED; an answer that breaks the contract (more bytes
 * read than asked for, a negative count without an error) and a C++ exception are INTERNAL. A
 * scheme that is not registered is UNIMPLEMENTED and lists those that are. NULL where something is
 * needed is INVALID_ARGUMENT.
 *
 * Threads: any thread may call anything; one open file must not be used by two threads at once,
 * except for DS_ReadFile. Since 1.0.
 */
#ifndef DRYSTONE_HOST_FILESYSTEM_H_
#define DRYSTONE_HOST_FILESYSTEM_H_

#include "drystone/buffer.h"
#include "drystone/env.h"
#include "drystone/filesystem.h"
#include "drystone/macros.h"
#include "drystone/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Schemes --------------------------------------------------------------------------------- */

/* What is registered, as a JSON list sorted by scheme:
 *   {"scheme": "gs", "library": "/path/plugin.so", "offers": ["stat", "writable_file.append", ...]}
 * "offers" has the members that the plugin set, except init and cleanup, which all have. The host's
 * own "file" has an empty "library". `json` must arrive empty. */
TF_CAPI_EXPORT extern void DS_ListFilesystems(TF_Buffer* json, TF_Status* status);

/* An entry function like TF_InitPlugin. */
typedef void (*DS_InitFilesystems)(TF_FilesystemPluginInfo* info);

/* Register filesystems that are no library's but the program's own: `entry` is called at once, as
 * TF_InitPlugin of a library would be, and what it fills in is held to the same rules. `origin`
 * says whose they are, in errors and as "library" in the list. Since 1.0. */
TF_CAPI_EXPORT extern void DS_RegisterFilesystems(const char* origin, DS_InitFilesystems entry,
                                                  TF_Status* status);

/* Forget all filesystems of plugins: each is cleaned up now, or when its last open file is closed.
 * Runs by itself at a normal exit of the process, before libraries are torn down; call it earlier
 * when a filesystem needs something of the embedder's that goes before (an interpreter, a log).
 * Forgotten schemes may be registered again by other libraries. */
TF_CAPI_EXPORT extern void DS_CleanupFilesystems(void);

/* Tell the filesystem of a scheme to forget what it has read; NULL tells all. */
TF_CAPI_EXPORT extern void DS_FlushCaches(const char* scheme, TF_Status* status);

/* ---- Reading --------------------------------------------------------------------------------- */

/* A file open for reading at any place. */
typedef struct DS_ReadableFile DS_ReadableFile;

/* Open it; NULL when it fails. */
TF_CAPI_EXPORT extern DS_ReadableFile* DS_OpenReadableFile(const char* path, TF_Status* status);

/* Read up to `n` bytes from `offset` and answer how many. OK when it is all `n`; OUT_OF_RANGE when
 * the file ends before, and what was there is in `buffer`; -1 with any other error. */
TF_CAPI_EXPORT extern int64_t DS_ReadFile(DS_ReadableFile* file, uint64_t offset, size_t n,
                                          char* buffer, TF_Status* status);

/* Close it and free the handle; NULL is ignored. */
TF_CAPI_EXPORT extern void DS_CloseReadableFile(DS_ReadableFile* file);

/* All bytes of a file, into an empty buffer. */
TF_CAPI_EXPORT extern void DS_ReadWholeFile(const char* path, TF_Buffer* out, TF_Status* status);

/* A whole file as memory, where the filesystem can. */
typedef struct DS_MemoryRegion DS_MemoryRegion;

/* Open it; NULL when it fails. `*data` and `*length` are set and hold until it is closed; an empty
 * file may have NULL data. */
TF_CAPI_EXPORT extern DS_MemoryRegion* DS_OpenMemoryRegion(const char* path, const void** data,
                                                           uint64_t* length, TF_Status* status);

/* Close it; the memory is then gone. NULL is ignored. */
TF_CAPI_EXPORT extern void DS_CloseMemoryRegion(DS_MemoryRegion* region);

/* ---- Writing: see TF_NewWritableFile and what follows it in drystone/env.h ---------------------
 * */

/* Open for writing after the last byte; create the file when there is none. NULL when it fails;
 * closed by TF_CloseWritableFile. */
TF_CAPI_EXPORT extern TF_WritableFileHandle* DS_NewAppendableFile(const char* path,
                                                                  TF_Status* status);

/* Where the next byte goes; -1 when it fails. */
TF_CAPI_EXPORT extern int64_t DS_TellWritableFile(TF_WritableFileHandle* file, TF_Status* status);

/* Let go of a file that is open for writing without ending it: `cleanup` is called and `close` is
 * not, so a store that shows files only when they are closed never shows this one. Frees the
 * handle; NULL is ignored. Since 1.0. */
TF_CAPI_EXPORT extern void DS_AbandonWritableFile(TF_WritableFileHandle* file);

/* Create the file with these bytes, over one that exists: open, append, close. */
TF_CAPI_EXPORT extern void DS_WriteWholeFile(const char* path, const void* data, size_t length,
                                             TF_Status* status);

/* ---- Paths ----------------------------------------------------------------------------------- */

/* OK when there is a file or directory, NOT_FOUND when not. */
TF_CAPI_EXPORT extern void DS_PathExists(const char* path, TF_Status* status);

/* The same for several paths, which may have different schemes; true when all exist. `statuses` has
 * one status for each path, or is NULL. A NULL path is INVALID_ARGUMENT in its own status. */
TF_CAPI_EXPORT extern bool DS_PathsExist(const char* const* paths, int num_paths,
                                         TF_Status** statuses);

/* True and OK for a directory; false with FAILED_PRECONDITION for a file, NOT_FOUND for nothing. */
TF_CAPI_EXPORT extern bool DS_IsDirectory(const char* path, TF_Status* status);

/* Bytes in a file; -1 when it fails, FAILED_PRECONDITION for a directory. */
TF_CAPI_EXPORT extern int64_t DS_GetFileSize(const char* path, TF_Status* status);

/* Make a directory and all above it; OK when it exists, FAILED_PRECONDITION when it is a file. */
TF_CAPI_EXPORT extern void DS_RecursivelyCreateDir(const char* path, TF_Status* status);

/* Move a file, over one that exists. Between two schemes it is copied and then deleted. */
TF_CAPI_EXPORT extern void DS_RenameFile(const char* src, const char* dst, TF_Status* status);

/* Copy a file, over one that exists. Between two schemes it is read and written. */
TF_CAPI_EXPORT extern void DS_CopyFile(const char* src, const char* dst, TF_Status* status);

/* The form in which the filesystem is given the path, into an empty buffer (no terminating NUL). */
TF_CAPI_EXPORT extern void DS_TranslateName(const char* path, TF_Buffer* out, TF_Status* status);

/* Paths that match a pattern, see get_matching_paths in drystone/filesystem.h. NULL when it fails;
 * ended by TF_StringStreamDone. */
TF_CAPI_EXPORT extern TF_StringStream* DS_GetMatchingPaths(const char* pattern, TF_Status* status);

/* ---- Transactions and options, straight from the plugin's table --------------------------------
 * */

/* Begin a transaction of a scheme; NULL when it fails. The token is the plugin's, and is gone after
 * DS_EndTransaction. */
TF_CAPI_EXPORT extern TF_TransactionToken* DS_StartTransaction(const char* scheme,
                                                               TF_Status* status);
TF_CAPI_EXPORT extern void DS_EndTransaction(const char* scheme, TF_TransactionToken* token,
                                             TF_Status* status);

/* Make a path part of a transaction, and find the one that a path is part of; with `start` not 0,
 * begin one when there is none. */
TF_CAPI_EXPORT extern void DS_AddToTransaction(const char* path, TF_TransactionToken* token,
                                               TF_Status* status);
TF_CAPI_EXPORT extern TF_TransactionToken* DS_TransactionOfPath(const char* path, int start,
                                                                TF_Status* status);

/* A transaction in words, into an empty buffer. */
TF_CAPI_EXPORT extern void DS_DescribeTransaction(const char* scheme,
                                                  const TF_TransactionToken* token, TF_Buffer* out,
                                                  TF_Status* status);

/* Set one option of a scheme's filesystem. The option stays the caller's. */
TF_CAPI_EXPORT extern void DS_SetFilesystemOption(const char* scheme,
                                                  const TF_Filesystem_Option* option,
                                                  TF_Status* status);

/* Set several at once; all or none. Since 1.0. */
TF_CAPI_EXPORT extern void DS_SetFilesystemOptions(const char* scheme,
                                                   const TF_Filesystem_Option* options,
                                                   int num_options, TF_Status* status);

/* One option by its name, as an element of the list that DS_GetFilesystemOptions gives. Since 1.0. */
TF_CAPI_EXPORT extern void DS_GetFilesystemOption(const char* scheme, const char* key,
                                                  TF_Buffer* json, TF_Status* status);

/* The names of the options, as a JSON list of texts. Since 1.0. */
TF_CAPI_EXPORT extern void DS_ListFilesystemOptions(const char* scheme, TF_Buffer* json,
                                                    TF_Status* status);

/* The options of a scheme's filesystem, as a JSON list: {"name", "description", "per_file",
 * "values"}; values are numbers, and buffers as text. What the plugin allocated for it stays its
 * own: the interface does not say how deep to free. */
TF_CAPI_EXPORT extern void DS_GetFilesystemOptions(const char* scheme, TF_Buffer* json,
                                                   TF_Status* status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_HOST_FILESYSTEM_H_ */
