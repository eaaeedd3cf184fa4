// Tensors that kernels keep in objects of their own: arrays of tensors and stacks.
#ifndef DRYSTONE_CPU_CORE_CONTAINERS_H_
#define DRYSTONE_CPU_CORE_CONTAINERS_H_

#include <memory>

#include "core/lists.h"
#include "drystone/kernel_state.h"

namespace drystone::cpu {

// A tensor that is held beyond a call.
using Held = std::shared_ptr<TF_Tensor>;

// Input `i` for keeping: nothing is copied.
Held hold_input(const Call& call, int i);
// A new tensor.
Held new_tensor(TF_DataType dtype, DimsView dims);
// Makes output `i` the tensor: nothing is copied.
void set_output(const Call& call, int i, const TF_Tensor* tensor);

Dims dims_of(const TF_Tensor* tensor);

// Output `i` becomes a resource that stands for a new object of the kind.
template <class T>
void make_resource(const Call& call, int i, const DS_ObjectKind& kind, std::unique_ptr<T> object) {
  if (DS_NewResource(call.context(), i, &kind, object.release()) == 0) throw AlreadyFailed();
}

template <class T>
T& resource(const Call& call, int i, const DS_ObjectKind& kind) {
  void* out = DS_ResourceObject(call.context(), i, &kind);
  if (out == nullptr) throw AlreadyFailed();
  return *static_cast<T*>(out);
}

template <class T>
DS_ObjectKind kind_of(const char* name) noexcept {
  return {DS_OBJECT_KIND_STRUCT_SIZE, name, [](void* object) { delete static_cast<T*>(object); }};
}

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_CORE_CONTAINERS_H_
