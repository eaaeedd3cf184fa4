// Integers of eight bits that stand on a grid of floats: the attributes of a node that gives them.
#ifndef DRYSTONE_CPU_CORE_GRID_H_
#define DRYSTONE_CPU_CORE_GRID_H_

#include <algorithm>
#include <cmath>

#include "core/kernel.h"

namespace drystone::cpu {

struct Grid {
  // The attributes; the integers have that type, or none do where it is no integer's.
  Grid(const Node& node, TF_DataType dtype)
      : scale(node.real("scale")),
        zero(static_cast<std::int32_t>(node.integer("zero"))),
        first(static_cast<std::int32_t>(std::max(node.integer("first"), least(dtype)))),
        last(static_cast<std::int32_t>(std::min(node.integer("last"), most(dtype)))) {
    require(scale > 0 && first <= zero && zero <= last,
            "a grid must have a step above zero, and zero in it");
  }
  static std::int64_t least(TF_DataType dtype) { return dtype == TF_UINT8 ? 0 : -128; }
  static std::int64_t most(TF_DataType dtype) { return dtype == TF_INT8 ? 127 : 255; }
  // Whether the type has integers that the grid has not.
  bool is_narrower(TF_DataType dtype) const {
    return first != least(dtype) || last != most(dtype);
  }

  // The nearest integers. Halves are rounded up, or else to even numbers; NaN becomes the first.
  template <bool kHalfUp, class Integer>
  void put(const float* x, std::int64_t count, Integer* y) const {
    const float inverse = 1.0F / scale;
    const auto shift = static_cast<float>(zero);
    const auto low = static_cast<float>(first);
    const auto high = static_cast<float>(last);
#pragma GCC ivdep
    for (std::int64_t k = 0; k < count; ++k) {
      const float steps = x[k] * inverse;
      const float whole = (kHalfUp ? std::floor(steps + 0.5F) : std::rint(steps)) + shift;
      const float above = whole > low ? whole : low;
      y[k] = static_cast<Integer>(static_cast<std::int32_t>(above < high ? above : high));
    }
  }

  float scale;
  std::int32_t zero;
  std::int32_t first;
  std::int32_t last;
};

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_CORE_GRID_H_
