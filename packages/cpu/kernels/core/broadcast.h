// Shapes of element-wise ops with several inputs: NumPy's rule. Nothing here allocates.
#ifndef DRYSTONE_CPU_CORE_BROADCAST_H_
#define DRYSTONE_CPU_CORE_BROADCAST_H_

#include <algorithm>
#include <array>

#include "core/kernel.h"

namespace drystone::cpu {

// Dims in place, for as many dimensions as a tensor can have.
class FewDims {
 public:
  static constexpr std::size_t kMost = 254;
  FewDims() {}  // NOLINT(modernize-use-equals-default): the array is not initialised
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t& operator[](std::size_t k) { return dims_[k]; }
  std::int64_t operator[](std::size_t k) const { return dims_[k]; }
  std::int64_t& back() { return dims_[size_ - 1]; }
  std::int64_t back() const { return dims_[size_ - 1]; }
  std::int64_t* begin() { return dims_.data(); }
  std::int64_t* end() { return dims_.data() + size_; }
  void push_back(std::int64_t dim) {
    require(size_ < kMost, "a tensor has 254 dimensions at most");
    dims_[size_++] = dim;
  }
  void assign(std::size_t count, std::int64_t dim) {
    size_ = 0;
    while (size_ < count) push_back(dim);
  }
  operator DimsView() const { return {dims_.data(), size_}; }  // NOLINT: as a vector's

 private:
  std::array<std::int64_t, kMost> dims_;
  std::size_t size_ = 0;
};

// How N inputs are walked to fill an output. Neighbouring dims that all walk alike are one.
template <std::size_t N>
struct Walk {
  FewDims out;                    // dims of the output
  FewDims dims;                   // the same, merged; never empty
  std::array<FewDims, N> stride;  // elements that a step in a merged dim moves an input by
  std::int64_t width() const { return dims.back(); }
  std::int64_t step(std::size_t input) const { return stride[input].back(); }  // 0 or 1
};

// Fails with INVALID_ARGUMENT, "Incompatible shapes: [2,3] vs. [4]", for dims that do not go
// together.
template <std::size_t N>
void walk(const std::array<DimsView, N>& inputs, Walk<N>& out);
extern template void walk<2>(const std::array<DimsView, 2>&, Walk<2>&);
extern template void walk<3>(const std::array<DimsView, 3>&, Walk<3>&);

// Whether two shapes go together, and the product of the shape that they make.
bool go_together(DimsView a, DimsView b);

// row(out, offsets) for each run of the innermost merged dim: offsets in elements. Neighbouring
// runs are `width()` elements long, and steps in them are `step(input)`.
template <std::size_t N, class Row>
void for_each_row(const Walk<N>& shape, std::int64_t first_row, std::int64_t last_row, Row&& row) {
  const std::size_t outer = shape.dims.size() - 1;
  const std::int64_t width = shape.width();
  FewDims at;
  at.assign(outer, 0);
  std::array<std::int64_t, N> offset{};
  std::int64_t rest = first_row;
  for (std::size_t k = outer; k-- > 0;) {
    at[k] = rest % shape.dims[k];
    rest /= shape.dims[k];
    for (std::size_t i = 0; i < N; ++i) offset[i] += at[k] * shape.stride[i][k];
  }
  for (std::int64_t r = first_row; r < last_row; ++r) {
    row(r * width, offset);
    for (std::size_t k = outer; k-- > 0;) {
      for (std::size_t i = 0; i < N; ++i) offset[i] += shape.stride[i][k];
      if (++at[k] < shape.dims[k]) break;
      for (std::size_t i = 0; i < N; ++i) offset[i] -= shape.stride[i][k] * shape.dims[k];
      at[k] = 0;
    }
  }
}

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_CORE_BROADCAST_H_
