// Tensors of handles: see kernels/handles.h.
#include "kernels/handles.h"

#include <cstring>
#include <new>
#include <utility>

#include "core/failure.h"

namespace drystone::host::kernels {
namespace {

struct Element {
  std::uint64_t number;
  std::shared_ptr<void> object;
};

extern "C" void drop_element(void* data, std::size_t, void*) { delete static_cast<Element*>(data); }

}  // namespace

TF_Tensor* handle_tensor(TF_DataType dtype, std::uint64_t number, std::shared_ptr<void> object) {
  auto element = std::make_unique<Element>(Element{number, std::move(object)});
  TF_Tensor* tensor =
      TF_NewTensor(dtype, nullptr, 0, element.get(), sizeof(std::uint64_t), drop_element, nullptr);
  if (tensor == nullptr) throw std::bad_alloc();
  static_cast<void>(element.release());  // the tensor's
  return tensor;
}

std::uint64_t handle_at(const TF_Tensor& tensor, TF_DataType dtype, std::int64_t index) {
  if (tensor.dtype != dtype || tensor.memory == nullptr) {
    fail(TF_INVALID_ARGUMENT,
         std::string("the tensor is no ") + (dtype == TF_RESOURCE ? "resource" : "variant"));
  }
  if (index < 0 || index >= tensor.count()) {
    fail(TF_INVALID_ARGUMENT, "the tensor has no element " + std::to_string(index));
  }
  std::uint64_t number = 0;
  const char* data = static_cast<const char*>(tensor.memory->data);
  std::memcpy(&number, data + static_cast<std::size_t>(index) * sizeof number, sizeof number);
  return number;
}

}  // namespace drystone::host::kernels
