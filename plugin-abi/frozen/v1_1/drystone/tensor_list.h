/* Tensor lists: what the ops TensorList... keep in a scalar of dtype TF_VARIANT.
 *
 * The host owns lists, so that kernels of several libraries and the host's own can work on one. A list
 * knows the dtype of its elements and what is declared of their shape; an element is a tensor or unset.
 * A list is a value: no holder sees it change. DS_ChangeList therefore gives a kernel the
 * very list when the caller of the kernel gives it up and nothing else holds it, and a copy (of the
 * handles; elements share memory) otherwise: a loop that pushes to a list copies nothing.
 *
 *   void push_back(void* state, TF_OpKernelContext* ctx) {
 *     DS_ListFacts facts = DS_LIST_FACTS_INIT;
 *     if (DS_ViewList(ctx, 0, &facts) == NULL) return;
 *     DS_TensorList* list = DS_ChangeList(ctx, 0, 0);
 *     if (list == NULL || !DS_ResizeList(ctx, list, facts.length + 1)) return;
 *     DS_SetListItem(ctx, list, facts.length, 1);
 *   }
 *
 * Ownership: lists belong to the host; what a function here gives is valid until the call ends, and what
 * a view shows until the list is changed. Threads: the thread of the call; lists that are not being
 * changed may be read by several calls at once. NULL, or 0, from a function says that the call has
 * failed, with INVALID_ARGUMENT for what is no list, OUT_OF_RANGE for bad indices and
 * RESOURCE_EXHAUSTED without memory, unless it says otherwise. A drystone interface: TensorFlow has no
 * such functions. Since 1.0.
 */
#ifndef DRYSTONE_TENSOR_LIST_H_
#define DRYSTONE_TENSOR_LIST_H_

#include "drystone/kernel_views.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct DS_TensorList DS_TensorList;

/* What is known of a list. Initialise with DS_LIST_FACTS_INIT. */
typedef struct DS_ListFacts {
  size_t struct_size;   /* set by the caller */
  const int64_t* dims;  /* of elements, as declared: `rank` of them, -1 for an unknown one */
  int64_t length;       /* of the list */
  int64_t limit;        /* the most elements that it may have, which kernels see to; -1: any number */
  int32_t rank;         /* of elements; -1: unknown */
  TF_DataType dtype;    /* of elements */
} DS_ListFacts;
#define DS_LIST_FACTS_STRUCT_SIZE TF_OFFSET_OF_END(DS_ListFacts, dtype)
#define DS_LIST_FACTS_INIT {DS_LIST_FACTS_STRUCT_SIZE, NULL, 0, -1, -1, TF_FLOAT}

/* Whether input `i` is a list; the call does not fail. */
TF_CAPI_EXPORT extern TF_Bool DS_InputIsList(TF_OpKernelContext* ctx, int i);

/* The list that input `i` is, for reading; `facts` may be NULL. */
TF_CAPI_EXPORT extern const DS_TensorList* DS_ViewList(TF_OpKernelContext* ctx, int i,
                                                       DS_ListFacts* facts);

/* Make output `i` a new list of `facts->length` unset elements. */
TF_CAPI_EXPORT extern DS_TensorList* DS_NewOutputList(TF_OpKernelContext* ctx, int i,
                                                      const DS_ListFacts* facts);

/* Make output `i` the list of input `input`, for changing: see above. What DS_ViewList gave for that
 * input must not be used any more. */
TF_CAPI_EXPORT extern DS_TensorList* DS_ChangeList(TF_OpKernelContext* ctx, int i, int input);

/* Cut the list, or fill it up with unset elements, to `length`. */
TF_CAPI_EXPORT extern TF_Bool DS_ResizeList(TF_OpKernelContext* ctx, DS_TensorList* list,
                                            int64_t length);

/* Show element `k`. 0, and the call does not fail, for one that is unset or not there. */
TF_CAPI_EXPORT extern TF_Bool DS_ViewListItem(const DS_TensorList* list, int64_t k, DS_View* view);

/* Element `k` becomes the tensor of input `input`: nothing is copied. */
TF_CAPI_EXPORT extern TF_Bool DS_SetListItem(TF_OpKernelContext* ctx, DS_TensorList* list,
                                             int64_t k, int input);

/* Element `k` becomes element `from_k` of `from`: nothing is copied. An unset one makes it unset. */
TF_CAPI_EXPORT extern TF_Bool DS_ShareListItem(TF_OpKernelContext* ctx, DS_TensorList* list,
                                               int64_t k, const DS_TensorList* from,
                                               int64_t from_k);

/* Element `k` becomes a new tensor of the list's dtype, which is shown; its elements are not
 * initialised, but for strings, which are empty. */
TF_CAPI_EXPORT extern TF_Bool DS_NewListItem(TF_OpKernelContext* ctx, DS_TensorList* list,
                                             int64_t k, const int64_t* dims, int rank,
                                             DS_View* view);

/* Make output `i` element `k`, which must be set: nothing is copied. */
TF_CAPI_EXPORT extern TF_Bool DS_OutputListItem(TF_OpKernelContext* ctx, int i,
                                                const DS_TensorList* list, int64_t k);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_TENSOR_LIST_H_ */
