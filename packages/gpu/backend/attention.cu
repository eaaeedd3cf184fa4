#include "attention.h"

#include <cmath>
#include <vector>

namespace drystone::gpu {
namespace {

#define DS_INFINITY (float_of_bits(0x7F800000u))

DS_BOTH std::uint32_t start(const Rows& rows, std::uint32_t outer, std::uint32_t head) {
  return rows.first + outer * rows.outer + head * rows.head;
}

// The processor's way: row by row.
class Plain {
 public:
  Plain(const Attention& attention, const void* q, const void* k, const void* v, const void* mask,
        void* to)
      : a_(attention), q_(q), k_(k), v_(v), mask_(mask), to_(to), weights_(attention.keys) {}

  void all() {
    for (std::uint32_t o = 0; o < a_.outer; ++o) {
      for (std::uint32_t h = 0; h < a_.heads; ++h) {
        for (std::uint32_t row = 0; row < a_.queries; ++row) one(o, h, row);
      }
    }
  }

 private:
  float value(const void* data, std::uint32_t at) const { return load<float>(data, a_.type, at); }

  float score(std::uint32_t q_at, std::uint32_t k_at, std::uint32_t mask_at) const {
    float sum = 0.0f;
    for (std::uint32_t d = 0; d < a_.depth; ++d) sum += value(q_, q_at + d) * value(k_, k_at + d);
    sum *= a_.factor;
    return mask_ == nullptr ? sum : sum + load<float>(mask_, a_.mask_type, mask_at);
  }

  void one(std::uint32_t o, std::uint32_t h, std::uint32_t row) {
    const std::uint32_t q_at = start(a_.q, o, h) + row * a_.q.row, k_at = start(a_.k, o, h),
                        v_at = start(a_.v, o, h), to_at = start(a_.to, o, h) + row * a_.to.row;
    const std::uint32_t mask_at = ((o * a_.heads + h) * a_.queries + row) / a_.repeats * a_.keys;
    float most = -DS_INFINITY, sum = 0.0f;
    for (std::uint32_t j = 0; j < a_.keys; ++j) {
      weights_[j] = score(q_at, k_at + j * a_.k.row, mask_at + j);
      if (weights_[j] > most || weights_[j] != weights_[j]) most = weights_[j];
    }
    for (float& weight : weights_) sum += weight = expf(weight - most);
    for (std::uint32_t d = 0; d < a_.depth; ++d) {
      float found = 0.0f;
      for (std::uint32_t j = 0; j < a_.keys; ++j) {
        found += weights_[j] * value(v_, v_at + j * a_.v.row + d);
      }
      store(to_, a_.type, to_at + d, found / sum);
    }
  }

  const Attention& a_;
  const void *q_, *k_, *v_, *mask_;
  void* to_;
  std::vector<float> weights_;
};

#if defined(__CUDACC__)

constexpr int kWarps = 4, kThreads = 32 * kWarps, kQueries = 16 * kWarps;  // of a block
constexpr float kLog2E = 1.4426950408889634f;

// c += a * b of 16 x 16 and 16 x 8 elements, by a warp.
template <Type kType>
__device__ __forceinline__ void multiply(float* c, const std::uint32_t* a, std::uint32_t b0,
                                         std::uint32_t b1) {
  if constexpr (kType == Type::bf16) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
}

__device__ __forceinline__ std::uint32_t shared_at(const void* at) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
}

// Four 8 x 8 matrices; each lane names a row of one of them.
__device__ __forceinline__ void load_matrices(std::uint32_t* to, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_at(row)));
}
__device__ __forceinline__ void load_transposed(std::uint32_t* to, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_at(row)));
}

// 16 bytes on their way into shared memory: zeros where there is nothing.
__device__ __forceinline__ void fetch(void* to, const void* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :: "r"(shared_at(to)), "l"(from), "r"(there ? 16 : 0));
}

__device__ __forceinline__ float power_of_two(float x) {
  float found;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(found) : "f"(x));
  return found;
}

template <Type kType>
__device__ __forceinline__ std::uint32_t packed(float low, float high) {
  if constexpr (kType == Type::bf16) {
    return to_bf16(low) | static_cast<std::uint32_t>(to_bf16(high)) << 16;
  } else {
    return to_f16(low) | static_cast<std::uint32_t>(to_f16(high)) << 16;
  }
}

// The largest, and the sum, of what the four lanes of a row have.
__device__ __forceinline__ float largest_of_row(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, 2));
}
__device__ __forceinline__ float sum_of_row(float x) {
  x += __shfl_xor_sync(0xFFFFFFFFu, x, 1);
  return x + __shfl_xor_sync(0xFFFFFFFFu, x, 2);
}

// 64 queries of one head by a block, 16 by each of its warps; keys come in tiles, of which one is
// on its way while another is used. In a fragment a lane has columns 2 * pair and 2 * pair + 1 of
// rows `group` and `group` + 8.
template <Type kType, int kDepth>
struct Tiles {
  static constexpr int kKeys = kDepth > 64 ? 32 : 64, kRow = kDepth + 8;
  static constexpr int kParts = kKeys / 8, kOut = kDepth / 8;
  struct Shared {
    std::uint16_t keys[2][kKeys * kRow], values[2][kKeys * kRow];
    float added[2][kKeys];  // to scores, times log2(e): -infinity where there is no key
  };

  const Attention& a;
  Shared& shared;
  const int lane, group, pair;
  std::uint32_t held[kDepth / 16][4];
  float out[kOut][4] = {}, most[2], sum[2] = {};

  __device__ Tiles(const Attention& attention, Shared& memory)
      : a(attention), shared(memory), lane(threadIdx.x % 32), group(lane / 4), pair(lane % 4) {
    most[0] = most[1] = -DS_INFINITY;
  }

  __device__ void bring_queries(const std::uint16_t* q, std::uint32_t first) {
#pragma unroll
    for (int c = 0; c < kDepth / 16; ++c) {
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        const std::uint32_t row = first + group + part % 2 * 8;
        const std::uint32_t at = row * a.q.row + c * 16 + part / 2 * 8 + pair * 2;
        held[c][part] = row < a.queries ? *reinterpret_cast<const std::uint32_t*>(q + at) : 0u;
      }
    }
  }

  __device__ void bring_mask(const void* mask, std::uint32_t mask_at, std::uint32_t tile) {
    if (threadIdx.x >= kKeys || tile * kKeys >= a.keys) return;
    const std::uint32_t key = tile * kKeys + threadIdx.x;
    float added = key < a.keys ? 0.0f : -DS_INFINITY;
    if (key < a.keys && mask != nullptr) added = load<float>(mask, a.mask_type, mask_at + key);
    shared.added[tile % 2][threadIdx.x] = added * kLog2E;
  }

  __device__ void bring(const std::uint16_t* k, const std::uint16_t* v, std::uint32_t tile) {
    constexpr int kPieces = kDepth / 8;
    if (tile * kKeys < a.keys) {
      for (int i = threadIdx.x; i < kKeys * kPieces; i += kThreads) {
        const int row = i / kPieces, at = i % kPieces * 8;
        const std::uint32_t key = tile * kKeys + row, from = key < a.keys ? key : 0;
        fetch(&shared.keys[tile % 2][row * kRow + at], k + from * a.k.row + at, key < a.keys);
        fetch(&shared.values[tile % 2][row * kRow + at], v + from * a.v.row + at, key < a.keys);
      }
    }
    asm volatile("cp.async.commit_group;");
  }

  __device__ void score(std::uint32_t tile, float (*scores)[4]) const {
    const std::uint16_t* keys = shared.keys[tile % 2];
#pragma unroll
    for (int c = 0; c < kDepth / 32; ++c) {
#pragma unroll
      for (int n = 0; n < kParts; ++n) {
        std::uint32_t b[4];
        load_matrices(b, &keys[(n * 8 + lane % 8) * kRow + c * 32 + lane / 8 * 8]);
        multiply<kType>(scores[n], held[2 * c], b[0], b[1]);
        multiply<kType>(scores[n], held[2 * c + 1], b[2], b[3]);
      }
    }
  }

  // Scores times factor and with the mask, for powers of two.
  __device__ void hide(std::uint32_t tile, float (*scores)[4]) const {
    const float factor = a.factor * kLog2E;
#pragma unroll
    for (int n = 0; n < kParts; ++n) {
      const float2 added =
          *reinterpret_cast<const float2*>(&shared.added[tile % 2][n * 8 + pair * 2]);
      scores[n][0] = scores[n][0] * factor + added.x, scores[n][1] = scores[n][1] * factor + added.y;
      scores[n][2] = scores[n][2] * factor + added.x, scores[n][3] = scores[n][3] * factor + added.y;
    }
  }

  // Scores become powers; what was summed before is brought to the same largest score.
  __device__ void normalize(float (*scores)[4]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float now = most[half];
#pragma unroll
      for (int n = 0; n < kParts; ++n) {
        now = fmaxf(now, fmaxf(scores[n][half * 2], scores[n][half * 2 + 1]));
      }
      now = largest_of_row(now);
      const float base = now == -DS_INFINITY ? 0.0f : now;
      const float scale = power_of_two(most[half] - base);
      most[half] = now;
      sum[half] *= scale;
#pragma unroll
      for (int n = 0; n < kOut; ++n) out[n][half * 2] *= scale, out[n][half * 2 + 1] *= scale;
#pragma unroll
      for (int n = 0; n < kParts; ++n) {
#pragma unroll
        for (int j = half * 2; j < half * 2 + 2; ++j) {
          scores[n][j] = power_of_two(scores[n][j] - base);
          sum[half] += scores[n][j];
        }
      }
    }
  }

  __device__ void add(std::uint32_t tile, const float (*scores)[4]) {
    const std::uint16_t* values = shared.values[tile % 2];
#pragma unroll
    for (int c = 0; c < kKeys / 16; ++c) {
      const float *low = scores[2 * c], *high = scores[2 * c + 1];
      const std::uint32_t p[4] = {packed<kType>(low[0], low[1]), packed<kType>(low[2], low[3]),
                                  packed<kType>(high[0], high[1]), packed<kType>(high[2], high[3])};
#pragma unroll
      for (int n = 0; n < kDepth / 16; ++n) {
        std::uint32_t b[4];
        const int row = c * 16 + lane / 8 % 2 * 8 + lane % 8;
        load_transposed(b, &values[row * kRow + n * 16 + lane / 16 * 8]);
        multiply<kType>(out[2 * n], p, b[0], b[1]);
        multiply<kType>(out[2 * n + 1], p, b[2], b[3]);
      }
    }
  }

  __device__ void write(std::uint16_t* to, std::uint32_t first) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t row = first + group + half * 8;
      const float factor = 1.0f / sum_of_row(sum[half]);
      if (row >= a.queries) continue;
#pragma unroll
      for (int n = 0; n < kOut; ++n) {
        const std::uint32_t at = row * a.to.row + n * 8 + pair * 2;
        *reinterpret_cast<std::uint32_t*>(to + at) =
            packed<kType>(out[n][half * 2] * factor, out[n][half * 2 + 1] * factor);
      }
    }
  }
};

template <Type kType, int kDepth>
__global__ void __launch_bounds__(kThreads)
    attention_kernel(Attention a, const std::uint16_t* q, const std::uint16_t* k,
                     const std::uint16_t* v, const void* mask, std::uint16_t* to) {
  using All = Tiles<kType, kDepth>;
  __shared__ __align__(16) typename All::Shared shared;
  const std::uint32_t blocks = (a.queries + kQueries - 1) / kQueries;
  const std::uint32_t matrix = blockIdx.x / blocks, outer = matrix / a.heads,
                      head = matrix % a.heads;
  const std::uint32_t first = blockIdx.x % blocks * kQueries + threadIdx.x / 32 * 16;
  q += start(a.q, outer, head), k += start(a.k, outer, head), v += start(a.v, outer, head);
  to += start(a.to, outer, head);
  const std::uint32_t mask_at = matrix * a.queries / a.repeats * a.keys;
  All tiles(a, shared);
  tiles.bring(k, v, 0);
  tiles.bring_mask(mask, mask_at, 0);
  tiles.bring_queries(q, first);
  const std::uint32_t count = (a.keys + All::kKeys - 1) / All::kKeys;
  for (std::uint32_t tile = 0; tile < count; ++tile) {
    tiles.bring(k, v, tile + 1);
    tiles.bring_mask(mask, mask_at, tile + 1);
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    float scores[All::kParts][4] = {};
    tiles.score(tile, scores);
    tiles.hide(tile, scores);
    tiles.normalize(scores);
    tiles.add(tile, scores);
    __syncthreads();
  }
  tiles.write(to, first);
}

template <Type kType, int kDepth>
void attend(const Stream& stream, const Attention& a, const void* q, const void* k, const void* v,
            const void* mask, void* to) {
  const std::uint32_t blocks = a.outer * a.heads * ((a.queries + kQueries - 1) / kQueries);
  const auto half = [](const void* data) { return static_cast<const std::uint16_t*>(data); };
  attention_kernel<kType, kDepth>
      <<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream.native())>>>(
          a, half(q), half(k), half(v), mask, static_cast<std::uint16_t*>(to));
  check_launch();
}

template <int kDepth>
void attend(const Stream& stream, const Attention& a, const void* q, const void* k, const void* v,
            const void* mask, void* to) {
  if (a.type == Type::bf16) return attend<Type::bf16, kDepth>(stream, a, q, k, v, mask, to);
  attend<Type::f16, kDepth>(stream, a, q, k, v, mask, to);
}
#endif

bool is_even(const Rows& rows, std::uint32_t unit) {
  return (rows.first | rows.outer | rows.head | rows.row) % unit == 0;
}

}  // namespace

bool can_attend(const Attention& a) {
  const bool half = a.type == Type::f16 || a.type == Type::bf16;
  const bool depth = a.depth == 32 || a.depth == 64 || a.depth == 128;
  return half && depth && a.queries > 0 && a.keys > 0 && a.repeats % a.queries == 0 &&
         is_even(a.q, 2) && is_even(a.k, 8) && is_even(a.v, 8) && is_even(a.to, 2);
}

void run_attention(const Stream& stream, const Attention& a, const void* q, const void* k,
                   const void* v, const void* mask, void* to) {
  if (a.outer == 0 || a.heads == 0) return;
  if (stream.is_host()) return Plain(a, q, k, v, mask, to).all();
#if defined(__CUDACC__)
  switch (a.depth) {
    case 32: return attend<32>(stream, a, q, k, v, mask, to);
    case 64: return attend<64>(stream, a, q, k, v, mask, to);
    default: return attend<128>(stream, a, q, k, v, mask, to);
  }
#endif
}

}  // namespace drystone::gpu
