/* Tensors: a dtype, dimensions and a reference to memory.
 *
 * Since ABI 1.0. Implemented by the host.
 *
 * A TF_Tensor is a handle. Several handles may share one block of memory, which is freed with the last
 * of them, so handing a tensor on costs no copy. A caller that receives a handle from a function here, or
 * through an out-parameter of a kernel function, deletes it with TF_DeleteTensor.
 * Memory that the host allocates is aligned to TF_TensorDefaultAlignment() bytes and zeroed for
 * TF_STRING, TF_RESOURCE and TF_VARIANT. Elements lie in row-major order without gaps.
 * Do not write into memory that another handle may see: kernel inputs are read-only.
 * Threads: a handle must not be changed by one thread while another uses it; different handles of the
 * same memory are independent.
 * NULL: accessors of a NULL tensor give 0, NULL or false; TF_DeleteTensor accepts it.
 */
#ifndef DRYSTONE_TENSOR_H_
#define DRYSTONE_TENSOR_H_

#include <stdbool.h>

#include "drystone/buffer.h"
#include "drystone/datatype.h"
#include "drystone/macros.h"
#include "drystone/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where temporary memory should lie. Set struct_size before anything else. */
typedef struct TF_AllocatorAttributes {
  size_t struct_size;
  TF_Bool on_host; /* not 0: memory that the CPU can read, whatever the kernel's device */
} TF_AllocatorAttributes;
#define TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE TF_OFFSET_OF_END(TF_AllocatorAttributes, on_host)

typedef struct TF_Tensor TF_Tensor;

/* A tensor over memory of the caller's: `len` bytes at `data`, which `deallocator` frees (given data,
 * len and its argument) when the last handle goes. Memory that is not aligned is copied, and freed at
 * once. NULL, without calling the deallocator, when dims are negative or their product overflows,
 * `len` is too small for them, or the memory cannot be read. A NULL deallocator frees nothing. */
TF_CAPI_EXPORT extern TF_Tensor* TF_NewTensor(TF_DataType dtype, const int64_t* dims, int num_dims,
                                              void* data, size_t len,
                                              void (*deallocator)(void* data, size_t len, void* arg),
                                              void* deallocator_arg);

/* The alignment in bytes of memory that the host allocates. */
TF_CAPI_EXPORT extern size_t TF_TensorDefaultAlignment(void);

/* A tensor with fresh memory of `len` bytes; NULL when that is too little for dtype and dims (which,
 * for TF_STRING, need 24 bytes an element) or memory is exhausted. */
TF_CAPI_EXPORT extern TF_Tensor* TF_AllocateTensor(TF_DataType dtype, const int64_t* dims,
                                                   int num_dims, size_t len);

/* Hand the memory over to a new handle, and delete this one, when no other handle shares it and the
 * host allocated it; NULL, with the tensor untouched, otherwise. */
TF_CAPI_EXPORT extern TF_Tensor* TF_TensorMaybeMove(TF_Tensor* tensor);

/* Delete a handle. */
TF_CAPI_EXPORT extern void TF_DeleteTensor(TF_Tensor* tensor);

/* The dtype; 0 for NULL. */
TF_CAPI_EXPORT extern TF_DataType TF_TensorType(const TF_Tensor* tensor);

/* Change this handle's dimensions; ignored unless the number of elements stays the same. */
TF_CAPI_EXPORT extern void TF_SetShape(TF_Tensor* tensor, const int64_t* dims, int num_dims);

/* The rank. */
TF_CAPI_EXPORT extern int TF_NumDims(const TF_Tensor* tensor);

/* One dimension; -1 for an index outside [0, rank). */
TF_CAPI_EXPORT extern int64_t TF_Dim(const TF_Tensor* tensor, int dim_index);

/* Bytes of the memory: elements times TF_DataTypeSize, or 24 times the elements for TF_STRING. */
TF_CAPI_EXPORT extern size_t TF_TensorByteSize(const TF_Tensor* tensor);

/* The memory; NULL for a tensor without elements unless it was made over given memory. */
TF_CAPI_EXPORT extern void* TF_TensorData(const TF_Tensor* tensor);

/* The number of elements: the product of the dimensions, 1 for rank 0. */
TF_CAPI_EXPORT extern int64_t TF_TensorElementCount(const TF_Tensor* tensor);

/* Let `to` share the memory of `from` under another dtype and shape. INVALID_ARGUMENT unless both
 * dtypes have a size and the bytes stay the same. */
TF_CAPI_EXPORT extern void TF_TensorBitcastFrom(const TF_Tensor* from, TF_DataType type,
                                                TF_Tensor* to, const int64_t* new_dims,
                                                int num_new_dims, TF_Status* status);

/* Whether the memory is aligned to TF_TensorDefaultAlignment(). */
TF_CAPI_EXPORT extern bool TF_TensorIsAligned(const TF_Tensor* tensor);

/* Give `to` the value of a serialised TensorProto. INVALID_ARGUMENT for bytes that are no TensorProto
 * or whose values do not fit its shape. `to` keeps its old value on failure. */
TF_CAPI_EXPORT extern void TF_TensorFromProto(const TF_Buffer* from, TF_Tensor* to,
                                              TF_Status* status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_TENSOR_H_ */
