/* Registry: what the host knows, and loading libraries into it.
 *
 * Since ABI 1.0. Implemented by the host. The queries may be called by any thread and at any time,
 * from entry functions as well. Loading is for programs that embed the host; a plugin that loads
 * another one inside its entry function gets TF_FAILED_PRECONDITION.
 *
 * Messages come as protobuf bytes, in TensorFlow's wire format: OpDef and OpList as in
 * tensorflow/core/framework/op_def.proto, KernelDef and KernelList as in kernel_def.proto. The
 * proto files are part of drystone-plugin-abi; drystone/sdk/op_def.hpp reads them without protobuf.
 */
#ifndef DRYSTONE_REGISTRY_H_
#define DRYSTONE_REGISTRY_H_

#include "drystone/buffer.h"
#include "drystone/macros.h"
#include "drystone/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Queries -------------------------------------------------------------------------------- */

/* The TensorFlow release whose C interfaces the host follows, as "MAJOR.MINOR.PATCH". It is not the
 * host's own release. Static memory; never NULL. */
TF_CAPI_EXPORT extern const char* TF_Version(void);

/* Does nothing: TensorFlow has it for platforms whose programs need a call before all others. There
 * is no such platform here; `usage`, `argc` and `argv` may be NULL and are left as they are. */
TF_CAPI_EXPORT extern void TF_InitMain(const char* usage, int* argc, char*** argv);

/* A serialized OpList of every op that is known: those of the program, and those that plugins
 * registered so far. Definitions are complete (defaults of attributes included) but carry no
 * documentation. The caller deletes the buffer with TF_DeleteBuffer; NULL when memory is exhausted.
 * */
TF_CAPI_EXPORT extern TF_Buffer* TF_GetAllOpList(void);

/* A serialized KernelList of the kernels registered for op `name`, those of the program included;
 * empty where there are none. The caller deletes the buffer. NULL when the status is not TF_OK. */
TF_CAPI_EXPORT extern TF_Buffer* TF_GetRegisteredKernelsForOp(const char* name, TF_Status* status);

/* The same for all ops. */
TF_CAPI_EXPORT extern TF_Buffer* TF_GetAllRegisteredKernels(TF_Status* status);

/* 1 where op `op_type` is stateful, else 0. TF_NOT_FOUND for an unknown op. */
TF_CAPI_EXPORT extern int TF_OpIsStateful(const char* op_type, TF_Status* status);

/* ---- Loading --------------------------------------------------------------------------------
 *
 * A library stays loaded until the process ends: code of it may be in use anywhere. Deleting a
 * handle gives back only the handle. Loading a library again, under any of its names, gives a
 * handle of the one that is there. Its platform strings are checked before it is opened.
 */

/* A loaded library. */
typedef struct TF_Library TF_Library;

/* Load a library of ops and kernels: its TF_InitKernel is called. NULL when the status is not
 * TF_OK: TF_NOT_FOUND (no such file), TF_INVALID_ARGUMENT (the file is not a library for this
 * machine), TF_FAILED_PRECONDITION (a check refused it; the message says which). */
TF_CAPI_EXPORT extern TF_Library* TF_LoadLibrary(const char* library_filename, TF_Status* status);

/* A serialized OpList of the ops that the library registered. The buffer belongs to the handle and
 * must not be deleted; all members are 0 for a NULL handle. */
TF_CAPI_EXPORT extern TF_Buffer TF_GetOpList(TF_Library* lib_handle);

/* Give back a handle of TF_LoadLibrary. */
TF_CAPI_EXPORT extern void TF_DeleteLibraryHandle(TF_Library* lib_handle);

/* Load a library of any kind: every entry function that it has is called, devices first. Statuses
 * as for TF_LoadLibrary. */
TF_CAPI_EXPORT extern TF_Library* TF_LoadPluggableDeviceLibrary(const char* library_filename,
                                                                TF_Status* status);

/* Give back a handle of TF_LoadPluggableDeviceLibrary. */
TF_CAPI_EXPORT extern void TF_DeletePluggableDeviceLibraryHandle(TF_Library* lib_handle);

/* Load a library of filesystems: its TF_InitPlugin is called, and the schemes that it offers are
 * served by it from then on. */
TF_CAPI_EXPORT extern void TF_RegisterFilesystemPlugin(const char* plugin_filename,
                                                       TF_Status* status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_REGISTRY_H_ */
