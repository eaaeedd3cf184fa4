// Tensors beyond calls: see core/containers.h.
#include "core/containers.h"

#include "drystone/tstring.h"

namespace drystone::cpu {
namespace {

struct Status {
  TF_Status* status = TF_NewStatus();
  ~Status() { TF_DeleteStatus(status); }
  void check() const {
    if (TF_GetCode(status) != TF_OK) fail(TF_GetCode(status), TF_Message(status));
  }
};

}  // namespace

Held hold_input(const Call& call, int i) {
  TF_Tensor* out = nullptr;
  const Status status;
  TF_GetInput(call.context(), i, &out, status.status);
  Held held(out, TF_DeleteTensor);
  status.check();
  return held;
}

Held new_tensor(TF_DataType dtype, DimsView dims) {
  check_dims(dims);
  const std::size_t size = dtype == TF_STRING    ? sizeof(TF_TString)
                           : dtype == TF_VARIANT ? sizeof(void*)
                                                 : element_size(dtype);
  Held out(TF_AllocateTensor(dtype, dims.data(), static_cast<int>(dims.size()),
                             static_cast<std::size_t>(product(dims)) * size),
           TF_DeleteTensor);
  if (out == nullptr) fail_no_memory("a tensor of shape " + text(dims));
  return out;
}

void set_output(const Call& call, int i, const TF_Tensor* tensor) {
  const Status status;
  TF_SetOutput(call.context(), i, tensor, status.status);
  status.check();
}

Dims dims_of(const TF_Tensor* tensor) {
  Dims out;
  for (int k = 0; k < TF_NumDims(tensor); ++k) out.push_back(TF_Dim(tensor, k));
  return out;
}

}  // namespace drystone::cpu
