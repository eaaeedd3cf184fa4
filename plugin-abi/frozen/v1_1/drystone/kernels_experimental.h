/* Kernels of variables, references and variants.
 *
 * Names and signatures are those of TensorFlow's experimental kernel C API; TensorFlow promises
 * nothing about them, this host keeps what is here as it keeps the rest. Since ABI 1.0. Rules for
 * threads, ownership and NULL are those of drystone/kernels.h.
 *
 * Variables. An input that is a variable is either a resource (a scalar TF_RESOURCE tensor) or a
 * reference (TF_InputDatatype is 100 more than a dtype). Both name a place that holds a tensor, which
 * other kernels may read at the same time; the functions here lock it. What another kernel reads is
 * never written: the host first copies a value that is shared.
 *
 * Callbacks. The host knows how to copy memory of the CPU only, so a kernel for another device
 * brings a function for it. It is called before the function that takes it returns, on the same
 * thread, with tensors that the callback owns: it deletes each with TF_DeleteTensor. It reports
 * trouble with TF_OpKernelContext_Failure, which then is also the status of the function that called
 * it. NULL in place of a copy callback means a plain copy of CPU memory.
 *
 * Common errors: OUT_OF_RANGE for a bad index, INVALID_ARGUMENT for an input of another kind, dtypes
 * or shapes that do not fit, NOT_FOUND for a resource that is gone, FAILED_PRECONDITION for a
 * variable without a value and for locking one variable twice, DEADLINE_EXCEEDED when the call's
 * deadline passes while waiting for a lock.
 */
#ifndef DRYSTONE_KERNELS_EXPERIMENTAL_H_
#define DRYSTONE_KERNELS_EXPERIMENTAL_H_

#include <stdbool.h>

#include "drystone/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reading --------------------------------------------------------------------------------- */

/* A new handle of the only input of argument `inputName`. INVALID_ARGUMENT for an argument that the op
 * does not have or that stands for several inputs. */
TF_CAPI_EXPORT extern void TF_GetInputByName(TF_OpKernelContext* ctx, const char* inputName,
                                             TF_Tensor** tensor, TF_Status* status);

/* Whether input `i` is a reference. */
TF_CAPI_EXPORT extern bool TF_IsRefInput(TF_OpKernelContext* ctx, int i, TF_Status* status);

/* The sizes of a shape attribute. INVALID_ARGUMENT unless its rank is known and `num_dims`, which
 * TF_OpKernelConstruction_GetAttrSize gives; an unknown size is -1. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrTensorShape(TF_OpKernelConstruction* ctx,
                                                                      const char* attr_name,
                                                                      int64_t* dims,
                                                                      size_t num_dims,
                                                                      TF_Status* status);

/* ---- variables ------------------------------------------------------------------------------- */

/* Held while the weights of an optimizer step are updated. */
typedef struct TF_VariableInputLockHolder TF_VariableInputLockHolder;

/* Give the resource variable at `input_index` the value of input `value_index`. With `validate_shape`
 * it must have the shape that an initialised variable has. Value and variable share memory
 * afterwards; `copyFunc` is not needed and may be NULL. */
TF_CAPI_EXPORT extern void TF_AssignVariable(
    TF_OpKernelContext* ctx, int input_index, int value_index, bool validate_shape,
    void (*copyFunc)(TF_OpKernelContext* ctx, TF_Tensor* source, TF_Tensor* dest),
    TF_Status* status);

/* Give the reference at `input_ref_index` the value of input `value_index`, and make output
 * `output_ref_index` the same reference. The value is copied. With `use_locking` the variable is
 * locked meanwhile. */
TF_CAPI_EXPORT extern void TF_AssignRefVariable(
    TF_OpKernelContext* ctx, int input_ref_index, int output_ref_index, int value_index,
    bool use_locking, bool validate_shape,
    void (*copyFunc)(TF_OpKernelContext* ctx, TF_Tensor* source, TF_Tensor* dest),
    TF_Status* status);

/* Change the resource variable at `input_index` in place: `updateFunc` gets its tensor, that of input
 * `value_index` and `Op`, whose meaning is the kernel's. Both must have one shape, unless
 * `isVariantType` is not 0. `updateFunc` is required. */
TF_CAPI_EXPORT extern void TF_AssignUpdateVariable(
    TF_OpKernelContext* ctx, int input_index, int value_index, int Op, int isVariantType,
    void (*copyFunc)(TF_OpKernelContext* ctx, TF_Tensor* source, TF_Tensor* dest),
    void (*updateFunc)(TF_OpKernelContext* ctx, TF_Tensor* tensor, TF_Tensor* value, int Op),
    TF_Status* status);

/* Make output 0 a reference to a new temporary variable of this step, named `var_name`.
 * `plugin_allocator` (NULL: the host allocates) gives the tensor it gets memory, for instance with
 * TF_AllocateTemp and TF_TensorBitcastFrom; it does not own that tensor. ALREADY_EXISTS when the step
 * has one of that name. */
TF_CAPI_EXPORT extern void TF_TemporaryVariable(
    TF_OpKernelContext* ctx, TF_DataType dtype, const int64_t* dims, int num_dims,
    TF_StringView* var_name,
    void (*plugin_allocator)(TF_OpKernelContext*, TF_Tensor*, TF_DataType, const int64_t*, int,
                             TF_Status*),
    TF_Status* tf_status);

/* Output 0 becomes the value of the reference at input `index`, and the temporary variable `var_name`
 * of this step is forgotten. NOT_FOUND without one. */
TF_CAPI_EXPORT extern void TF_DestroyTemporaryVariable(TF_OpKernelContext* ctx, const int index,
                                                       TF_StringView* var_name,
                                                       TF_Status* tf_status);

/* Lock the variables at `len` inputs, each once and always in the same order, whatever that of
 * `inputs`; with `do_lock` false nothing is locked. `sparse` says that rows of the values are going to
 * be written: values that are shared are copied now. `*lockHolder` is set in either case and must be
 * given to TF_ReleaseVariableInputLockHolder. */
TF_CAPI_EXPORT extern void TF_MaybeLockVariableInputMutexesInOrder(
    TF_OpKernelContext* ctx, bool do_lock, bool sparse, const int* const inputs, size_t len,
    void (*copyFunc)(TF_OpKernelContext* ctx, TF_Tensor* source, TF_Tensor* dest),
    TF_VariableInputLockHolder** lockHolder, TF_Status* status);

/* A new handle of the value of the variable at `input`, which may be written: a value that is
 * shared is copied first. `lock_held` says that the caller has locked it by the function above. */
TF_CAPI_EXPORT extern void TF_GetInputTensorFromVariable(
    TF_OpKernelContext* ctx, int input, bool lock_held, bool isVariantType, bool sparse,
    void (*copyFunc)(TF_OpKernelContext* ctx, TF_Tensor* source, TF_Tensor* dest),
    TF_Tensor** out, TF_Status* status);

/* Make output `output_index` the reference that input `input_index` is. Without a status: a bad
 * index or an input that is no reference is a failure of the call. */
TF_CAPI_EXPORT extern void TF_OpKernelContext_ForwardRefInputToRefOutput(TF_OpKernelContext* ctx,
                                                                         int32_t input_index,
                                                                         int32_t output_index);

/* Unlock, from any thread. NULL is ignored. */
TF_CAPI_EXPORT extern void TF_ReleaseVariableInputLockHolder(
    TF_VariableInputLockHolder* lockHolder);

/* ---- variants -------------------------------------------------------------------------------- */

/* Output 0 becomes the sum of all inputs, scalars of dtype TF_VARIANT that wrap tensors (or lists of
 * as many tensors): `binary_add_func` gets two of them and one of the same dtype and shape to write
 * the sum to. Wrapped tensors must have one shape. */
TF_CAPI_EXPORT extern void TF_AddNVariant(
    TF_OpKernelContext* ctx,
    void (*binary_add_func)(TF_OpKernelContext* ctx, TF_Tensor* a, TF_Tensor* b, TF_Tensor* out),
    TF_Status* status);

/* Output 0 becomes a variant like input 0, each tensor in it of the same dtype and shape and written
 * by `zeros_like_func`. */
TF_CAPI_EXPORT extern void TF_ZerosLikeVariant(
    TF_OpKernelContext* ctx,
    void (*zeros_like_func)(TF_OpKernelContext* ctx, TF_Tensor* input, TF_Tensor* out),
    TF_Status* status);

/* Named for sources that mention it; no function here gives one. */
typedef struct TF_CoordinationServiceAgent TF_CoordinationServiceAgent;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_KERNELS_EXPERIMENTAL_H_ */
