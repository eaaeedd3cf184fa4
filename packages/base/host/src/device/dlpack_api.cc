// Tensors in the memory of devices, for the embedder: see drystone_host/dlpack.h.
#include "drystone_host/dlpack.h"

#include <string_view>

#include "core/dlpack.h"
#include "core/failure.h"
#include "device/lane.h"

namespace drystone::host {
namespace {

// DLPack numbers some makers' devices; all others are "external".
constexpr std::int32_t kCuda = 2;
constexpr std::int32_t kRocm = 10;
constexpr std::int32_t kExternal = 12;

DLPackDevice dlpack_of(DS_Device& device) {
  const std::string_view platform = device.platform.name();
  const std::int32_t type = platform == "CUDA" ? kCuda : platform == "ROCM" ? kRocm : kExternal;
  return {type, device.sp()->ordinal};
}

Lane& there(const TF_Tensor* tensor) {
  require(tensor, "tensor");
  Lane* const lane = lane_of(*tensor);
  if (lane == nullptr) fail(TF_INVALID_ARGUMENT, "the tensor lies in host memory");
  return *lane;
}

// Who had the memory may have work under way that uses it, on streams that we do not know.
void wait_for_all(const TF_Tensor& tensor) noexcept {
  answered(0, [&] {
    execute(lane_of(tensor)->device(), "synchronize_all_activity", &SP_StreamExecutor::synchronize_all_activity);
    return 0;
  });
}

}  // namespace
}  // namespace drystone::host

using namespace drystone::host;

extern "C" {

const char* DS_TensorDevice(const TF_Tensor* tensor) {
  if (tensor == nullptr) return nullptr;
  Lane* const lane = lane_of(*tensor);
  return lane == nullptr ? nullptr : lane->device().name.c_str();
}

int DS_TensorIsOnlyOnDevice(const TF_Tensor* tensor) {
  if (tensor == nullptr || lane_of(*tensor) == nullptr) return 0;
  const Memory& memory = *tensor->memory;
  return static_cast<int>(!memory.shared && tensor->users.load(std::memory_order_acquire) == 1 &&
                          memory.references.load(std::memory_order_acquire) == 1);
}

TF_Tensor* DS_TensorOnHost(const TF_Tensor* tensor, TF_Status* status) {
  TF_Tensor* out = nullptr;
  guarded(status, __func__, [&] {
    there(tensor);
    out = on_host(*tensor).release();
  });
  return out;
}

TF_Tensor* DS_CopyTensorOnDevice(const TF_Tensor* tensor, TF_Status* status) {
  TF_Tensor* out = nullptr;
  guarded(status, __func__, [&] {
    there(tensor);
    out = copy_there(*tensor).release();
  });
  return out;
}

void DS_DLPackDevice(DS_Device* device, int32_t* type, int32_t* number) {
  const DLPackDevice found = device == nullptr ? DLPackDevice{0, 0} : dlpack_of(*device);
  if (type != nullptr) *type = found.type;
  if (number != nullptr) *number = found.id;
}

void* DS_DeviceTensorToDLPack(const TF_Tensor* tensor, int versioned, uint64_t flags, TF_Status* status) {
  void* out = nullptr;
  guarded(status, __func__, [&] {
    DS_Device& device = there(tensor).device();
    out = to_dlpack(*tensor, versioned != 0, flags, dlpack_of(device), wait_for_all);
  });
  return out;
}

TF_Tensor* DS_DeviceTensorFromDLPack(DS_Device* device, void* managed, int versioned, uint64_t* flags,
                                     TF_Status* status) {
  TF_Tensor* out = nullptr;
  guarded(status, __func__, [&] {
    require(device, "device");
    require(managed, "managed");
    DeviceLoan loan(*device);
    out = from_dlpack(managed, versioned != 0, flags, dlpack_of(*device));
    loan.lend(*out);
  });
  return out;
}

}  // extern "C"
