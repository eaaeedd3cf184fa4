// Shapes of element-wise ops with two inputs: NumPy's rule.
#ifndef DRYSTONE_CPU_CORE_BROADCAST_H_
#define DRYSTONE_CPU_CORE_BROADCAST_H_

#include "core/kernel.h"

namespace drystone::cpu {

// How two inputs are walked to fill an output. Neighbouring dims that both walk alike are one.
struct Broadcast {
  Dims out;       // dims of the output
  Dims dims;      // the same, merged; never empty
  Dims a_stride;  // elements that a step in a merged dim moves input a by; 0: it stays
  Dims b_stride;
  bool same = false;      // no broadcasting: one dim, both strides 1
  bool a_scalar = false;  // one element
  bool b_scalar = false;
};

// Fails with INVALID_ARGUMENT, "Incompatible shapes: [2,3] vs. [4]", for dims that do not go
// together.
Broadcast broadcast(DimsView a, DimsView b);

// row(out, a, b, count, a_step, b_step) for each run of the innermost merged dim: offsets in elements,
// steps 0 or 1.
template <class Row>
void for_each_row(const Broadcast& shape, std::int64_t first_row, std::int64_t last_row, Row&& row) {
  const std::size_t rank = shape.dims.size();
  const std::int64_t width = shape.dims[rank - 1];
  Dims at(rank, 0);
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t rest = first_row;
  for (std::size_t k = rank - 1; k-- > 0;) {
    at[k] = rest % shape.dims[k];
    rest /= shape.dims[k];
    a += at[k] * shape.a_stride[k];
    b += at[k] * shape.b_stride[k];
  }
  for (std::int64_t r = first_row; r < last_row; ++r) {
    row(r * width, a, b, width, shape.a_stride[rank - 1], shape.b_stride[rank - 1]);
    for (std::size_t k = rank - 1; k-- > 0;) {
      a += shape.a_stride[k];
      b += shape.b_stride[k];
      if (++at[k] < shape.dims[k]) break;
      a -= shape.a_stride[k] * shape.dims[k];
      b -= shape.b_stride[k] * shape.dims[k];
      at[k] = 0;
    }
  }
}

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_CORE_BROADCAST_H_
