// A stream of a device, with the memory that work on it uses: what one run at a time has of a device.
#ifndef DRYSTONE_HOST_DEVICE_LANE_H_
#define DRYSTONE_HOST_DEVICE_LANE_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "device/objects.h"

namespace drystone::host {

// Memory that is given back is used again by later work on the same stream, which comes after what still
// uses it; the device gets it back with the lane. All functions but wait() and note() may be called by any
// thread.
class Lane : public std::enable_shared_from_this<Lane> {
 public:
  explicit Lane(DS_Device& device);
  // Waits for what is on the stream.
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  DS_Device& device() const { return device_; }
  // For work that is about to be put on it.
  SP_Stream stream() {
    is_busy_ = true;
    return stream_.handle;
  }

  // A tensor in the device's memory. Fails with RESOURCE_EXHAUSTED.
  TF_Tensor* allocate(TF_DataType dtype, const std::int64_t* dims, int count);

  // Copies on the stream. Host memory must stay as it is until wait().
  void copy_in(const TF_Tensor& host, TF_Tensor& here);
  void copy_out(const TF_Tensor& here, TF_Tensor& host);

  // Work of a node has been put on the stream; the texts live until wait().
  void note(const std::string& node, const std::string& op);

  // Until all that is on the stream is done. Fails as the stream does, with the node whose work it was.
  void wait();

  // The most bytes that tensors have taken at once since the last call.
  std::int64_t peak();

 private:
  friend struct LaneBlock;
  struct Mark {
    SP_Event event = nullptr;
    const std::string* node = nullptr;
    const std::string* op = nullptr;
  };
  SP_DeviceMemoryBase take(std::size_t bytes);
  bool reused(std::size_t bytes, SP_DeviceMemoryBase* memory);
  bool ask(std::size_t bytes, SP_DeviceMemoryBase* memory);
  void give(const SP_DeviceMemoryBase& memory) noexcept;
  void release_unused() noexcept;
  [[noreturn]] void blame(Failure failure);
  void synchronize(Failure* failure) noexcept;

  DS_Device& device_;
  DS_Stream stream_;
  std::mutex mutex_;
  std::multimap<std::uint64_t, SP_DeviceMemoryBase> unused_;  // by size
  std::int64_t held_ = 0;
  std::int64_t peak_ = 0;
  std::vector<Mark> marks_;
  std::size_t marked_ = 0;
  bool is_busy_ = false;  // something was put on the stream since the last wait
};

// The lane that a tensor's memory is of; NULL for host memory.
Lane* lane_of(const TF_Tensor& tensor) noexcept;

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_DEVICE_LANE_H_
