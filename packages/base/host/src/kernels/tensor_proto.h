// Tensors out of TensorProto bytes.
#ifndef DRYSTONE_HOST_KERNELS_TENSOR_PROTO_H_
#define DRYSTONE_HOST_KERNELS_TENSOR_PROTO_H_

#include <string_view>

#include "core/tensor.h"

namespace drystone::host::kernels {

// A new tensor with the value: its content, or listed elements, the last of which stands for all
// that are not listed (zero or "" when none is). Fails with INVALID_ARGUMENT for malformed bytes, a
// shape that is not fully defined, content of another size, handles, and more than 2 GiB from a
// list.
TF_Tensor* tensor_from_proto(std::string_view bytes);

}  // namespace drystone::host::kernels

#endif  // DRYSTONE_HOST_KERNELS_TENSOR_PROTO_H_
