// Tensor lists for the embedder: see kernels/tensor_list.h and drystone_host/kernels.h.
#include "kernels/tensor_list.h"

#include <cstring>
#include <new>
#include <utility>

#include "core/failure.h"
#include "core/memory_limit.h"

namespace drystone::host::kernels {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 31;  // elements of a list

// What the memory of a list's tensor is. The number says nothing: it is not looked up.
struct ListMemory {
  std::uint64_t number;
  DS_TensorList list;
};

struct Foreign {
  std::vector<std::uint64_t> numbers;
  void* object;
  void (*release)(void*);
};

extern "C" void drop_list(void*, std::size_t, void* memory) {
  delete static_cast<ListMemory*>(memory);
}

extern "C" void drop_foreign(void*, std::size_t, void* memory) {
  const std::unique_ptr<Foreign> foreign(static_cast<Foreign*>(memory));
  if (foreign->release != nullptr) foreign->release(foreign->object);
}

// A tensor of the numbers whose memory goes with `drop(owner)`.
TF_Tensor* owning(TF_DataType dtype, const std::int64_t* dims, int rank, std::uint64_t* numbers,
                  std::size_t count, void (*drop)(void*, std::size_t, void*), void* owner) {
  return TF_NewTensor(dtype, dims, rank, numbers, count * sizeof *numbers, drop, owner);
}

}  // namespace

DS_TensorList* list_in(const TF_Tensor& tensor) noexcept {
  if (tensor.memory == nullptr || tensor.memory->deallocator != drop_list) return nullptr;
  return &static_cast<ListMemory*>(tensor.memory->argument)->list;
}

std::unique_ptr<TF_Tensor> brought_to(std::unique_ptr<TF_Tensor> tensor, Lane* lane) {
  Lane* const there = lane_of(*tensor);
  if (there == lane) return tensor;
  if (lane == nullptr) return on_host(*tensor);
  if (there == nullptr) return lane->copy_of(*tensor);
  if (&there->device() != &lane->device()) return lane->copy_of(*on_host(*tensor));
  lane->follow(*tensor);
  return tensor;
}

void bring_to(DS_TensorList& list, Lane* lane) {
  if (list.place == lane) [[likely]] return;
  for (Item& item : list.items) {
    if (item.get() == nullptr) continue;
    item = Item(brought_to(std::unique_ptr<TF_Tensor>(share(*item.get())), lane).release());
  }
  list.place = lane;
}

std::unique_ptr<TF_Tensor> list_tensor(DS_TensorList list) {
  auto memory = std::make_unique<ListMemory>(ListMemory{1, std::move(list)});
  std::unique_ptr<TF_Tensor> out(
      owning(TF_VARIANT, nullptr, 0, &memory->number, 1, drop_list, memory.get()));
  if (out == nullptr) throw std::bad_alloc();
  static_cast<void>(memory.release());  // the tensor's
  return out;
}

DS_TensorList list_of(const DS_ListFacts* facts) {
  require(facts, "facts");
  if (facts->struct_size < DS_LIST_FACTS_STRUCT_SIZE) {
    fail(TF_INVALID_ARGUMENT, "facts->struct_size must be set to DS_LIST_FACTS_STRUCT_SIZE");
  }
  if (facts->length < 0 || facts->length > kMost || facts->rank < -1 || facts->rank > 254 ||
      stored_size(facts->dtype) == 0) {
    fail(TF_INVALID_ARGUMENT, "there is no list of that dtype, rank and length");
  }
  if (facts->rank > 0) require(facts->dims, "facts->dims");
  DS_TensorList out;
  out.dtype = facts->dtype;
  out.rank = facts->rank;
  if (facts->rank > 0) out.dims.assign(facts->dims, facts->dims + facts->rank);
  out.limit = facts->limit;
  const auto length = static_cast<std::size_t>(facts->length);
  check_fits(length * sizeof(Item), [] { return std::string("a list: "); });
  out.items.resize(length);
  return out;
}

void tell(const DS_TensorList& list, DS_ListFacts* facts) {
  if (facts == nullptr) return;
  static constexpr std::int64_t kNone[1] = {0};
  DS_ListFacts out = DS_LIST_FACTS_INIT;
  const std::size_t size = facts->struct_size;
  out.struct_size = size;
  out.dims = list.dims.empty() ? kNone : list.dims.data();
  out.length = static_cast<std::int64_t>(list.items.size());
  out.limit = list.limit;
  out.rank = list.rank;
  out.dtype = list.dtype;
  std::memcpy(facts, &out, size < sizeof out ? size : sizeof out);
}

}  // namespace drystone::host::kernels

using namespace drystone::host;
using namespace drystone::host::kernels;

Item& DS_TensorList::at(std::int64_t k) {
  if (k < 0 || static_cast<std::size_t>(k) >= items.size()) {
    fail(TF_OUT_OF_RANGE, "the list of " + std::to_string(items.size()) +
                              " elements has no element " + std::to_string(k));
  }
  return items[static_cast<std::size_t>(k)];
}

extern "C" {

TF_Tensor* DS_NewListTensor(const DS_ListFacts* facts, const TF_Tensor* const* items,
                            TF_Status* status) {
  TF_Tensor* out = nullptr;
  guarded(status, __func__, [&] {
    DS_TensorList list = list_of(facts);
    if (!list.items.empty()) require(items, "items");
    for (std::size_t k = 0; k < list.items.size(); ++k) {
      if (items[k] == nullptr) continue;
      const Memory* memory = items[k]->memory;
      if (items[k]->dtype != list.dtype || memory == nullptr || memory->opaque) {
        fail(TF_INVALID_ARGUMENT, "element " + std::to_string(k) + " has another dtype or no value");
      }
      list.items[k] = Item(share(*items[k]));
    }
    out = list_tensor(std::move(list)).release();
  });
  return out;
}

const DS_TensorList* DS_ListOfTensor(const TF_Tensor* tensor, DS_ListFacts* facts) {
  const DS_TensorList* list = tensor == nullptr ? nullptr : list_in(*tensor);
  if (list != nullptr) tell(*list, facts);
  return list;
}

TF_Tensor* DS_ListTensorItem(const DS_TensorList* list, int64_t k) {
  return answered<TF_Tensor*>(nullptr, [&]() -> TF_Tensor* {
    if (list == nullptr || k < 0 || static_cast<std::size_t>(k) >= list->items.size()) return nullptr;
    const TF_Tensor* item = list->items[static_cast<std::size_t>(k)].get();
    if (item == nullptr) return nullptr;
    return lane_of(*item) == nullptr ? share(*item) : on_host(*item).release();
  });
}

TF_Tensor* DS_NewForeignTensor(TF_DataType dtype, const int64_t* dims, int num_dims, void* object,
                               void (*release)(void* object)) {
  auto out = answered<TF_Tensor*>(nullptr, [&]() -> TF_Tensor* {
    const auto count = elements(dims, num_dims);
    if (!count || *count > kMost || (dtype != TF_VARIANT && dtype != TF_RESOURCE)) return nullptr;
    const auto size = static_cast<std::size_t>(*count);
    auto memory = std::make_unique<Foreign>(
        Foreign{std::vector<std::uint64_t>(size == 0 ? 1 : size), object, release});
    auto* made = owning(dtype, dims, num_dims, memory->numbers.data(), size, drop_foreign,
                        memory.get());
    if (made != nullptr) static_cast<void>(memory.release());  // the tensor's
    return made;
  });
  if (out == nullptr && release != nullptr) release(object);
  return out;
}

void* DS_ForeignObject(const TF_Tensor* tensor) {
  if (tensor == nullptr || tensor->memory == nullptr) return nullptr;
  if (tensor->memory->deallocator != drop_foreign) return nullptr;
  return static_cast<Foreign*>(tensor->memory->argument)->object;
}

}  // extern "C"
