/* The host library's own interface: tensors of other libraries, by DLPack.
 *
 * Since ABI 1.0. DLPack is the struct by which array libraries hand memory to each other without a
 * copy (https://dmlc.github.io/dlpack). It exists in two forms: the versioned struct of DLPack 1.x
 * (Python capsules named "dltensor_versioned") and the older one without a version ("dltensor"). Both
 * are handled here as `void*`; `versioned` says which form it is.
 *
 * What fits: memory of the CPU, and of devices by the functions for it; every dtype with a size in bytes. The 4-bit and 2-bit types take one
 * byte an element, which only the versioned form can say. Quantised types are handed out as the
 * integers that they are. TF_STRING, TF_RESOURCE and TF_VARIANT do not fit.
 * Threads: any; a managed tensor is used by one thread at a time.
 */
#ifndef DRYSTONE_HOST_DLPACK_H_
#define DRYSTONE_HOST_DLPACK_H_

#include "drystone/macros.h"
#include "drystone/status.h"
#include "drystone/tensor.h"
#include "drystone_host/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of the versioned form's flags. */
#define DS_DLPACK_READ_ONLY ((uint64_t)1) /* who receives the memory must not write to it */
#define DS_DLPACK_COPIED ((uint64_t)2)    /* the memory was copied for the receiver */

/* A managed tensor over the memory of `tensor`, which stays the caller's: the result holds a handle of
 * its own until its deleter is called. `flags` are DS_DLPACK_ bits; the form without a version drops
 * them. NULL with INVALID_ARGUMENT for a dtype that does not fit, or a tensor without a value. */
TF_CAPI_EXPORT extern void* DS_TensorToDLPack(const TF_Tensor* tensor, int versioned,
                                              uint64_t flags, TF_Status* status);

/* A tensor over the memory of a managed tensor, which it takes over: the deleter is called once, when
 * the last handle of that memory goes, on whichever thread that happens (a producer's deleter must
 * cope, as DLPack demands). Memory that is not in row-major order is copied, and given back at once.
 * `flags`, where not NULL, receives the producer's DS_DLPACK_ bits, with COPIED added if it was copied.
 *
 * On failure the result is NULL and the managed tensor still the caller's. INVALID_ARGUMENT for a dtype
 * that TensorFlow does not have, several lanes, packed 4-bit types, bad dimensions, or memory not on
 * the CPU; FAILED_PRECONDITION for a struct of another major version than 1. */
TF_CAPI_EXPORT extern TF_Tensor* DS_TensorFromDLPack(void* managed, int versioned, uint64_t* flags,
                                                     TF_Status* status);

/* Call the deleter of a managed tensor that was not taken. NULL, and one without a deleter, are ignored. */
TF_CAPI_EXPORT extern void DS_DeleteDLPack(void* managed, int versioned);

/* ---- tensors in the memory of devices, which runs give that keep their fetches there ----
 *
 * A device of the platform "CUDA" is DLPack's kDLCUDA, of "ROCM" kDLROCM, any other kDLExtDev, with the ordinal
 * as its number. Work that makes a tensor is done when a run has given it: no stream is waited for. */

/* The name of the device, such as "/device:NPU:0", that a tensor's memory lies on; NULL for host memory. It stays the host's. */
TF_CAPI_EXPORT extern const char* DS_TensorDevice(const TF_Tensor* tensor);

/* Whether a tensor on a device is the only one with its memory, which is the host's to give. */
TF_CAPI_EXPORT extern int DS_TensorIsOnlyOnDevice(const TF_Tensor* tensor);

/* Copies of a tensor on a device: in host memory, and on the same device. INVALID_ARGUMENT for host memory. */
TF_CAPI_EXPORT extern TF_Tensor* DS_TensorOnHost(const TF_Tensor* tensor, TF_Status* status);
TF_CAPI_EXPORT extern TF_Tensor* DS_CopyTensorOnDevice(const TF_Tensor* tensor, TF_Status* status);

/* What DLPack calls a device; zeros for NULL. */
TF_CAPI_EXPORT extern void DS_DLPackDevice(DS_Device* device, int32_t* type, int32_t* number);

/* As DS_TensorToDLPack, for a tensor on a device. The deleter waits for all that the device does, as work
 * of the receiver's own streams may use the memory still. */
TF_CAPI_EXPORT extern void* DS_DeviceTensorToDLPack(const TF_Tensor* tensor, int versioned, uint64_t flags,
                                                    TF_Status* status);

/* As DS_TensorFromDLPack, for memory on a device, whose plugin must take the address for one of its own. All that the
 * device does is waited for first. Memory that is not in row-major order is INVALID_ARGUMENT, too. */
TF_CAPI_EXPORT extern TF_Tensor* DS_DeviceTensorFromDLPack(DS_Device* device, void* managed, int versioned,
                                                           uint64_t* flags, TF_Status* status);

/* For Python, which the host does not link: a destructor of capsules that hold managed tensors, written
 * in C so that no Python code runs while a capsule dies. Hand in CPython's PyCapsule_IsValid and
 * PyCapsule_GetPointer first; until then, and for a capsule that was renamed because another consumer took the
 * tensor, the destructor does nothing. */
TF_CAPI_EXPORT extern void DS_SetCapsuleFunctions(int (*is_valid)(void* capsule, const char* name),
                                                  void* (*pointer)(void* capsule, const char* name));
TF_CAPI_EXPORT extern void DS_DropDLPackCapsule(void* capsule);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_HOST_DLPACK_H_ */
