/* Kernels and large constants that stay in a model's file.
 *
 * A kernel that makes something of a constant input once (weights in another order), or that reads a
 * little of it in each call (rows of a table), needs no copy of the whole in memory. It says so while
 * it is made; then the host leaves such an input in the file, and the kernel reads what it needs:
 *
 *   void* create(TF_OpKernelConstruction* ctx) { DS_TakeStored(ctx, 1); ... }
 *   void compute(void* state, TF_OpKernelContext* ctx) {
 *     DS_View w = DS_VIEW_INIT;
 *     if (!DS_ViewInput(ctx, 1, &w)) return;
 *     if (w.data == NULL) { if (!DS_ReadInput(ctx, 1, 0, bytes, room)) return; ... }
 *
 * Rules are those of drystone/kernel_views.h. A drystone interface. Since 1.0.
 */
#ifndef DRYSTONE_KERNEL_STORED_H_
#define DRYSTONE_KERNEL_STORED_H_

#include "drystone/kernel_views.h"
#include "drystone/kernels.h"
#include "drystone/macros.h"

#ifdef __cplusplus
extern "C" {
#endif

/* While a kernel is made: it copes with a constant input `i` that is not in memory. `data` of such an
 * input's view, and what TF_TensorData gives, is NULL. It is one tensor in every call of the kernel.
 * Inputs of kernels that do not ask, and all others, are in memory. Nothing happens for a bad index. */
TF_CAPI_EXPORT extern void DS_TakeStored(TF_OpKernelConstruction* ctx, int i);

/* Copy `bytes` of input `i`'s elements, from byte `offset` on, wherever they are. Any thread, until the
 * call ends. False, and the call fails: OUT_OF_RANGE beyond the elements' end, DATA_LOSS where the file
 * that holds them was cut off since, UNAVAILABLE where it cannot be read. Not for strings. */
TF_CAPI_EXPORT extern TF_Bool DS_ReadInput(TF_OpKernelContext* ctx, int i, size_t offset,
                                           size_t bytes, void* into);

/* All elements of input `i` in memory, aligned to 64 bytes. What is in a file is read when it is asked
 * for first, and stays for as long as the constant does. Any thread, until the call ends. NULL, and the
 * call fails, as DS_ReadInput does and without memory. */
TF_CAPI_EXPORT extern const void* DS_LoadInput(TF_OpKernelContext* ctx, int i);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_KERNEL_STORED_H_ */
