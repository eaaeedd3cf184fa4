// Tensors as DLPack's managed tensors, and those as tensors, for memory of any device.
#ifndef DRYSTONE_HOST_CORE_DLPACK_H_
#define DRYSTONE_HOST_CORE_DLPACK_H_

#include <cstdint>

#include "core/tensor.h"

namespace drystone::host {

// As DLPack has it.
struct DLPackDevice {
  std::int32_t type;  // 1: CPU
  std::int32_t id;
};

// A managed tensor over the tensor's memory, which lies on `device`. `before_end`, unless NULL, is called once nobody
// uses that any more, before the memory is let go. Throws Failure for a dtype that does not fit.
void* to_dlpack(const TF_Tensor& tensor, bool versioned, std::uint64_t flags, const DLPackDevice& device,
                void (*before_end)(const TF_Tensor&) noexcept);

// A tensor over the memory of a managed tensor, which it takes over; see DS_TensorFromDLPack. Throws Failure where it lies
// on another device, and for memory of a device that is not in row-major order.
TF_Tensor* from_dlpack(void* managed, bool versioned, std::uint64_t* flags, const DLPackDevice& device);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_DLPACK_H_
