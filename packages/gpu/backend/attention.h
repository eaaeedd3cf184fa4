// Attention: softmax(q * k^T * factor + mask) * v in one kernel, without the scores in memory.
#pragma once

#include <cstdint>

#include "launch.h"

namespace drystone::gpu {

// Where rows lie: element d of row r of head h of example o is at first + o * outer + h * head +
// r * row + d.
struct Rows {
  std::uint32_t first, outer, head, row;
};

// The same row of a mask is added for `repeats` rows of scores in a row.
struct Attention {
  Type type, mask_type;
  std::uint32_t outer, heads, queries, keys, depth, repeats;
  float factor;
  Rows q, k, v, to;
};

// Whether there is a kernel: float16 or bfloat16, one of a few depths, rows that can be read in
// vectors, a mask that is the same for all queries of a head.
bool can_attend(const Attention& attention);

// `mask` may be null.
void run_attention(const Stream& stream, const Attention& attention, const void* q, const void* k,
                   const void* v, const void* mask, void* to);

}  // namespace drystone::gpu
