// Streams of a device, with the memory that work on them uses: what one run at a time has of a device.
#ifndef DRYSTONE_HOST_DEVICE_LANE_H_
#define DRYSTONE_HOST_DEVICE_LANE_H_

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor.h"
#include "device/lane_memory.h"
#include "device/objects.h"
#include "drystone_host/kernels.h"

namespace drystone::host {

// Whose work is put on a stream; the texts live until Lane::wait().
struct Work {
  const std::string* node = nullptr;
  const std::string* op = nullptr;
};

// Kernels have one stream, copies from and to host memory have one each, so that they go on beside kernels. What
// is put on the kernels' stream comes after all copies to the device before it; a copy to the host comes after
// all kernels before it. Memory that is given back is used again by later work, which comes after what still
// uses it; the device gets it back with the lane. All functions but allocate() and block() belong to the run's thread.
// As other runs wait for work of this one, which names its stream, a lock keeps calls with these streams apart.
class Lane : public std::enable_shared_from_this<Lane> {
 public:
  explicit Lane(DS_Device& device);
  // Waits for what is on the streams.
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  DS_Device& device() const { return device_; }
  // For kernels that are about to be put on it.
  SP_Stream stream();

  // A tensor in the device's memory. Fails with RESOURCE_EXHAUSTED. Threads: any.
  TF_Tensor* allocate(TF_DataType dtype, const std::int64_t* dims, int count);

  // Copies on a stream. Host memory must stay as it is until wait().
  void copy_in(const TF_Tensor& host, TF_Tensor& here, const Work& of);
  void copy_out(const TF_Tensor& here, TF_Tensor& host, const Work& of);
  // Between tensors of the device.
  void copy_on(const TF_Tensor& from, TF_Tensor& to);
  // A copy of a host tensor, made on a stream.
  std::unique_ptr<TF_Tensor> copy_of(const TF_Tensor& host);

  // Lets later work wait for all that another lane of the device has for its kernels' stream now: it may still be
  // making `theirs`, which is held until that work is done.
  void follow(const TF_Tensor& theirs);

  // Around the kernel of a node, which puts its work on the stream.
  void begin();
  void end(const Work& of);
  // Holds a tensor, which the caller does not own, until the work that is on the streams now is done.
  void keep(TF_Tensor* tensor);

  // Until all that is on the kernels' stream now is done. Fails as the stream does. Threads: any.
  void block();
  // Until all work is done. Fails as the streams do, with the node whose work it was. Where the device cannot be
  // waited for, the lane and what it keeps live on: the device may be using it still.
  void wait();

  // Whether the device's timers measure work from now on; what they have measured since the last call.
  void measure(bool does);
  using Times = std::vector<std::pair<const std::string*, std::uint64_t>>;  // nodes and nanoseconds
  Times times() { return std::exchange(times_, {}); }
  // The most bytes that tensors have taken at once since the last call.
  std::int64_t peak() { return memory_.peak(); }

 private:
  friend struct LaneBlock;
  enum class Way : std::uint8_t { in, kernels, out, count };
  struct Mark {
    SP_Event event = nullptr;
    SP_Timer timer = nullptr;
    Work of;
  };
  // Tensors that work uses; a call on the stream says when it is done.
  struct Batch {
    std::vector<TF_Tensor*> tensors;
    std::atomic<bool> is_done{false};
    ~Batch();
  };
  static constexpr std::size_t kWays = static_cast<std::size_t>(Way::count);
  using Lock = std::lock_guard<std::recursive_mutex>;

  DS_Stream& stream_of(Way way) { return streams_[static_cast<std::size_t>(way)]; }
  SP_Stream on(Way way);
  void after(Way later, Way earlier);
  SP_Event mark(Way way, const Work& of);
  void start_timer(Way way);
  void join();
  void close_batch();
  Piece take(std::size_t bytes);
  void retire(Mark& mark);
  bool retire_done();
  void forget_work() noexcept;
  [[noreturn]] void blame(Failure failure);
  bool synchronize(Failure* failure) noexcept;
  void leave();

  DS_Device& device_;
  std::recursive_mutex calls_;  // held in calls of the plugin with a stream, of which one is allowed at a time
  std::array<DS_Stream, kWays> streams_;
  std::array<bool, kWays> is_busy_{};  // something was put on the stream since the last wait
  bool is_apart_ = false;  // a copy may be under way that the kernels' stream does not come after
  LaneMemory memory_;
  std::deque<Mark> marks_;  // of work that may be under way, in its order
  std::vector<SP_Event> idle_events_;
  std::vector<SP_Timer> idle_timers_;
  SP_Timer started_ = nullptr;
  bool measures_ = false;
  Times times_;
  std::deque<std::unique_ptr<Batch>> batches_;  // the last one is being filled
  std::mutex reading_;  // of who waits on the host for work of the lane: on a stream that comes after it
  DS_Stream reader_;
};

// The lane that a tensor's memory is of; NULL for host memory.
Lane* lane_of(const TF_Tensor& tensor) noexcept;
// The lane that a call's work goes to; NULL: the call is the host's.
Lane* lane_of(const DS_KernelCall& call) noexcept;

// The facts of a call whose work goes to a lane.
void put_on(Lane& lane, DS_KernelCall* call);

// Has memory that somebody else has lent, such as by DLPack, lie on a device; its own deallocator is called once nothing
// uses it. Made first, as it may fail: it waits for what is on the device's streams.
class DeviceLoan {
 public:
  explicit DeviceLoan(DS_Device& device);
  ~DeviceLoan();
  DeviceLoan(const DeviceLoan&) = delete;
  DeviceLoan& operator=(const DeviceLoan&) = delete;
  void lend(TF_Tensor& tensor) noexcept;

 private:
  std::unique_ptr<struct LaneBlock> block_;
};

// A copy on the same device, once it is made. Threads: any.
std::unique_ptr<TF_Tensor> copy_there(const TF_Tensor& there);

// A copy in host memory of a tensor on a device: of what its lane's stream, which is waited for, makes of it.
// Threads: any.
std::unique_ptr<TF_Tensor> on_host(const TF_Tensor& there);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_DEVICE_LANE_H_
