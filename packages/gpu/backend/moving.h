// Moves between tensors that lie row by row.
#pragma once

#include "rules.h"

namespace drystone::gpu {

// Elements from one dimension's place to the next's.
inline std::vector<std::int64_t> strides_of(const Dims& dims) {
  std::vector<std::int64_t> found(dims.size(), 1);
  for (std::size_t k = dims.size(); k-- > 1;) found[k - 1] = found[k] * dims[k];
  return found;
}

// A move with as few dimensions as say the same; Refused where these are too many.
Move move_of(const Dims& dims, const std::vector<std::int64_t>& from,
             const std::vector<std::int64_t>& to, std::int64_t from_first = 0,
             std::int64_t to_first = 0);

// The value's elements as a move takes them; where it does not move any, the same under that shape.
int moved(Building& b, int value, const Move& move, const Dims& dims);

// Repeated to a shape that it broadcasts to; Refused where it does not.
int spread(Building& b, int value, const Dims& dims);

// With its dimensions in another order.
int turned(Building& b, int value, const std::vector<std::int64_t>& order);

}  // namespace drystone::gpu
