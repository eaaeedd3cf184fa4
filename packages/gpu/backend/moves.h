// Kernels that move elements: strided copies, fills, gathers.
#pragma once

#include <cstdint>

#include "launch.h"

namespace drystone::gpu {

constexpr int kMoveRank = 8;

// Element (i0, i1, ...) of dims goes from from_first + sum(i * from) to to_first + sum(i * to).
struct Move {
  int rank = 0;
  std::uint32_t dims[kMoveRank] = {};
  std::int32_t from[kMoveRank] = {}, to[kMoveRank] = {};
  std::int32_t from_first = 0, to_first = 0;
};

void run_move(const Stream& stream, const Move& move, std::size_t size, const void* from, void* to);

// `bits`: one element, in its low bytes.
void run_fill(const Stream& stream, std::int64_t count, std::size_t size, std::uint64_t bits,
              void* to);

// A flag for what only the values tell to be wrong: the first mark that is put there stays.
struct Alarm {
  std::uint32_t* flag;
  std::uint32_t mark;

  DS_BOTH void raise() const {
    if (*flag == 0) *flag = mark;
  }
};

// to[b, o, i, k] = from[b, o, indices[b, i], k]; the alarm is raised where there is no such place.
struct Gather {
  std::uint32_t batches, outer, places, indices, inner;
};
void run_gather(const Stream& stream, const Gather& gather, std::size_t size, const void* from,
                const void* indices, bool wide, Alarm alarm, void* to);

// to[segments[r], k] += from[r, k], of float32; numbers below 0 are left out, or are wrong where `all`
// must be there, and the alarm is raised for those that are too large.
struct SegmentSum {
  std::uint32_t count, inner;
  bool all;
};
void run_segment_sum(const Stream& stream, const SegmentSum& sum, std::int64_t rows, const void* from,
                     const void* segments, bool wide, Alarm alarm, void* to);

// to[o, d, i] = indices[o, i] == d ? on : off
struct OneHot {
  std::uint32_t depth, inner;
};
void run_one_hot(const Stream& stream, const OneHot& one_hot, std::int64_t count, std::size_t size,
                 const void* indices, bool wide, const void* on, const void* off, void* to);

// Mirrored padding of up to kMoveRank dimensions; `edge` is 0 where edges are not repeated, else 1.
struct Mirror {
  int rank;
  std::uint32_t dims[kMoveRank], inside[kMoveRank], before[kMoveRank];
  std::uint32_t edge;
};
void run_mirror(const Stream& stream, const Mirror& mirror, std::int64_t count, std::size_t size,
                const void* from, void* to);

}  // namespace drystone::gpu
