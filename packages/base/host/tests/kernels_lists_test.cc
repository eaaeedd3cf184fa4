// Kernels of tensor lists, of objects behind resources and of states. Built with sanitizers.
#include "drystone/kernel_state.h"
#include "drystone/tensor_list.h"
#include "kernels_help.h"

namespace {

using namespace help;

TF_Tensor* list_of(const std::vector<float>& values, int64_t unset = 0) {
  Status status;
  std::vector<TF_Tensor*> items;
  for (const float value : values) items.push_back(floats({value}));
  items.resize(items.size() + static_cast<std::size_t>(unset));
  const int64_t dims[1] = {1};
  DS_ListFacts facts = DS_LIST_FACTS_INIT;
  facts.dims = dims;
  facts.rank = 1;
  facts.length = static_cast<int64_t>(items.size());
  facts.dtype = TF_FLOAT;
  TF_Tensor* out = DS_NewListTensor(&facts, items.data(), status);
  CHECK(out != nullptr && status.ok());
  for (TF_Tensor* item : items) TF_DeleteTensor(item);
  return out;
}

std::vector<float> values_of(const TF_Tensor* tensor) {
  DS_ListFacts facts = DS_LIST_FACTS_INIT;
  const DS_TensorList* list = DS_ListOfTensor(tensor, &facts);
  CHECK(list != nullptr);
  std::vector<float> out;
  for (int64_t k = 0; k < facts.length; ++k) {
    TF_Tensor* item = DS_ListTensorItem(list, k);
    out.push_back(item == nullptr ? -1 : floats_of(item)[0]);
    TF_DeleteTensor(item);
  }
  return out;
}

// Runs `body` as a kernel of a list and a float; the list that it makes, or NULL.
TF_Tensor* run(const std::function<void(TF_OpKernelContext*)>& body, TF_Tensor* list, bool gives_up,
               TF_Status* status) {
  const Op op{"Listed", {arg("x", TF_VARIANT), arg("v", TF_FLOAT)}, {arg("y", TF_VARIANT)}, {}};
  DS_Kernel* kernel = must_make(op, {"Listed", {}, {}});
  on_compute = body;
  TF_Tensor* value = floats({9});
  TF_Tensor* inputs[2] = {list, value};
  const TF_Bool given[2] = {1, 0};
  DS_KernelCall facts = call();
  if (gives_up) facts.overwritable = given;
  TF_Tensor* out = nullptr;
  DS_RunKernel(kernel, &facts, inputs, 2, &out, 1, status);
  DS_DeleteKernel(kernel);
  TF_DeleteTensor(value);
  on_compute = nullptr;
  return out;
}

void push(TF_OpKernelContext* ctx) {
  DS_ListFacts facts = DS_LIST_FACTS_INIT;
  if (DS_ViewList(ctx, 0, &facts) == nullptr) return;
  DS_TensorList* list = DS_ChangeList(ctx, 0, 0);
  CHECK(list != nullptr && DS_ResizeList(ctx, list, facts.length + 1));
  CHECK(DS_SetListItem(ctx, list, facts.length, 1));
}

void test_change() {
  Status status;
  TF_Tensor* before = list_of({1, 2});
  TF_Tensor* copied = run(push, before, false, status);
  CHECK(status.ok() && values_of(before) == std::vector<float>({1, 2}));
  CHECK(values_of(copied) == std::vector<float>({1, 2, 9}));
  CHECK(DS_ListOfTensor(copied, nullptr) != DS_ListOfTensor(before, nullptr));
  const DS_TensorList* same = DS_ListOfTensor(before, nullptr);
  TF_Tensor* held = DS_ShareTensor(before);
  TF_Tensor* shared = run(push, before, true, status);  // another holder has it
  CHECK(status.ok() && DS_ListOfTensor(shared, nullptr) != same);
  CHECK(values_of(held) == std::vector<float>({1, 2}));
  TF_DeleteTensor(held);
  TF_Tensor* moved = run(push, before, true, status);  // nobody else has: nothing is copied
  CHECK(status.ok() && DS_ListOfTensor(moved, nullptr) == same);
  for (TF_Tensor* t : {before, copied, shared, moved}) TF_DeleteTensor(t);
}

void test_items() {
  Status status;
  TF_Tensor* before = list_of({1}, 1);
  const auto body = [](TF_OpKernelContext* ctx) {
    DS_ListFacts facts = DS_LIST_FACTS_INIT;
    CHECK(DS_InputIsList(ctx, 0) && !DS_InputIsList(ctx, 1) && !DS_InputIsList(ctx, 7));
    const DS_TensorList* from = DS_ViewList(ctx, 0, &facts);
    CHECK(from != nullptr && facts.length == 2 && facts.rank == 1 && facts.dims[0] == 1);
    CHECK(facts.limit == -1 && facts.dtype == TF_FLOAT);
    DS_View view = DS_VIEW_INIT;
    CHECK(DS_ViewListItem(from, 0, &view) && view.rank == 1 && *static_cast<float*>(view.data) == 1);
    CHECK(!DS_ViewListItem(from, 1, &view) && !DS_ViewListItem(from, 2, &view));
    CHECK(!DS_ViewListItem(from, -1, &view) && !DS_ViewListItem(nullptr, 0, &view));
    facts.length = 3;
    facts.rank = -1;
    DS_TensorList* made = DS_NewOutputList(ctx, 0, &facts);
    CHECK(made != nullptr && DS_ShareListItem(ctx, made, 0, from, 0));
    const int64_t dims[1] = {2};
    CHECK(DS_NewListItem(ctx, made, 2, dims, 1, &view) && view.count == 2);
    static_cast<float*>(view.data)[0] = 5;
    CHECK(DS_ShareListItem(ctx, made, 1, from, 1));
  };
  TF_Tensor* made = run(body, before, false, status);
  CHECK(status.ok() && values_of(made) == std::vector<float>({1, -1, 5}));
  TF_DeleteTensor(before);
  CHECK(values_of(made) == std::vector<float>({1, -1, 5}));
  TF_DeleteTensor(made);
}

void test_refusals() {
  Status status;
  TF_Tensor* list = list_of({1});
  TF_Tensor* junk = tensor<uint64_t>(TF_VARIANT, {}, {42});
  CHECK(run(push, junk, false, status) == nullptr);
  CHECK(status.says(TF_INVALID_ARGUMENT, "input 0 is no tensor list"));
  const auto beyond = [](TF_OpKernelContext* ctx) {
    DS_SetListItem(ctx, DS_ChangeList(ctx, 0, 0), 1, 1);
  };
  CHECK(run(beyond, list, false, status) == nullptr);
  CHECK(status.says(TF_OUT_OF_RANGE, "the list of 1 elements has no element 1"));
  const auto itself = [](TF_OpKernelContext* ctx) {
    DS_SetListItem(ctx, DS_ChangeList(ctx, 0, 0), 0, 0);
  };
  CHECK(run(itself, list, false, status) == nullptr);
  CHECK(status.says(TF_INVALID_ARGUMENT, "the list has elements of dtype float, not variant"));
  const auto shrink = [](TF_OpKernelContext* ctx) {
    DS_ResizeList(ctx, DS_ChangeList(ctx, 0, 0), -1);
  };
  CHECK(run(shrink, list, false, status) == nullptr && status.code() == TF_OUT_OF_RANGE);
  DS_ListFacts facts = DS_LIST_FACTS_INIT;
  facts.length = -1;
  CHECK(DS_NewListTensor(&facts, nullptr, status) == nullptr && !status.ok());
  CHECK(DS_NewListTensor(nullptr, nullptr, status) == nullptr && !status.ok());
  CHECK(DS_ListOfTensor(junk, nullptr) == nullptr && DS_ListOfTensor(nullptr, nullptr) == nullptr);
  TF_DeleteTensor(list);
  TF_DeleteTensor(junk);
}

void test_foreign() {
  int object = 0;
  const auto release = [](void* at) { ++*static_cast<int*>(at); };
  const int64_t dims[1] = {3};
  TF_Tensor* made = DS_NewForeignTensor(TF_VARIANT, dims, 1, &object, release);
  CHECK(made != nullptr && DS_ForeignObject(made) == &object && TF_Dim(made, 0) == 3);
  TF_Tensor* other = DS_ShareTensor(made);
  TF_DeleteTensor(made);
  CHECK(object == 0);
  TF_DeleteTensor(other);
  CHECK(object == 1);
  CHECK(DS_NewForeignTensor(TF_FLOAT, dims, 1, &object, release) == nullptr && object == 2);
  CHECK(DS_ForeignObject(nullptr) == nullptr);
}

int destroyed = 0;
const DS_ObjectKind kKind = {DS_OBJECT_KIND_STRUCT_SIZE, "thing", [](void*) { ++destroyed; }};
const DS_ObjectKind kOther = {DS_OBJECT_KIND_STRUCT_SIZE, "other", [](void*) {}};

void test_resources() {
  Status status;
  static int thing = 7;
  register_op("Makes");
  const Op makes{"Makes", {}, {arg("y", TF_RESOURCE)}, {}};
  DS_Kernel* kernel = must_make(makes, {"Makes", {}, {}});
  on_compute = [](TF_OpKernelContext* ctx) { CHECK(DS_NewResource(ctx, 0, &kKind, &thing)); };
  TF_Tensor* handle = nullptr;
  DS_RunKernel(kernel, nullptr, nullptr, 0, &handle, 1, status);
  CHECK(status.ok() && destroyed == 0);
  DS_DeleteKernel(kernel);
  register_op("Takes");
  const Op takes{"Takes", {arg("x", TF_RESOURCE)}, {}, {}};
  kernel = must_make(takes, {"Takes", {}, {}});
  on_compute = [](TF_OpKernelContext* ctx) {
    CHECK(DS_ResourceObject(ctx, 0, &kKind) == &thing);
    CHECK(DS_ResourceObject(ctx, 0, &kOther) == nullptr);
  };
  DS_RunKernel(kernel, nullptr, &handle, 1, nullptr, 0, status);
  CHECK(status.says(TF_NOT_FOUND, "input 0 stands for no other"));
  DS_DeleteKernel(kernel);
  TF_DeleteTensor(handle);
  CHECK(destroyed == 1);
  on_compute = nullptr;
}

void test_states() {
  Status status;
  static int made = 0;
  destroyed = 0;
  register_op("Keeps");
  const Op op{"Keeps", {}, {}, {}};
  DS_NodeStates* states = DS_NewNodeStates();
  DS_KernelCall facts = call();
  on_compute = [](TF_OpKernelContext* ctx) {
    const auto create = [](void* argument) -> void* {
      ++made;
      return argument;
    };
    CHECK(DS_NodeState(ctx, &kKind, create, &made) == &made);
  };
  for (int k = 0; k < 2; ++k) {  // two plans of one session
    facts.states = states;
    DS_Kernel* kernel = must_make(op, {"Keeps", {}, {}});
    for (int n = 0; n < 2; ++n) DS_RunKernel(kernel, &facts, nullptr, 0, nullptr, 0, status);
    DS_DeleteKernel(kernel);
    CHECK(status.ok() && made == 1 && destroyed == 0);
  }
  DS_DeleteNodeStates(states);
  CHECK(destroyed == 1);
  facts.states = nullptr;
  DS_Kernel* kernel = must_make(op, {"Keeps", {}, {}});
  for (int n = 0; n < 2; ++n) DS_RunKernel(kernel, &facts, nullptr, 0, nullptr, 0, status);
  CHECK(made == 2 && destroyed == 1);
  DS_DeleteKernel(kernel);
  CHECK(destroyed == 2);
  on_compute = [](TF_OpKernelContext* ctx) {
    CHECK(DS_NodeState(ctx, &kKind, [](void*) -> void* { return nullptr; }, nullptr) == nullptr);
  };
  kernel = must_make(op, {"Keeps", {}, {}});
  DS_RunKernel(kernel, nullptr, nullptr, 0, nullptr, 0, status);
  CHECK(status.says(TF_RESOURCE_EXHAUSTED, "a state cannot be made"));
  DS_DeleteKernel(kernel);
  on_compute = nullptr;
}

}  // namespace

int main() {
  register_op("Listed");
  test_change();
  test_items();
  test_refusals();
  test_foreign();
  test_resources();
  test_states();
  DS_LiveObjects live{};
  live.struct_size = DS_LIVE_OBJECTS_STRUCT_SIZE;
  DS_GetLiveObjects(&live);
  CHECK(live.tensors == 0 && live.memory_blocks == 0 && live.kernels == 0 && live.handles == 0);
  return help::report();
}
