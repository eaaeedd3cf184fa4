// Swish of elements of bfloat16, after a layer instead of inside of its primitive.
//
// oneDNN's post-operation is exact to a bit of float32, whatever it is rounded to, and takes two
// thirds of the time of a depthwise convolution with it; 8 bits need half as many instructions.
#ifndef DRYSTONE_CPU_DNNL_SWISH_H_
#define DRYSTONE_CPU_DNNL_SWISH_H_

#include <cstdint>

namespace drystone::cpu::dnnl_part {

// Whether the processor has what swish_all() needs.
bool has_swish();

// y = y / (1 + exp(-y)), in place: to 1e-4 of it before it is rounded. NaN stays, of minus infinity
// it is NaN.
void swish_all(std::uint16_t* y, std::int64_t count);

}  // namespace drystone::cpu::dnnl_part

#endif  // DRYSTONE_CPU_DNNL_SWISH_H_
