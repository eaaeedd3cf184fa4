/* The host library's own interface, for programs that embed it: loading plugin libraries.
 *
 * A library is opened once and stays open until the process ends; there is no way to close one. It
 * is opened locally: no other library of the process sees its symbols, and its own undefined TF_,
 * TP_ and SE_ symbols are bound to this host, whether or not it was linked with anything that has
 * them, and whether or not the real TensorFlow is loaded beside it.
 *
 * Opening runs the library's constructors, and DS_InitLibrary runs its entry function: code of
 * somebody else. What can be known before is for the embedder to check (drystone's Python package
 * checks signature, platform strings and symbols first, and tries the library in a child process).
 *
 * All functions may be called from any thread. Since 1.0.
 */
#ifndef DRYSTONE_HOST_LIBRARY_H_
#define DRYSTONE_HOST_LIBRARY_H_

#include "drystone/buffer.h"
#include "drystone/macros.h"
#include "drystone/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An opened library. Owned by the host; valid until the process ends. */
typedef struct DS_Library DS_Library;

/* Read a file once, and write to `out`, an empty buffer: the 32 bytes of its SHA-256, then its
 * platform strings ("NAME=value", see drystone/platform_strings.h) with a NUL after each. Nothing of
 * the file is mapped or run.
 *
 * INVALID_ARGUMENT  path or out is NULL, or out is not empty
 * NOT_FOUND         the file cannot be read, or is not a regular file
 * UNIMPLEMENTED     this processor has no instructions for SHA-256: any library for digests will do */
TF_CAPI_EXPORT extern void DS_InspectFile(const char* path, TF_Buffer* out, TF_Status* status);

/* Open the shared library at `path`, without calling any entry function. Its platform strings are
 * not looked at (TF_LoadLibrary does that).
 *
 * The same file (by real path or by inode) gives the same DS_Library, however often and under
 * whatever name it is opened. Names of TensorFlow's own libraries that it needs and that cannot be
 * found are answered by empty aliases of the host, see DS_ListAliases.
 *
 * INVALID_ARGUMENT  path or status is NULL or empty; the file is no whole library for this machine
 * NOT_FOUND         no such file, or it is not a regular file
 * FAILED_PRECONDITION  its platform strings name another system, machine or version of the ABI, or
 *                   processor features that are not there; the dynamic linker refused it (its text
 *                   is the message); or symbols that should be the host's were bound to another
 *                   library, which the message names
 * ABORTED           the file was changed while it was checked or opened
 * Returns NULL unless OK. */
TF_CAPI_EXPORT extern DS_Library* DS_OpenLibrary(const char* path, TF_Status* status);

/* The same for a library that needs functions which neither the host nor a library of its own
 * defines: `functions` are their `count` names as they are in its file. It is opened nevertheless, and
 * a call of one of them ends what the plugin was called for with UNIMPLEMENTED and a message that names
 * function and plugin, as if the plugin had thrown an exception. Where none can pass (in a constructor,
 * in a thread of the plugin's own) the message goes to the standard error output, and the process ends.
 * No other library finds these names. At most 1024 in a process.
 *
 * INVALID_ARGUMENT    also: functions, or a name, is NULL
 * RESOURCE_EXHAUSTED  there are too many of them */
TF_CAPI_EXPORT extern DS_Library* DS_OpenLibraryWithout(const char* path,
                                                        const char* const* functions, int count,
                                                        TF_Status* status);

/* Entry symbols the library exports that this host knows, in the order they should be called: write
 * up to `max` of them to `symbols` and return how many there are. `symbols` may be NULL when `max`
 * is 0. The strings live forever. 0 for a NULL library. */
TF_CAPI_EXPORT extern int DS_LibraryEntries(const DS_Library* library, const char** symbols,
                                            int max);

/* Call one entry function and register what it offers. The first call does it; later ones give the
 * first one's status again, so nothing is registered twice.
 *
 * INVALID_ARGUMENT  library or entry_symbol is NULL
 * NOT_FOUND         the library does not export the symbol
 * UNIMPLEMENTED     the host does not know the symbol as an entry
 * other             what the plugin answered, or the check that its answer did not pass. Entry
 *                   functions without a status report errors of single registrations in
 *                   DS_DescribeLibrary; the call itself is OK. */
TF_CAPI_EXPORT extern void DS_InitLibrary(DS_Library* library, const char* entry_symbol,
                                          TF_Status* status);

/* Say that the library's kernels are known to keep to what kernels may do, before its entry functions
 * are called. Memory that kernels of other libraries fill has guard bytes around it, and their inputs
 * are compared before and after calls; theirs are not. A NULL library is ignored. Since 1.0. */
TF_CAPI_EXPORT extern void DS_VouchForLibrary(DS_Library* library);

/* Address of a symbol that the library itself exports, or NULL. */
TF_CAPI_EXPORT extern void* DS_LibrarySymbol(DS_Library* library, const char* name);

/* Write what is known of the library to `json`, an empty buffer: an object with "path" (the real
 * one), "entries" (symbol, module, state "new", "ok" or "failed", and message), the names it
 * registered under "ops", "kernels", "optimizers", "passes", "schemes", "devices" and "profilers",
 * and the "errors" and "warnings" of its registrations. */
TF_CAPI_EXPORT extern void DS_DescribeLibrary(const DS_Library* library, TF_Buffer* json,
                                              TF_Status* status);

/* Entry symbols that the host knows: an array of {"symbol", "module"}, in calling order. */
TF_CAPI_EXPORT extern void DS_ListEntries(TF_Buffer* json, TF_Status* status);

/* Names of TensorFlow's libraries that the host answers to, an array of strings. While it is not
 * empty TensorFlow itself cannot be loaded into this process any more: its own libraries would be
 * given the aliases. A program that needs both loads TensorFlow first, which needs no alias. */
TF_CAPI_EXPORT extern void DS_ListAliases(TF_Buffer* json, TF_Status* status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_HOST_LIBRARY_H_ */
