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
#include "drystone_host/kernels.h"

namespace drystone::host {

// Memory that is given back is used again by later work on the same stream, which comes after what still
// uses it; the device gets it back with the lane. All functions but wait(), note() and those that
// use the stream may be called by any thread.
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
  // Between tensors of the device.
  void copy_on(const TF_Tensor& from, TF_Tensor& to);
  // A copy of a host tensor, made on the stream.
  std::unique_ptr<TF_Tensor> copy_of(const TF_Tensor& host);

  // Lets later work wait for all that another lane of the device has on its stream now: it may still be
  // making `theirs`, which is held until wait().
  void follow(const TF_Tensor& theirs);

  // Work of a node has been put on the stream; the texts live until wait().
  void note(const std::string& node, const std::string& op);

  // Until all that is on the stream now is done. Fails as the stream does. Threads: any.
  void block();
  // The same for the run's thread. Fails as the stream does, with the node whose work it was.
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
  std::vector<std::unique_ptr<TF_Tensor>> kept_;  // for work on the stream
  std::vector<Mark> marks_;
  std::size_t marked_ = 0;
  bool is_busy_ = false;  // something was put on the stream since the last wait
};

// The lane that a tensor's memory is of; NULL for host memory.
Lane* lane_of(const TF_Tensor& tensor) noexcept;
// The lane that a call's work goes to; NULL: the call is the host's.
Lane* lane_of(const DS_KernelCall& call) noexcept;

// The facts of a call whose work goes to a lane.
void put_on(Lane& lane, DS_KernelCall* call);

// A copy in host memory of a tensor on a device: of what its lane's stream, which is waited for, makes of it.
// Threads: any.
std::unique_ptr<TF_Tensor> on_host(const TF_Tensor& there);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_DEVICE_LANE_H_
