// Values: see executor/value.h.
#include "executor/value.h"

#include <cstddef>
#include <memory>
#include <new>

#include "core/failure.h"
#include "core/live.h"
#include "drystone/session.h"

namespace drystone::host::executor {
namespace {

void delete_variable(void* object) { DS_DeleteVariable(static_cast<DS_Variable*>(object)); }

void release_opaque(void* object, std::size_t, void* release) {
  reinterpret_cast<void (*)(void*)>(release)(object);
}

}  // namespace

TF_Tensor* dead() noexcept {
  alignas(TF_Tensor) static std::byte room[sizeof(TF_Tensor)];  // never destroyed
  static TF_Tensor* const tensor = [] {
    auto* made = ::new (room) TF_Tensor();
    died(host::Kind::tensor);  // it belongs to no tensor
    return made;
  }();
  return tensor;
}

TF_Tensor* new_reference(DS_Variable* variable) {
  TF_Tensor* out = DS_NewOpaqueTensor(variable, kReference, delete_variable);
  if (out == nullptr) {
    DS_DeleteVariable(variable);
    throw std::bad_alloc();
  }
  return out;
}

DS_Variable* reference(const TF_Tensor* value) noexcept {
  if (value->dtype != kReference || value->memory == nullptr) return nullptr;
  return static_cast<DS_Variable*>(value->memory->data);
}

}  // namespace drystone::host::executor

using namespace drystone::host;

extern "C" {

void DS_MarkTensorShared(TF_Tensor* tensor) {
  if (tensor != nullptr && tensor->memory != nullptr) tensor->memory->shared = true;
}

TF_Tensor* DS_NewFeed(TF_DataType dtype, const int64_t* dims, int num_dims, void* data, size_t len,
                      void (*deallocator)(void*, size_t, void*), void* deallocator_arg) {
  return answered<TF_Tensor*>(
      nullptr, [&] { return new_lent(dtype, dims, num_dims, data, len, deallocator, deallocator_arg); });
}

TF_Tensor* DS_NewOpaqueTensor(void* object, TF_DataType dtype, void (*release)(void*)) {
  return answered<TF_Tensor*>(nullptr, [&] {
    auto memory = std::make_unique<Memory>();
    auto tensor = std::make_unique<TF_Tensor>();
    born(drystone::host::Kind::memory);
    memory->data = object;
    memory->dtype = dtype;
    memory->opaque = true;
    if (release != nullptr) {
      memory->deallocator = executor::release_opaque;
      memory->argument = reinterpret_cast<void*>(release);
    }
    tensor->dtype = dtype;
    tensor->memory = memory.release();
    return tensor.release();
  });
}

void* DS_OpaqueObject(const TF_Tensor* tensor) {
  if (tensor == nullptr || tensor->memory == nullptr || !tensor->memory->opaque) return nullptr;
  if (tensor->dtype == executor::kReference) return nullptr;
  return tensor->memory->data;
}

}  // extern "C"
