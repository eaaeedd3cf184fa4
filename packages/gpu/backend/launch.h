// Running a kernel on a stream: on the GPU as threads, on the processor as loops.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "device.h"
#include "number.h"

namespace drystone::gpu {

// The threads that work on one row together; on the processor it is one.
struct Team {
  std::uint32_t index = 0, size = 1;

#if defined(__CUDACC__)
  static __device__ __forceinline__ float* scratch() {
    __shared__ float values[33];
    return values;
  }
#endif

  template <class Join>
  DS_BOTH float all(float value, float none, Join join) const {
#if defined(__CUDA_ARCH__)
    for (int lane = 16; lane > 0; lane >>= 1) {
      value = join(value, __shfl_xor_sync(0xFFFFFFFFu, value, lane));
    }
    if (size <= 32) return value;
    float* values = scratch();
    __syncthreads();
    if ((index & 31u) == 0) values[index >> 5] = value;
    __syncthreads();
    value = (index & 31u) < size / 32 ? values[index & 31u] : none;
    for (int lane = 16; lane > 0; lane >>= 1) {
      value = join(value, __shfl_xor_sync(0xFFFFFFFFu, value, lane));
    }
    return value;
#else
    static_cast<void>(none);
    static_cast<void>(join);
    return value;
#endif
  }
};

#if defined(__CUDACC__)
template <class Body>
__global__ void each_kernel(Body body, std::uint32_t count) {
  const std::uint32_t step = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) body(i);
}

template <class Body>
__global__ void rows_kernel(Body body) {
  body(blockIdx.x, Team{threadIdx.x, blockDim.x});
}

template <class Body>
__global__ void warp_rows_kernel(Body body, std::uint32_t count) {
  const std::uint32_t row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row < count) body(row, Team{threadIdx.x % 32, 32});
}

inline void check_launch() {
  if (cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
    throw std::runtime_error(std::string("a kernel was not started: ") + cudaGetErrorString(error));
  }
}
#endif

// body(i) for each i below count, in any order.
template <class Body>
void each(const Stream& stream, std::int64_t count, const Body& body) {
  if (count == 0) return;
  const auto total = static_cast<std::uint32_t>(count);
  if (stream.is_host()) {
    for (std::uint32_t i = 0; i < total; ++i) body(i);
    return;
  }
#if defined(__CUDACC__)
  constexpr std::uint32_t kThreads = 256, kMostBlocks = 1u << 16;
  const std::uint32_t blocks = (total + kThreads - 1) / kThreads;
  auto* native = static_cast<cudaStream_t>(stream.native());
  const std::uint32_t started = blocks < kMostBlocks ? blocks : kMostBlocks;
  each_kernel<<<started, kThreads, 0, native>>>(body, total);
  check_launch();
#endif
}

// body(row, team) for each row: by a warp for short rows, by up to 1024 threads for long ones.
template <class Body>
void rows(const Stream& stream, std::int64_t count, std::int64_t length, const Body& body) {
  if (count == 0) return;
  if (stream.is_host()) {
    for (std::uint32_t row = 0; row < count; ++row) body(row, Team{});
    return;
  }
#if defined(__CUDACC__)
  std::uint32_t threads = 32;
  while (threads < 1024 && threads * 4 < length) threads *= 2;
  auto* native = static_cast<cudaStream_t>(stream.native());
  rows_kernel<<<static_cast<std::uint32_t>(count), threads, 0, native>>>(body);
  check_launch();
#else
  static_cast<void>(length);
#endif
}

// body(row, team) for each row by a warp, which holds all of it.
template <class Body>
void warp_rows(const Stream& stream, std::int64_t count, const Body& body) {
  if (count == 0) return;
  const auto total = static_cast<std::uint32_t>(count);
  if (stream.is_host()) {
    for (std::uint32_t row = 0; row < total; ++row) body(row, Team{});
    return;
  }
#if defined(__CUDACC__)
  const std::uint32_t warps = total < 4096 ? 1 : 4;
  auto* native = static_cast<cudaStream_t>(stream.native());
  warp_rows_kernel<<<(total + warps - 1) / warps, warps * 32, 0, native>>>(body, total);
  check_launch();
#endif
}

}  // namespace drystone::gpu
