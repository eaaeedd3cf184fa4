/* Kernels at the least cost: inputs and outputs as plain pointers.
 *
 * A kernel that uses these functions allocates no handle per input and looks at no TF_Status: a view
 * shows where the elements are, and a function that cannot do what it is asked to makes the call fail
 * and says so by its result. They can be mixed with the functions of drystone/kernels.h in one call.
 *
 *   void compute(void* state, TF_OpKernelContext* ctx) {
 *     DS_View x = DS_VIEW_INIT, y = DS_VIEW_INIT;
 *     if (!DS_ViewInput(ctx, 0, &x) || !DS_NewOutput(ctx, 0, x.dims, x.rank, 0, &y)) return;
 *     for (int64_t k = 0; k < x.count; ++k) ((float*)y.data)[k] = -((const float*)x.data)[k];
 *   }
 *
 * Threads: the thread of the call, unless a function says otherwise. Every function accepts NULL for
 * `ctx` and gives 0 or NULL then. A drystone interface: TensorFlow has no such functions, so a plugin
 * that uses them loads into drystone only. Since 1.0.
 */
#ifndef DRYSTONE_KERNEL_VIEWS_H_
#define DRYSTONE_KERNEL_VIEWS_H_

#include "drystone/kernels.h"
#include "drystone/macros.h"
#include "drystone/status.h"
#include "drystone/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a tensor's elements are. Initialise with DS_VIEW_INIT. Everything that it points to belongs to
 * the host and is valid until the call ends; elements of inputs must not be changed. Strings are
 * TF_TStrings (drystone/tstring.h). */
typedef struct DS_View {
  size_t struct_size;   /* set by the caller */
  void* data;           /* aligned to 64 bytes; not NULL, also for no elements */
  const int64_t* dims;  /* `rank` of them; not NULL */
  int64_t count;        /* of elements */
  int32_t rank;
  TF_DataType dtype;
} DS_View;
#define DS_VIEW_STRUCT_SIZE TF_OFFSET_OF_END(DS_View, dtype)
/* Cannot be const in C++ and C alike: a struct with only its size set. */
#define DS_VIEW_INIT {DS_VIEW_STRUCT_SIZE, NULL, NULL, 0, 0, TF_FLOAT}

/* Show input `i`. False, and the call fails (OUT_OF_RANGE), for a bad index; for a reference to a
 * variable without a value it fails with FAILED_PRECONDITION. */
TF_CAPI_EXPORT extern TF_Bool DS_ViewInput(TF_OpKernelContext* ctx, int i, DS_View* view);

/* Make output `i`, with the dtype that the node says, and show it. `forward_from`: an input whose
 * memory the output may take over when nothing else needs it and the sizes are equal, or -1: the
 * kernel must then be able to work in place. Elements are not initialised, but for strings, which
 * are empty. False, and the call fails, for a bad index, dims that no tensor has and without
 * memory. */
TF_CAPI_EXPORT extern TF_Bool DS_NewOutput(TF_OpKernelContext* ctx, int i, const int64_t* dims,
                                           int rank, int forward_from, DS_View* view);

/* Make output `i` show the elements of input `input` with other dims of the same count: nothing is
 * copied. False, and the call fails, when dtypes or counts differ. */
TF_CAPI_EXPORT extern TF_Bool DS_ShareInput(TF_OpKernelContext* ctx, int i, int input,
                                            const int64_t* dims, int rank);

/* Show the value of the variable that element 0 of resource input `i`, or the reference `i`, stands
 * for, as it is now: it stays as it is until the call ends even when the variable gets another. False,
 * and the call fails with FAILED_PRECONDITION, without a value. */
TF_CAPI_EXPORT extern TF_Bool DS_ViewVariable(TF_OpKernelContext* ctx, int i, DS_View* view);

/* Show the variable's value for changing it in place: when others hold the same memory it is copied
 * first. The variable is locked until the call ends. The same failures as DS_ViewVariable. */
TF_CAPI_EXPORT extern TF_Bool DS_ChangeVariable(TF_OpKernelContext* ctx, int i, DS_View* view);

/* Give the variable of input `i` the elements of input `value`, without a copy where the memory is
 * given up. False, and the call fails, when the dtypes differ. */
TF_CAPI_EXPORT extern TF_Bool DS_AssignVariable(TF_OpKernelContext* ctx, int i, int value);

/* Make output `i` the value of the variable of input `input`: nothing is copied. */
TF_CAPI_EXPORT extern TF_Bool DS_ShareVariableValue(TF_OpKernelContext* ctx, int i, int input);

/* Whether the variable of input `i` has a value: 1 or 0; -1, and the call fails, for an input that
 * stands for no variable. */
TF_CAPI_EXPORT extern int DS_VariableHasValue(TF_OpKernelContext* ctx, int i);

/* Whether input `i` is likely to be the same in every call, as constants of a graph are: what a kernel
 * calculates from it alone is worth keeping. A kernel that does so must hold the input (TF_GetInput)
 * for as long: while it does, these elements are not changed, and other elements are elsewhere. */
TF_CAPI_EXPORT extern TF_Bool DS_InputIsConstant(TF_OpKernelContext* ctx, int i);

/* Which elements an input that DS_InputIsConstant has: two numbers that no other elements have while a
 * handle of these is held, whichever kernel and plan they are the input of. What is calculated from them
 * can be shared by kernels. 0 where they are not known to be the same anywhere else. */
TF_CAPI_EXPORT extern TF_Bool DS_InputIdentity(TF_OpKernelContext* ctx, int i, uint64_t* identity);

/* Memory for intermediate results, aligned to 64 bytes, until the call ends. NULL, and the call
 * fails, without memory. */
TF_CAPI_EXPORT extern void* DS_Scratch(TF_OpKernelContext* ctx, size_t bytes);

/* The call fails with this code and text; of several failures the first counts. Any thread. */
TF_CAPI_EXPORT extern void DS_Fail(TF_OpKernelContext* ctx, TF_Code code, const char* message);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_KERNEL_VIEWS_H_ */
