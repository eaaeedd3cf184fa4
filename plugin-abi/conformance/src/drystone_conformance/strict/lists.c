/* Tensor lists of the strict device: their elements stay in its memory, the lists are the host's. Nothing is
 * computed here: what is on the streams makes the elements. */
#include <stdlib.h>

#include "call.h"
#include "drystone/kernels_experimental.h"
#include "drystone/logging.h"
#include "drystone/tensor_list.h"

/* A host that has no lists has no need of these kernels. */
#pragma weak DS_ViewList
#pragma weak DS_ChangeList
#pragma weak DS_ResizeList
#pragma weak DS_SetListItem
#pragma weak DS_OutputListItem

/* A number in host memory. */
static int64_t number_of(Call* call, int k) {
  strict_take_input(call, k);
  return is_well(call) && call->task->count == 1 ? call->task->numbers[0] : -1;
}

/* input_handle, index, item -> output_handle */
static void set_item(void* attrs, TF_OpKernelContext* ctx) {
  Call call;
  strict_begin(&call, ctx, attrs);
  const int64_t index = number_of(&call, 1);
  DS_ListFacts facts = DS_LIST_FACTS_INIT;
  const bool is_list = is_well(&call) && DS_ViewList(ctx, 0, &facts) != NULL;
  DS_TensorList* const list = is_list ? DS_ChangeList(ctx, 0, 0) : NULL;
  const bool grows = list != NULL && call.task->attrs.grows && index >= facts.length;
  if (list != NULL && (!grows || DS_ResizeList(ctx, list, index + 1))) DS_SetListItem(ctx, list, index, 2);
  strict_end(&call);
}

/* input_handle, tensor -> output_handle */
static void push_back(void* attrs, TF_OpKernelContext* ctx) {
  DS_ListFacts facts = DS_LIST_FACTS_INIT;
  Call call;
  strict_begin(&call, ctx, attrs);
  DS_TensorList* const list = DS_ViewList(ctx, 0, &facts) != NULL ? DS_ChangeList(ctx, 0, 0) : NULL;
  if (list != NULL && DS_ResizeList(ctx, list, facts.length + 1)) DS_SetListItem(ctx, list, facts.length, 1);
  strict_end(&call);
}

/* input_handle, index, element_shape -> item */
static void get_item(void* attrs, TF_OpKernelContext* ctx) {
  Call call;
  strict_begin(&call, ctx, attrs);
  const int64_t index = number_of(&call, 1);
  const DS_TensorList* const list = is_well(&call) ? DS_ViewList(ctx, 0, NULL) : NULL;
  if (list != NULL) DS_OutputListItem(ctx, 0, list, index);
  strict_end(&call);
}

/* input_handle, element_shape -> output_handle, tensor */
static void pop_back(void* attrs, TF_OpKernelContext* ctx) {
  DS_ListFacts facts = DS_LIST_FACTS_INIT;
  Call call;
  strict_begin(&call, ctx, attrs);
  const DS_TensorList* const list = DS_ViewList(ctx, 0, &facts);
  if (list != NULL && DS_OutputListItem(ctx, 1, list, facts.length - 1)) {
    DS_TensorList* const rest = DS_ChangeList(ctx, 0, 0);
    if (rest != NULL) DS_ResizeList(ctx, rest, facts.length - 1);
  }
  strict_end(&call);
}

static const struct {
  const char* op;
  void (*call)(void*, TF_OpKernelContext*);
  const char* on_host[4];
} kKernels[] = {
    {"TensorListSetItem", set_item, {"input_handle", "index", "output_handle"}},
    {"TensorListGetItem", get_item, {"input_handle", "index", "element_shape"}},
    {"TensorListPushBack", push_back, {"input_handle", "output_handle"}},
    {"TensorListPopBack", pop_back, {"input_handle", "element_shape", "output_handle"}},
};

void strict_register_lists(void) {
  for (size_t k = 0; k < sizeof kKernels / sizeof *kKernels && DS_ViewList != NULL; ++k) {
    TF_Status* const status = TF_NewStatus();
    const char* const op = kKernels[k].op;
    TF_KernelBuilder* const builder = TF_NewKernelBuilder(op, STRICT_TYPE, strict_create, kKernels[k].call, free);
    TF_KernelBuilder_TypeConstraint(builder, "element_dtype", TF_FLOAT, status);
    for (int n = 0; n < 4 && kKernels[k].on_host[n] != NULL; ++n) TF_KernelBuilder_HostMemory(builder, kKernels[k].on_host[n]);
    if (TF_GetCode(status) == TF_OK) TF_RegisterKernelBuilder(op, builder, status);
    else TF_DeleteKernelBuilder(builder);
    if (TF_GetCode(status) != TF_OK) TF_Log(TF_ERROR, "%s: %s", op, TF_Message(status));
    TF_DeleteStatus(status);
  }
}
