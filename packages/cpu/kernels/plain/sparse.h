// A sparse tensor as kernels get it: three inputs that must fit together.
#ifndef DRYSTONE_CPU_PLAIN_SPARSE_H_
#define DRYSTONE_CPU_PLAIN_SPARSE_H_

#include "core/moving.h"

namespace drystone::cpu {

// Indices [n, rank], values [n] and a dense shape [rank] that fit together.
struct Sparse {
  Sparse(const Tensor& indices_, const Tensor& values_, const Tensor& shape)
      : indices(indices_), values(values_) {
    require(indices.rank() == 2 && values.rank() == 1 && shape.rank() == 1,
            "indices must be a matrix, values and shape vectors");
    dims = integers(shape);
    require(indices.dim(0) == values.dim(0) && indices.dim(1) == rank(),
            "indices must hold one row for each value and one column for each dimension");
    for (const std::int64_t dim : dims) require(dim >= 0, "dimensions must not be negative");
    if (indices.dtype() == TF_INT64) {
      rows = indices.as<std::int64_t>();
    } else {
      wide = integers(indices);
      rows = wide.data();
    }
  }
  std::int64_t count() const { return indices.dim(0); }
  std::int64_t rank() const { return static_cast<std::int64_t>(dims.size()); }
  const std::int64_t* row(std::int64_t k) const { return rows + k * rank(); }
  // Fails unless 64 bits hold the number of elements.
  void check_elements() const {
    std::int64_t total = 1;
    for (const std::int64_t dim : dims)
      require(!__builtin_mul_overflow(total, dim, &total), "too many elements for 64 bits");
  }
  void check_inside() const {
    for (std::int64_t k = 0; k < count(); ++k) {
      for (std::size_t d = 0; d < dims.size(); ++d) {
        const std::int64_t at = row(k)[d];
        if (at >= 0 && at < dims[d]) continue;
        fail(TF_INVALID_ARGUMENT, "indices[" + std::to_string(k) +
                                      "] is out of bounds: need 0 <= index < " + text(dims));
      }
    }
  }
  Tensor indices;
  Tensor values;
  Dims dims;
  const std::int64_t* rows;
  Dims wide;
};

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_PLAIN_SPARSE_H_
