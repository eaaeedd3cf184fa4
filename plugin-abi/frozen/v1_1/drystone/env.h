/* The host's environment, for plugins: files, directories, time, threads, shared libraries.
 *
 * Since ABI 1.0. Implemented by the host. Names and signatures are those of TensorFlow's env.h.
 *
 * Paths: "scheme://host/path" goes to the filesystem that a plugin registered for the scheme (see
 * drystone/filesystem.h); a path without a scheme and "file:///path" are local. A scheme that
 * is not registered is TF_UNIMPLEMENTED, and the message lists the schemes that are.
 * Status: set by every call, TF_OK when it worked. Local failures carry the code that fits errno
 * (TF_NOT_FOUND, TF_PERMISSION_DENIED, TF_ALREADY_EXISTS, ...) and a message that starts with the
 * path. A NULL path, handle or out-parameter is TF_INVALID_ARGUMENT. A NULL status is tolerated.
 * Threads: every function may be called from any thread. One handle (of a file, a stream or a
 * thread) must not be used by two threads at once.
 * Memory: what the host returns is freed with the function that is named beside it, never with
 * free() unless the comment says so.
 */
#ifndef DRYSTONE_ENV_H_
#define DRYSTONE_ENV_H_

#include "drystone/file_statistics.h"
#include "drystone/macros.h"
#include "drystone/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Handles --------------------------------------------------------------------------------- */

/* An open file that can be appended to; closed and freed by TF_CloseWritableFile. */
typedef struct TF_WritableFileHandle TF_WritableFileHandle;

/* A list of strings, read one by one with TF_StringStreamNext; freed by TF_StringStreamDone. */
typedef struct TF_StringStream TF_StringStream;

/* A running thread; waited for and freed by TF_JoinThread. */
typedef struct TF_Thread TF_Thread;

/* How to start a thread. Fill it with TF_DefaultThreadOptions before changing a member, so that
 * members unknown to the plugin keep their default. */
typedef struct TF_ThreadOptions {
  size_t stack_size; /* bytes; 0 is the system's default; too small a size is raised to the least */
  size_t guard_size; /* bytes of guard pages below the stack; 0 is the system's default */
  int numa_node;     /* a wish; -1 is "anywhere"; a host may ignore it, and this one does */
} TF_ThreadOptions;

/* ---- Directories ----------------------------------------------------------------------------- */

/* Make one directory; its parent must exist. TF_ALREADY_EXISTS when there is something already, and
 * for the empty path. */
TF_CAPI_EXPORT extern void TF_CreateDir(const char* dirname, TF_Status* status);

/* Delete an empty directory. TF_FAILED_PRECONDITION when it is not empty. */
TF_CAPI_EXPORT extern void TF_DeleteDir(const char* dirname, TF_Status* status);

/* Delete a directory and everything below it, or one file, going on after a failure: the status is
 * then the first failure, and the two counts say how much is left. A path that does not exist is
 * TF_NOT_FOUND and counts as one directory. Both counts may be NULL. A symbolic link is deleted,
 * never followed. */
TF_CAPI_EXPORT extern void TF_DeleteRecursively(const char* dirname, int64_t* undeleted_file_count,
                                                int64_t* undeleted_dir_count, TF_Status* status);

/* The names in a directory, not their paths, without "." and ".."; of a local one sorted by byte.
 * NULL when it fails; else end it with TF_StringStreamDone. */
TF_CAPI_EXPORT extern TF_StringStream* TF_GetChildren(const char* filename, TF_Status* status);

/* ---- Files ----------------------------------------------------------------------------------- */

/* Fill `stats`; left alone when it fails. */
TF_CAPI_EXPORT extern void TF_FileStat(const char* filename, TF_FileStatistics* stats,
                                       TF_Status* status);

/* Create a file, or empty one that exists, for writing. `*handle` is NULL when it fails. */
TF_CAPI_EXPORT extern void TF_NewWritableFile(const char* filename, TF_WritableFileHandle** handle,
                                              TF_Status* status);

/* Close the file and free the handle, whatever the status: an error means that the last bytes may
 * be lost, and the handle is gone all the same. */
TF_CAPI_EXPORT extern void TF_CloseWritableFile(TF_WritableFileHandle* handle, TF_Status* status);

/* Ask that everything appended so far is on the medium, not only in caches. */
TF_CAPI_EXPORT extern void TF_SyncWritableFile(TF_WritableFileHandle* handle, TF_Status* status);

/* Hand the host's buffer over to the operating system, so that other readers see it. */
TF_CAPI_EXPORT extern void TF_FlushWritableFile(TF_WritableFileHandle* handle, TF_Status* status);

/* Append `length` bytes. `data` may be NULL only when `length` is 0. */
TF_CAPI_EXPORT extern void TF_AppendWritableFile(TF_WritableFileHandle* handle, const char* data,
                                                 size_t length, TF_Status* status);

/* Delete a file; a directory is refused with TF_FAILED_PRECONDITION. */
TF_CAPI_EXPORT extern void TF_DeleteFile(const char* filename, TF_Status* status);

/* ---- Lists of strings ------------------------------------------------------------------------ */

/* Point `*result` to the next string and answer true, or set it to NULL and answer false at the
 * end. The string lives until the stream is done. A NULL stream is an empty one. */
TF_CAPI_EXPORT extern bool TF_StringStreamNext(TF_StringStream* list, const char** result);

/* Free the stream and its strings. NULL is ignored. */
TF_CAPI_EXPORT extern void TF_StringStreamDone(TF_StringStream* list);

/* Directories for temporary files, best first: $TEST_TMPDIR, $TMPDIR, $TMP, /tmp, those that exist.
 * Never NULL unless memory is exhausted; end it with TF_StringStreamDone. */
TF_CAPI_EXPORT extern TF_StringStream* TF_GetLocalTempDirectories(void);

/* A new, empty file in the first temporary directory, that no other caller was given; only this user
 * may read it. `extension` is what stands after the last dot ("json"; a dot in front of it is
 * taken, too); NULL and "" mean none. The path is freed with free(). NULL when no such file can be
 * made. */
TF_CAPI_EXPORT extern char* TF_GetTempFileName(const char* extension);

/* ---- Time ------------------------------------------------------------------------------------ */

/* Time since 1970-01-01 UTC by the system's clock, in three units. The clock may be set back. */
TF_CAPI_EXPORT extern uint64_t TF_NowNanos(void);
TF_CAPI_EXPORT extern uint64_t TF_NowMicros(void);
TF_CAPI_EXPORT extern uint64_t TF_NowSeconds(void);

/* ---- Threads --------------------------------------------------------------------------------- */

/* Fill in the defaults of every member: 0, 0, -1. NULL is ignored. */
TF_CAPI_EXPORT extern void TF_DefaultThreadOptions(TF_ThreadOptions* options);

/* Run `work_func(param)` on a new thread. `options` NULL means the defaults; `thread_name` is
 * copied, shown by debuggers (its first 15 bytes on Linux), and may be NULL. Answers NULL when
 * `work_func` is NULL or the system has no thread left; `work_func` was then not called. A C++
 * exception must not leave `work_func`; the host catches one that does, and logs it. */
TF_CAPI_EXPORT extern TF_Thread* TF_StartThread(const TF_ThreadOptions* options,
                                                const char* thread_name, void (*work_func)(void*),
                                                void* param);

/* Wait until the thread has ended, and free the handle. NULL is ignored. A thread that joins itself
 * is let go instead of waiting for ever. */
TF_CAPI_EXPORT extern void TF_JoinThread(TF_Thread* thread);

/* ---- Shared libraries ------------------------------------------------------------------------ */

/* Open a shared library for its symbols, locally (its symbols serve no other library), and answer a
 * handle or NULL. It is never closed. It is not initialized as a plugin: see drystone/registry.h
 * for that. */
TF_CAPI_EXPORT extern void* TF_LoadSharedLibrary(const char* library_filename, TF_Status* status);

/* The address of a symbol, or NULL with TF_NOT_FOUND. */
TF_CAPI_EXPORT extern void* TF_GetSymbolFromLibrary(void* handle, const char* symbol_name,
                                                    TF_Status* status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_ENV_H_ */
