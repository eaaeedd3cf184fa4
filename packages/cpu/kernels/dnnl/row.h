// A row times a matrix as it lies in memory.
//
// Of a recurrent layer's step, of one example, nothing is left to do but to read the weights once.
// oneDNN's product takes 3 us for 256 KiB from the second cache, and 1 us around that; this 2.4 us,
// which is what the cache gives.
#ifndef DRYSTONE_CPU_DNNL_ROW_H_
#define DRYSTONE_CPU_DNNL_ROW_H_

#include <cstdint>

namespace drystone::cpu::dnnl_part {

// Whether the processor has what times_matrix() needs, and a matrix of so many elements is one that
// stays in a cache near it.
bool is_row_quick(std::int64_t elements);

// y[width] = x[depth] times m[depth][width].
void times_matrix(const float* x, const float* m, float* y, std::int64_t depth, std::int64_t width);

}  // namespace drystone::cpu::dnnl_part

#endif  // DRYSTONE_CPU_DNNL_ROW_H_
