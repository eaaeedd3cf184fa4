// NVIDIA GPUs, through the CUDA runtime that is linked in.
#include <cuda_runtime_api.h>

#include <stdexcept>
#include <vector>

#include "device.h"

namespace drystone::gpu {
namespace {

constexpr int kLeastCapability = 80;  // what kernels are built for

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
  }
}

class GpuStream final : public Stream {
 public:
  GpuStream() {
    enter();
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "no stream");
    check(cudaEventCreate(&begin_), "no event");
    check(cudaEventCreate(&end_), "no event");
  }

  ~GpuStream() override {
    static_cast<void>(cudaSetDevice(0));
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
  void enter() override { check(cudaSetDevice(0), "the GPU cannot be used"); }

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

 private:
  static constexpr int kRepetitions = 5;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
  std::vector<void*> blocks_, pinned_;
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

std::unique_ptr<Stream> open_gpu_stream() { return std::make_unique<GpuStream>(); }

}  // namespace drystone::gpu
