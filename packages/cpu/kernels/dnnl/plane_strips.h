// Planes of a depthwise convolution whose filter is small and square: in strips as wide as a vector.
#ifndef DRYSTONE_CPU_DNNL_PLANE_STRIPS_H_
#define DRYSTONE_CPU_DNNL_PLANE_STRIPS_H_

#include <cstdint>

namespace drystone::cpu::dnnl_part {

struct Strips {
  std::int64_t in_rows, in_columns, out_rows, out_columns, before_rows, before_columns;
  float low, high;
};

// The plane `y` of the image's plane `x` and the filter's taps `w`.
using MakeStrips = void (*)(const Strips& at, const float* x, const float* w, float bias, float* y);
// By what it is made for such a filter; NULL: not in strips.
MakeStrips strips_for(std::int64_t size, std::int64_t stride);

// Adds to `sums`, one a tap, what the places of the result give: what they read times its gradient.
using AddStripProducts = void (*)(const Strips& at, const float* x, const float* grad, float* sums);
AddStripProducts strip_products_for(std::int64_t size, std::int64_t stride);

}  // namespace drystone::cpu::dnnl_part

#endif  // DRYSTONE_CPU_DNNL_PLANE_STRIPS_H_
