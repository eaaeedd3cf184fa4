#include "tiles.h"

#include "after.h"

namespace drystone::gpu {
namespace {

constexpr int kTile = 64, kStep = 16, kThreads = 128, kStages = 3;
constexpr int kRow = kStep + 4;  // of places in shared memory, so that rows are in other banks

std::uint32_t rows_of(const Window& w) {
  return static_cast<std::uint32_t>(w.batch) * w.out_height * w.out_width;
}

std::uint32_t steps_of(const Window& w) {
  return static_cast<std::uint32_t>(w.filter_h) * w.filter_w * w.channels / kStep;
}

#if defined(__CUDACC__)

// 16 bytes on their way into shared memory: zeros where there is nothing.
__device__ __forceinline__ void fetch(float* to, const float* from, bool there) {
  const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :: "r"(at), "l"(from), "r"(there ? 16 : 0));
}

struct Shared {
  float places[kStages][kTile * kRow], filter[kStages][kStep * kTile];
};

// 64 places by 64 channels of the result by a block. A thread has eight places, eight apart, of
// four channels, and brings four pieces of each step.
struct Block {
  const Window& w;
  Shared& shared;
  const float *from, *filter;
  const int across = static_cast<int>(threadIdx.x) % 16, down = static_cast<int>(threadIdx.x) / 16;
  std::uint32_t first_row, first_column;
  int top[2], left[2];  // of the windows of the places that this thread brings
  std::uint32_t picture[2];
  bool there[2];
  float sums[8][4] = {};

  __device__ Block(const Window& window, Shared& memory, const float* source, const float* taps,
                   std::uint32_t row, std::uint32_t column)
      : w(window), shared(memory), from(source), filter(taps), first_row(row), first_column(column) {
    const auto width = static_cast<std::uint32_t>(w.out_width),
               height = static_cast<std::uint32_t>(w.out_height);
    for (int k = 0; k < 2; ++k) {
      const std::uint32_t place = row + threadIdx.x / 4 + k * 32;
      const std::uint32_t line = place / width;
      there[k] = line < static_cast<std::uint32_t>(w.batch) * height;
      left[k] = static_cast<int>(place % width) * w.stride_w - w.left;
      top[k] = static_cast<int>(line % height) * w.stride_h - w.top;
      picture[k] = line / height * static_cast<std::uint32_t>(w.height);
    }
  }

  __device__ void bring(std::uint32_t step, int stage) const {
    const auto channels = static_cast<std::uint32_t>(w.channels),
               columns = static_cast<std::uint32_t>(w.out_channels);
    const std::uint32_t inner = step * kStep, tap = inner / channels, channel = inner % channels;
    const int fy = static_cast<int>(tap) / w.filter_w, fx = static_cast<int>(tap) % w.filter_w;
    const int piece = static_cast<int>(threadIdx.x) % 4 * 4;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const int y = top[k] + fy * w.dilation_h, x = left[k] + fx * w.dilation_w;
      const bool inside = there[k] && y >= 0 && y < w.height && x >= 0 && x < w.width;
      const std::uint32_t at =
          inside ? ((picture[k] + y) * w.width + x) * channels + channel + piece : 0;
      const int row = static_cast<int>(threadIdx.x) / 4 + k * 32;
      fetch(&shared.places[stage][row * kRow + piece], from + at, inside);
    }
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const std::uint32_t row = threadIdx.x / 16 + k * 8, column = first_column + across * 4;
      const bool inside = column < columns;
      fetch(&shared.filter[stage][row * kTile + across * 4],
            filter + (inside ? (inner + row) * columns + column : 0), inside);
    }
  }

  __device__ void use(int stage) {
    const float *places = shared.places[stage], *taps = shared.filter[stage];
#pragma unroll
    for (int k = 0; k < kStep; k += 4) {
      float4 a[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        a[i] = *reinterpret_cast<const float4*>(&places[(i * 8 + down) * kRow + k]);
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float4 b = *reinterpret_cast<const float4*>(&taps[(k + j) * kTile + across * 4]);
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const float value = j == 0 ? a[i].x : j == 1 ? a[i].y : j == 2 ? a[i].z : a[i].w;
          sums[i][0] += value * b.x, sums[i][1] += value * b.y;
          sums[i][2] += value * b.z, sums[i][3] += value * b.w;
        }
      }
    }
  }

  __device__ void add_steps(std::uint32_t begin, std::uint32_t end) {
#pragma unroll
    for (int k = 0; k < kStages - 1; ++k) {
      if (begin + k < end) bring(begin + k, k);
      asm volatile("cp.async.commit_group;");
    }
    int stage = 0;
    for (std::uint32_t step = begin; step < end; ++step) {
      asm volatile("cp.async.wait_group %0;" :: "n"(kStages - 2) : "memory");
      __syncthreads();
      const int next = stage == 0 ? kStages - 1 : stage - 1;
      if (step + kStages - 1 < end) bring(step + kStages - 1, next);
      asm volatile("cp.async.commit_group;");
      use(stage);
      stage = stage == kStages - 1 ? 0 : stage + 1;
    }
  }

  // use(sums, index of four elements in a row) for what is of the result.
  template <class Use>
  __device__ void each_row(Use use) {
    const std::uint32_t column = first_column + across * 4;
    const std::uint32_t rows = static_cast<std::uint32_t>(w.batch) * w.out_height * w.out_width;
    if (column >= static_cast<std::uint32_t>(w.out_channels)) return;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const std::uint32_t row = first_row + i * 8 + down;
      if (row < rows) use(sums[i], row * w.out_channels + column, column);
    }
  }
};

__global__ void __launch_bounds__(kThreads)
    tiles_kernel(Window w, Tiling tiling, const float* from, const float* filter, After after,
                 float* to) {
  __shared__ __align__(16) Shared shared;
  __shared__ std::uint32_t arrived;
  const std::uint32_t across = (w.out_channels + kTile - 1) / kTile;
  const std::uint32_t tile = blockIdx.x, split = blockIdx.y;
  const std::uint32_t steps = static_cast<std::uint32_t>(w.filter_h) * w.filter_w * w.channels / kStep;
  Block block(w, shared, from, filter, tile / across * kTile, tile % across * kTile);
  block.add_steps(steps * split / tiling.splits, steps * (split + 1) / tiling.splits);
  const std::uint32_t size =
      static_cast<std::uint32_t>(w.batch) * w.out_height * w.out_width * w.out_channels;
  if (tiling.splits > 1) {
    block.each_row([&](const float* sums, std::uint32_t at, std::uint32_t) {
      const float4 all = make_float4(sums[0], sums[1], sums[2], sums[3]);
      __stcg(reinterpret_cast<float4*>(tiling.partial + split * size + at), all);
    });
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) arrived = atomicAdd(&tiling.arrived[tile], 1);
    __syncthreads();
    if (arrived != tiling.splits - 1) return;
    __threadfence();
    if (threadIdx.x == 0) tiling.arrived[tile] = 0;
    block.each_row([&](float* sums, std::uint32_t at, std::uint32_t) {
      float4 all = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 4
      for (std::uint32_t k = 0; k < tiling.splits; ++k) {
        const float4 part =
            __ldcg(reinterpret_cast<const float4*>(tiling.partial + k * size + at));
        all.x += part.x, all.y += part.y, all.z += part.z, all.w += part.w;
      }
      sums[0] = all.x, sums[1] = all.y, sums[2] = all.z, sums[3] = all.w;
    });
  }
  block.each_row([&](float* sums, std::uint32_t at, std::uint32_t column) {
    finish_row<4>(after, Type::f32, at, column, sums);
    *reinterpret_cast<float4*>(to + at) = make_float4(sums[0], sums[1], sums[2], sums[3]);
  });
}
#endif

}  // namespace

bool can_tile(const Window& w) {
  return w.channels % kStep == 0 && w.out_channels % 4 == 0 && rows_of(w) > 0 && steps_of(w) > 0;
}

std::uint32_t tile_count(const Window& w) {
  return (rows_of(w) + kTile - 1) / kTile * ((w.out_channels + kTile - 1) / kTile);
}

std::uint32_t most_splits(const Window& w) { return (steps_of(w) + 3) / 4; }

void run_tiles(const Stream& stream, const Window& w, const Tiling& tiling, const void* from,
               const void* filter, const After& after, void* to) {
#if defined(__CUDACC__)
  const dim3 blocks(tile_count(w), tiling.splits);
  tiles_kernel<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream.native())>>>(
      w, tiling, static_cast<const float*>(from), static_cast<const float*>(filter), after,
      static_cast<float*>(to));
  check_launch();
#else
  static_cast<void>(tiling);
  run_convolution(stream, w, 1, Type::f32, from, filter, after, to);
#endif
}

}  // namespace drystone::gpu
