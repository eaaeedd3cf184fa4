// Kernels that join the elements of rows: reductions, softmax, normalization, the largest's place.
#pragma once

#include <cstdint>

#include "launch.h"

namespace drystone::gpu {

enum class Join : std::uint8_t { sum, mean, max, min, prod, all, any };

constexpr int kReduceRank = 6;

// Of the axes that stay (outer) and those that are joined (inner): sizes and strides of the input.
struct Reduction {
  Join join;
  Type type;
  int outer_rank = 0, inner_rank = 0;
  std::uint32_t outer_dims[kReduceRank] = {}, outer_strides[kReduceRank] = {};
  std::uint32_t inner_dims[kReduceRank] = {}, inner_strides[kReduceRank] = {};
  std::uint32_t outer = 1, inner = 1;
};
void run_reduction(const Stream& stream, const Reduction& reduction, const void* from, void* to);

// Over rows of `length`: exp(y - max) / sum, or its logarithm, of y = x * factor + mask; of `mask`,
// if it is not null, `repeats` rows in a row read the same.
struct SoftmaxRows {
  Type type, mask_type;
  std::uint32_t length, repeats;
  float factor;
  bool logarithm;
};
void run_softmax(const Stream& stream, const SoftmaxRows& rows, std::uint32_t count,
                 const void* from, const void* mask, void* to);

// (x - mean) / sqrt(variance + epsilon) * scale + shift over rows.
struct LayerNorm {
  Type type, scale_type;
  std::uint32_t length;
  float epsilon;
};
void run_layer_norm(const Stream& stream, const LayerNorm& norm, std::uint32_t count,
                    const void* from, const void* scale, const void* shift, void* to);

// The first place of the largest (or smallest) over the middle of [outer, length, inner].
struct Extreme {
  Type type;
  std::uint32_t length, inner;
  bool smallest, wide;
};
void run_extreme(const Stream& stream, const Extreme& extreme, std::int64_t count, const void* from,
                 void* to);

}  // namespace drystone::gpu
