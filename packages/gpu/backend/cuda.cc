// NVIDIA GPUs, through the CUDA runtime that is linked in.
#include <cuda_runtime_api.h>

#include <stdexcept>
#include <vector>

#include "device.h"
#include "moves.h"

namespace drystone::gpu {
namespace {

constexpr int kLeastCapability = 80;  // what kernels are built for

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
  }
}

class GpuEvent final : public Event {
 public:
  explicit GpuEvent(int number) : number_(number) {
    check(cudaSetDevice(number), "the GPU cannot be used");
    check(cudaEventCreate(&event), "no event");
  }
  ~GpuEvent() override { static_cast<void>(cudaEventDestroy(event)); }

  bool is_done() const override {
    static_cast<void>(cudaSetDevice(number_));
    const cudaError_t said = cudaEventQuery(event);
    static_cast<void>(cudaGetLastError());
    if (said != cudaErrorNotReady) check(said, "the GPU failed");
    return said == cudaSuccess;
  }
  void wait() const override {
    static_cast<void>(cudaSetDevice(number_));
    check(cudaEventSynchronize(event), "the GPU failed");
  }
  double seconds_since(const Event& earlier) const override {
    float taken = 0.0f;
    check(cudaEventElapsedTime(&taken, static_cast<const GpuEvent&>(earlier).event, event), "event");
    return static_cast<double>(taken) * 1e-3;
  }

  cudaEvent_t event = nullptr;

 private:
  int number_;
};

class GpuStream final : public Stream {
 public:
  explicit GpuStream(int number) : number_(number) {
    enter();
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "no stream");
    check(cudaEventCreate(&begin_), "no event");
    check(cudaEventCreate(&end_), "no event");
  }

  ~GpuStream() override {
    static_cast<void>(cudaSetDevice(number_));
    static_cast<void>(cudaStreamSynchronize(stream_));
    if (graph_ != nullptr) static_cast<void>(cudaGraphExecDestroy(graph_));
    for (void* block : blocks_) static_cast<void>(cudaFree(block));
    for (void* block : pinned_) static_cast<void>(cudaFreeHost(block));
    for (cudaEvent_t event : {begin_, end_}) {
      if (event != nullptr) static_cast<void>(cudaEventDestroy(event));
    }
    if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
  }

  bool is_host() const override { return false; }
  void* native() const override { return stream_; }
  void enter() override { check(cudaSetDevice(number_), "the GPU cannot be used"); }

  void* allocate(std::size_t bytes) override {
    void* block = nullptr;
    check(cudaMalloc(&block, bytes == 0 ? 1 : bytes), "no memory of the GPU");
    blocks_.push_back(block);
    return block;
  }
  void* allocate_pinned(std::size_t bytes) override {
    void* block = nullptr;
    check(cudaMallocHost(&block, bytes == 0 ? 1 : bytes), "no pinned memory");
    pinned_.push_back(block);
    return block;
  }

  void copy_in(void* to, const void* from, std::size_t bytes) override {
    if (bytes != 0)
      check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), "copy");
  }
  void copy_out(void* to, const void* from, std::size_t bytes) override {
    if (bytes != 0)
      check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_), "copy");
  }
  void clear(void* at, std::size_t bytes) override {
    if (bytes != 0) check(cudaMemsetAsync(at, 0, bytes, stream_), "clear");
  }
  void wait() override { check(cudaStreamSynchronize(stream_), "the GPU failed"); }

  void record(const std::function<void()>& enqueue) override {
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "no capture");
    cudaGraph_t graph = nullptr;
    try {
      enqueue();
    } catch (...) {
      static_cast<void>(cudaStreamEndCapture(stream_, &graph));
      if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
      static_cast<void>(cudaGetLastError());
      throw;
    }
    check(cudaStreamEndCapture(stream_, &graph), "no graph");
    const cudaError_t error = cudaGraphInstantiate(&graph_, graph, 0);
    static_cast<void>(cudaGraphDestroy(graph));
    check(error, "no executable graph");
  }
  void replay() override { check(cudaGraphLaunch(graph_, stream_), "the graph was not started"); }

  double time(const std::function<void()>& enqueue) override {
    float best = 1e30f;
    for (int round = 0; round < 4; ++round) {  // the first warms up
      check(cudaEventRecord(begin_, stream_), "event");
      for (int k = 0; k < kRepetitions; ++k) enqueue();
      check(cudaEventRecord(end_, stream_), "event");
      check(cudaEventSynchronize(end_), "the GPU failed");
      float taken = 0.0f;
      check(cudaEventElapsedTime(&taken, begin_, end_), "event");
      if (round > 0 && taken < best) best = taken;
    }
    return static_cast<double>(best) * 1e-3 / kRepetitions;
  }

  void copy_within(void* to, const void* from, std::size_t bytes) override {
    if (bytes != 0)
      check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_), "copy");
  }
  void fill(void* at, std::uint8_t byte, std::size_t bytes) override {
    if (bytes != 0) check(cudaMemsetAsync(at, byte, bytes, stream_), "fill");
  }
  void fill32(void* at, std::uint32_t pattern, std::size_t bytes) override {
    run_fill(*this, static_cast<std::int64_t>(bytes / sizeof pattern), sizeof pattern, pattern, at);
  }
  void mark(Event& event) override {
    check(cudaEventRecord(static_cast<GpuEvent&>(event).event, stream_), "event");
  }
  void wait_for(const Event& event) override {
    check(cudaStreamWaitEvent(stream_, static_cast<const GpuEvent&>(event).event, 0), "event");
  }
  void call(void (*function)(void*), void* argument) override {
    check(cudaLaunchHostFunc(stream_, function, argument), "no call of the host");
  }

 private:
  static constexpr int kRepetitions = 5;
  int number_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
  std::vector<void*> blocks_, pinned_;
};

class Gpu final : public Card {
 public:
  explicit Gpu(int number) : number_(number) {
    check(cudaGetDeviceProperties(&facts_, number), "the GPU cannot be used");
    check(cudaDeviceGetPCIBusId(bus_, sizeof bus_, number), "the GPU cannot be used");
    int kilohertz = 0;
    if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, number) == cudaSuccess) {
      rate_ = 2e3 * kilohertz * (facts_.memoryBusWidth / 8);
    }
  }

  const char* name() const override { return facts_.name; }
  const char* bus() const override { return bus_; }
  double bytes_per_second() const override { return rate_; }

  void* allocate(std::size_t bytes) override {
    enter();
    void* block = nullptr;
    if (cudaMalloc(&block, bytes == 0 ? 1 : bytes) != cudaSuccess) return none();
    return block;
  }
  void free(void* block) override {
    enter();
    static_cast<void>(cudaFree(block));
  }
  void* allocate_pinned(std::size_t bytes) override {
    enter();
    void* block = nullptr;
    if (cudaMallocHost(&block, bytes == 0 ? 1 : bytes) != cudaSuccess) return none();
    return block;
  }
  void free_pinned(void* block) override {
    enter();
    static_cast<void>(cudaFreeHost(block));
  }
  bool usage(std::int64_t* unused, std::int64_t* total) override {
    enter();
    std::size_t left = 0, all = 0;
    if (cudaMemGetInfo(&left, &all) != cudaSuccess) return false;
    *unused = static_cast<std::int64_t>(left);
    *total = static_cast<std::int64_t>(all);
    return true;
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    enter();
    if (bytes == 0) return;
    // On a stream of its own: the default one would wait for nothing either, but for its own copies.
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "no stream");
    const cudaError_t put = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
    const cudaError_t done = cudaStreamSynchronize(stream);
    static_cast<void>(cudaStreamDestroy(stream));
    check(put, "copy");
    check(done, "copy");
  }
  void wait() override {
    enter();
    check(cudaDeviceSynchronize(), "the GPU failed");
  }
  std::unique_ptr<Stream> open_stream() override { return std::make_unique<GpuStream>(number_); }
  std::unique_ptr<Event> make_event() override { return std::make_unique<GpuEvent>(number_); }

 private:
  void enter() const { check(cudaSetDevice(number_), "the GPU cannot be used"); }
  static void* none() {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }

  int number_;
  cudaDeviceProp facts_ = {};
  char bus_[32] = {};
  double rate_ = -1.0;
};

}  // namespace

namespace {

// What is wrong with the driver, where the runtime says that it is too old or not there.
std::string driver_text() {
  int version = 0;
  if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0) return "no NVIDIA driver";
  const std::string own = std::to_string(CUDART_VERSION / 1000);
  return "the NVIDIA driver is for CUDA " + std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10) + ", and CUDA " + own + " is needed";
}

}  // namespace

Found look_for_gpus() {
  Found result;
  int count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  cudaDeviceProp facts = {};
  if (error == cudaSuccess && count > 0) error = cudaGetDeviceProperties(&facts, 0);
  static_cast<void>(cudaGetLastError());
  if (error == cudaErrorInsufficientDriver) {
    result.reason = driver_text();
    return result;
  }
  if (error != cudaSuccess) {
    result.reason = cudaGetErrorString(error);
    return result;
  }
  if (count == 0) {
    result.reason = "no CUDA-capable device";
    return result;
  }
  result.name = facts.name;
  if (facts.major * 10 + facts.minor < kLeastCapability) {
    result.reason = result.name + " is older than compute capability 8.0";
    return result;
  }
  result.devices = count;
  return result;
}

std::unique_ptr<Stream> open_gpu_stream() { return std::make_unique<GpuStream>(0); }
std::unique_ptr<Card> open_gpu(int number) { return std::make_unique<Gpu>(number); }

}  // namespace drystone::gpu
