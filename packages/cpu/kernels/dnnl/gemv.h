// Matrix-vector products: one row or one column.
//
// Of a recurrent layer's step, of one example, nothing is left to do but to read the weights once.
// oneDNN's product takes 3 us for 256 KiB from the second cache, and 1 us around that; this 2.2 us
// for rows as they lie in memory, and 1.5 us for strips of columns, read from one end to the other,
// which is what the cache gives.
#ifndef DRYSTONE_CPU_DNNL_GEMV_H_
#define DRYSTONE_CPU_DNNL_GEMV_H_

#include <cstdint>

#include "dnnl/primitive.h"

namespace drystone::cpu::dnnl_part {

// Whether the processor has what these products need.
bool has_gemv();

// y[width] = x[depth] times m[depth][width].
void gemv_row_major(const float* x, const float* m, float* y, std::int64_t depth, std::int64_t width);

// A matrix's elements in strips: 64 columns next to each other, all rows of one strip before the
// next. Rows are filled up to 16, the last strip with zeros.
Desc in_strips(std::int64_t depth, std::int64_t width);

// How many strips those are.
std::int64_t strips_of(std::int64_t width);

// The columns of y that strips [first, last) give, of a matrix that is in_strips(), and `bias` added
// where there is one.
void gemv_strips(const float* x, const float* m, const float* bias, float* y, std::int64_t depth,
                  std::int64_t width, std::int64_t first, std::int64_t last);

// y[rows] = m[rows][depth] times x[depth], a column: oneDNN takes 5 us for it where it is 50 KiB.
void gemv_column(const float* m, const float* x, float* y, std::int64_t rows, std::int64_t depth);

}  // namespace drystone::cpu::dnnl_part

#endif  // DRYSTONE_CPU_DNNL_GEMV_H_
