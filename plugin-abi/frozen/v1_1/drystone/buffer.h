/* Buffer: a run of bytes and how to free it; how serialised protos cross the boundary.
 *
 * Since ABI 1.0. The struct is public and its layout fixed: data at 0, length at 8, data_deallocator
 * at 16 on 64-bit machines. Implemented by the host.
 *
 * An output buffer is made by the caller with TF_NewBuffer and must be handed over with data == NULL:
 * writing into a buffer that holds data is an INVALID_ARGUMENT error, so a buffer is never silently
 * replaced and leaked. The code that fills it sets all three members; TF_DeleteBuffer then frees the data.
 * Threads: one buffer must not be changed by two threads at once.
 */
#ifndef DRYSTONE_BUFFER_H_
#define DRYSTONE_BUFFER_H_

#include "drystone/macros.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_Buffer {
  const void* data; /* NULL when empty */
  size_t length;    /* in bytes */
  /* Frees `data`, given it and `length`; NULL when nothing is to be freed. */
  void (*data_deallocator)(void* data, size_t length);
} TF_Buffer;

/* A buffer with a copy of `length` bytes; NULL when memory is exhausted or `data` is NULL and length
 * is not 0. Delete it with TF_DeleteBuffer. */
TF_CAPI_EXPORT extern TF_Buffer* TF_NewBufferFromString(const void* data, size_t length);

/* An empty buffer: all members null. */
TF_CAPI_EXPORT extern TF_Buffer* TF_NewBuffer(void);

/* Free the data by its deallocator, if it has one, then the buffer. NULL is accepted. */
TF_CAPI_EXPORT extern void TF_DeleteBuffer(TF_Buffer* buffer);

/* The members by value; the data stays the buffer's. All null for NULL. */
TF_CAPI_EXPORT extern TF_Buffer TF_GetBuffer(TF_Buffer* buffer);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_BUFFER_H_ */
