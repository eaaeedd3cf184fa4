/* The host library's own interface, for programs that embed it: core.
 *
 * Functions named TF_, TP_ and SE_ are what plugins call, in TensorFlow's names; functions named DS_
 * are what a program calls that hosts plugins (drystone's Python package is one such program). The
 * rules for statuses, buffers and NULL are those of drystone/status.h and drystone/buffer.h.
 */
#ifndef DRYSTONE_HOST_CORE_H_
#define DRYSTONE_HOST_CORE_H_

#include "drystone/buffer.h"
#include "drystone/macros.h"
#include "drystone/status.h"
#include "drystone/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The release of the host library, such as "0.1.0". */
TF_CAPI_EXPORT extern const char* DS_HostVersion(void);

/* Objects given out and not deleted yet. Set struct_size; as many bytes are filled in. */
typedef struct DS_LiveObjects {
  size_t struct_size;
  int64_t statuses;
  int64_t buffers;
  int64_t tensors;       /* handles */
  int64_t memory_blocks; /* what the handles share */
  int64_t kernels;
  int64_t items;         /* items, graph properties, function libraries */
  int64_t handles;       /* builders, shape and dimension handles, variables */
  int64_t files;
} DS_LiveObjects;
#define DS_LIVE_OBJECTS_STRUCT_SIZE TF_OFFSET_OF_END(DS_LiveObjects, files)
TF_CAPI_EXPORT extern void DS_GetLiveObjects(DS_LiveObjects* out);

/* Where messages of TF_Log and TF_VLog go. `level` is a TF_LogLevel, or -1 - LEVEL for a verbose one.
 * Called from any thread; `message` lives during the call. NULL restores standard error. */
typedef void (*DS_LogSink)(void* context, int level, const char* message);
TF_CAPI_EXPORT extern void DS_SetLogSink(DS_LogSink sink, void* context);

/* What the host asks every 50 ms while the process's main thread waits for a plugin's function that is
 * no kernel's compute: an optimizer, or the creation of a kernel. Not 0 ends the wait: the call fails with
 * CANCELLED, and the function goes on in a thread of its own until it returns. NULL: no question is asked,
 * and such functions run on the calling thread. Since 1.0. */
TF_CAPI_EXPORT extern void DS_SetAttention(int (*asks)(void* context), void* context);

/* Say that the process is about to end. What plugins have registered to run at its end is bounded: code of
 * a plugin that has not returned after some seconds is named on standard error, and the process ends
 * without it. Loading a plugin says it, too; who says it last is heard first. Since 1.0. */
TF_CAPI_EXPORT extern void DS_PrepareEnd(void);

/* A tensor over memory that the embedder keeps alive until `token` is given out by DS_TakeReleased.
 * Never copies; the memory may have any alignment. Fails as TF_NewTensor does, with a status. */
TF_CAPI_EXPORT extern TF_Tensor* DS_TensorFromMemory(TF_DataType dtype, const int64_t* dims,
                                                     int num_dims, void* data, size_t len,
                                                     uint64_t token, TF_Status* status);

/* A tensor of numbers whose elements stay in a file, from byte `offset` on, as they are in memory, at
 * any alignment. It is for constants of a plan (DS_NewPlan): kernels that asked for it (drystone/kernel_stored.h)
 * read what they need, for all others the elements are read into memory when the plan is made, once
 * for all plans. `descriptor` stays the embedder's, which keeps it open until `release(argument)` is
 * called, on any thread; not on failure. TF_TensorData is NULL. INVALID_ARGUMENT for dims that no
 * tensor has, and for dtypes that are no numbers. */
TF_CAPI_EXPORT extern TF_Tensor* DS_NewStoredTensor(TF_DataType dtype, const int64_t* dims,
                                                    int num_dims, int descriptor, int64_t offset,
                                                    void (*release)(void*), void* argument,
                                                    TF_Status* status);

/* Element k of a stored tensor of floats becomes what the file has, times factors[k / inner % count]: one
 * product in single precision, made as it is read. The factors are copied, and take the place of
 * earlier ones. Before anybody else has the tensor. INVALID_ARGUMENT for other tensors, and for a
 * count or an inner below 1. */
TF_CAPI_EXPORT extern void DS_ScaleStoredTensor(TF_Tensor* tensor, const float* factors, int64_t count,
                                                int64_t inner, TF_Status* status);

/* Take up to `max` tokens of memory that no tensor refers to any more; how many were written. The
 * host never calls the embedder when memory is released: it may be on any thread. */
TF_CAPI_EXPORT extern int DS_TakeReleased(uint64_t* tokens, int max);

/* Another handle of the same memory; NULL when out of memory. */
TF_CAPI_EXPORT extern TF_Tensor* DS_ShareTensor(const TF_Tensor* tensor);

/* Whether nothing else holds the tensor's memory, and it is the host's: its holder may change it. */
TF_CAPI_EXPORT extern TF_Bool DS_TensorIsExclusive(const TF_Tensor* tensor);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_HOST_CORE_H_ */
