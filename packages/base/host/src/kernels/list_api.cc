// Tensor lists for kernels: see drystone/tensor_list.h.
#include <algorithm>

#include "core/dtype_names.h"
#include "core/memory_limit.h"
#include "kernels/context.h"
#include "kernels/tensor_list.h"
#include "kernels/views.h"

using namespace drystone::host;
using namespace drystone::host::kernels;

namespace {

DS_TensorList& list_input(const TF_OpKernelContext& ctx, int i) {
  const std::size_t k = ctx.input_index(i);
  DS_TensorList* list = !ctx.is_reference(k) ? list_in(*ctx.inputs[k]) : nullptr;
  if (list == nullptr) {
    fail(TF_INVALID_ARGUMENT, "input " + std::to_string(i) + " is no tensor list");
  }
  bring_to(*list, lane_of(*ctx.call));
  return *list;
}

DS_TensorList* set_list(TF_OpKernelContext* ctx, std::size_t i, DS_TensorList list) {
  ctx->set_output(i, list_tensor(std::move(list)));
  return list_in(*ctx->outputs[i]);
}

void check_dtype(const DS_TensorList& list, TF_DataType dtype) {
  if (list.dtype == dtype) return;
  fail(TF_INVALID_ARGUMENT, "the list has elements of dtype " +
                                dtype_name(list.dtype) + ", not " +
                                dtype_name(dtype));
}

}  // namespace

extern "C" {

TF_Bool DS_InputIsList(TF_OpKernelContext* ctx, int i) {
  if (ctx == nullptr || i < 0 || i >= ctx->num_inputs()) return 0;
  const auto k = static_cast<std::size_t>(i);
  return !ctx->is_reference(k) && list_in(*ctx->inputs[k]) != nullptr ? 1 : 0;
}

const DS_TensorList* DS_ViewList(TF_OpKernelContext* ctx, int i, DS_ListFacts* facts) {
  const DS_TensorList* out = nullptr;
  tried(ctx, [&] {
    out = &list_input(*ctx, i);
    tell(*out, facts);
  });
  return out;
}

DS_TensorList* DS_NewOutputList(TF_OpKernelContext* ctx, int i, const DS_ListFacts* facts) {
  DS_TensorList* out = nullptr;
  tried(ctx, [&] {
    out = set_list(ctx, ctx->output_index(i), list_of(facts));
    out->place = lane_of(*ctx->call);
  });
  return out;
}

DS_TensorList* DS_ChangeList(TF_OpKernelContext* ctx, int i, int input) {
  DS_TensorList* out = nullptr;
  tried(ctx, [&] {
    const std::size_t output = ctx->output_index(i);
    DS_TensorList& list = list_input(*ctx, input);
    const auto in = static_cast<std::size_t>(input);
    if (is_given_up(*ctx, in)) {
      ctx->set_output(output, ctx->input(in));
      out = &list;
    } else {
      out = set_list(ctx, output, list);
    }
  });
  return out;
}

TF_Bool DS_ResizeList(TF_OpKernelContext* ctx, DS_TensorList* list, int64_t length) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  return tried(ctx, [&] {
    require(list, "list");
    if (length < 0 || length > kMost) fail(TF_OUT_OF_RANGE, "no list has that length");
    auto& items = list->items;
    const auto size = static_cast<std::size_t>(length);
    check_fits(size * sizeof(Item), [] { return std::string("a list: "); });
    if (size > items.capacity()) items.reserve(std::max(size, 2 * items.size()));
    items.resize(size);
  });
}

TF_Bool DS_ViewListItem(const DS_TensorList* list, int64_t k, DS_View* view) {
  if (list == nullptr || k < 0 || static_cast<std::size_t>(k) >= list->items.size()) return 0;
  const TF_Tensor* item = list->items[static_cast<std::size_t>(k)].get();
  if (item == nullptr) return 0;
  show(*item, view);
  return 1;
}

TF_Bool DS_SetListItem(TF_OpKernelContext* ctx, DS_TensorList* list, int64_t k, int input) {
  return tried(ctx, [&] {
    require(list, "list");
    auto item = ctx->input(ctx->input_index(input));
    check_dtype(*list, item->dtype);
    list->at(k) = Item(brought_to(std::move(item), lane_of(*ctx->call)).release());
  });
}

TF_Bool DS_ShareListItem(TF_OpKernelContext* ctx, DS_TensorList* list, int64_t k,
                         const DS_TensorList* from, int64_t from_k) {
  return tried(ctx, [&] {
    require(list, "list");
    require(from, "from");
    check_dtype(*list, from->dtype);
    list->at(k) = from->at(from_k);
  });
}

TF_Bool DS_NewListItem(TF_OpKernelContext* ctx, DS_TensorList* list, int64_t k,
                       const int64_t* dims, int rank, DS_View* view) {
  return tried(ctx, [&] {
    require(list, "list");
    Lane* const lane = lane_of(*ctx->call);
    Item made(lane == nullptr ? new_tensor_that_fits(list->dtype, dims, rank) : lane->allocate(list->dtype, dims, rank));
    show(*made.get(), view);
    list->at(k) = std::move(made);
  });
}

TF_Bool DS_OutputListItem(TF_OpKernelContext* ctx, int i, const DS_TensorList* list, int64_t k) {
  return tried(ctx, [&] {
    require(list, "list");
    const TF_Tensor* item = list->at(k).get();
    if (item == nullptr) {
      fail(TF_INVALID_ARGUMENT, "element " + std::to_string(k) + " of the list is unset");
    }
    ctx->set_output(ctx->output_index(i), std::unique_ptr<TF_Tensor>(share(*item)));
  });
}

}  // extern "C"
