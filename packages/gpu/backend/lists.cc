// Tensor lists: their elements stay in the device's memory, the lists are the host's.
#include "drystone/tensor_list.h"

#include "drystone/kernels_experimental.h"
#include "node.h"

// A host that has no lists has no need of these kernels.
#pragma weak DS_ViewList
#pragma weak DS_ChangeList
#pragma weak DS_ResizeList
#pragma weak DS_SetListItem
#pragma weak DS_OutputListItem

namespace drystone::gpu {
namespace {

struct Growing {
  bool grows;
};

void* create(TF_OpKernelConstruction* construction) {
  return created(construction, [&]() -> void* {
    const std::string def = def_of(construction);
    return new Growing{
        sdk::NodeView(def).attr("resize_if_index_out_of_bounds").boolean().value_or(false)};
  });
}

void destroy(void* kernel) { delete static_cast<Growing*>(kernel); }

std::int64_t number_of(TF_OpKernelContext* context, int input) {
  sdk::Status status;
  TF_Tensor* tensor = nullptr;
  TF_GetInput(context, input, &tensor, status.get());
  const sdk::Tensor owner(tensor);
  check(status);
  return *static_cast<const std::int32_t*>(TF_TensorData(tensor));
}

// input_handle, index, item -> output_handle
void set_item(void* kernel, TF_OpKernelContext* context) {
  computed(context, [&] {
    const std::int64_t index = number_of(context, 1);
    DS_ListFacts facts = DS_LIST_FACTS_INIT;
    if (DS_ViewList(context, 0, &facts) == nullptr) return;
    DS_TensorList* const list = DS_ChangeList(context, 0, 0);
    const bool grows = static_cast<Growing*>(kernel)->grows && index >= facts.length;
    if (list != nullptr && (!grows || DS_ResizeList(context, list, index + 1))) {
      DS_SetListItem(context, list, index, 2);
    }
  });
}

// input_handle, tensor -> output_handle
void push_back(void*, TF_OpKernelContext* context) {
  DS_ListFacts facts = DS_LIST_FACTS_INIT;
  if (DS_ViewList(context, 0, &facts) == nullptr) return;
  DS_TensorList* const list = DS_ChangeList(context, 0, 0);
  if (list != nullptr && DS_ResizeList(context, list, facts.length + 1)) {
    DS_SetListItem(context, list, facts.length, 1);
  }
}

// input_handle, index, element_shape -> item
void get_item(void*, TF_OpKernelContext* context) {
  computed(context, [&] {
    const std::int64_t index = number_of(context, 1);
    const DS_TensorList* const list = DS_ViewList(context, 0, nullptr);
    if (list != nullptr) DS_OutputListItem(context, 0, list, index);
  });
}

// input_handle, element_shape -> output_handle, tensor
void pop_back(void*, TF_OpKernelContext* context) {
  DS_ListFacts facts = DS_LIST_FACTS_INIT;
  const DS_TensorList* const list = DS_ViewList(context, 0, &facts);
  if (list == nullptr || !DS_OutputListItem(context, 1, list, facts.length - 1)) return;
  DS_TensorList* const rest = DS_ChangeList(context, 0, 0);
  if (rest != nullptr) DS_ResizeList(context, rest, facts.length - 1);
}

}  // namespace

void add_list_kernels() {
  if (DS_ViewList == nullptr) return;
  for (const TF_DataType type : {TF_FLOAT, TF_HALF, TF_BFLOAT16}) {
    const std::vector<std::pair<std::string, TF_DataType>> own = {{"element_dtype", type}};
    add_kernel({"TensorListSetItem", create, set_item, destroy,
                {"input_handle", "index", "output_handle"}, own});
    add_kernel({"TensorListGetItem", create, get_item, destroy,
                {"input_handle", "index", "element_shape"}, own});
    add_kernel({"TensorListPushBack", create, push_back, destroy,
                {"input_handle", "output_handle"}, own});
    add_kernel({"TensorListPopBack", create, pop_back, destroy,
                {"input_handle", "element_shape", "output_handle"}, own});
  }
}

}  // namespace drystone::gpu
