// Shapes, as GraphDef and OpInfo.TensorProperties carry them.
//
// Since ABI 1.0. A Shape owns its dimensions. Reading never trusts the bytes: what is malformed gives
// a shape of unknown rank.
//
// Dimensions: >= 0 is a size; -1 is unknown; below -1 is a symbol that shape inference gave to
// an unknown size, the same symbol for the same size (-2 == -2 holds, -1 == -1 does not).
#ifndef DRYSTONE_SDK_SHAPE_HPP_
#define DRYSTONE_SDK_SHAPE_HPP_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drystone/sdk/wire.hpp"

namespace drystone::sdk {

constexpr std::int64_t kUnknownDim = -1;

class Shape {
 public:
  // Of unknown rank.
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : known_rank_(true), dims_(dims) {}
  explicit Shape(std::vector<std::int64_t> dims) : known_rank_(true), dims_(std::move(dims)) {}

  // From the bytes of a TensorShapeProto.
  static Shape parse(std::string_view proto) {
    Shape out{std::initializer_list<std::int64_t>{}};
    wire::Reader fields(proto);
    while (fields.next()) {
      if (fields.field() == 3 && fields.boolean()) out.known_rank_ = false;
      if (fields.field() == 2) out.dims_.push_back(parse_dim(fields.bytes()));
    }
    if (!fields.ok() || !out.known_rank_) return {};
    return out;
  }

  // The bytes of a TensorShapeProto.
  std::string proto() const {
    std::string out;
    wire::Writer writer(&out);
    if (!known_rank_) writer.boolean(3, true);
    for (std::int64_t size : dims_) {
      std::string dim;
      if (size != 0) wire::Writer(&dim).int64(1, size);
      writer.bytes(2, dim);
    }
    return out;
  }

  bool known_rank() const { return known_rank_; }
  // -1 when unknown.
  int rank() const { return known_rank_ ? static_cast<int>(dims_.size()) : -1; }
  const std::vector<std::int64_t>& dims() const { return dims_; }
  // Dimension `index`, from the end when negative; kUnknownDim where there is none.
  std::int64_t dim(int index) const {
    const int at = index < 0 ? index + static_cast<int>(dims_.size()) : index;
    if (at < 0 || at >= static_cast<int>(dims_.size())) return kUnknownDim;
    return dims_[static_cast<std::size_t>(at)];
  }
  // Whether the rank and every size are known.
  bool fully_defined() const {
    for (std::int64_t size : dims_) {
      if (size < 0) return false;
    }
    return known_rank_;
  }
  // Whether the rank is known and every size is known or a symbol.
  bool symbolically_defined() const {
    for (std::int64_t size : dims_) {
      if (size == kUnknownDim) return false;
    }
    return known_rank_;
  }
  // The product of the sizes; kUnknownDim when one is unknown or the product does not fit.
  std::int64_t element_count() const { return known_rank_ ? count_of(dims_) : kUnknownDim; }
  // The same of dimensions that are in no shape.
  static std::int64_t count_of(const std::vector<std::int64_t>& dims) {
    bool empty = false;
    for (std::int64_t size : dims) {
      if (size < 0) return kUnknownDim;
      empty = empty || size == 0;
    }
    if (empty) return 0;
    std::int64_t count = 1;
    for (std::int64_t size : dims) {
      if (count > INT64_MAX / size) return kUnknownDim;
      count *= size;
    }
    return count;
  }
  bool is_scalar() const { return known_rank_ && dims_.empty(); }

  // Whether the two are written alike; says nothing about unknown sizes.
  friend bool operator==(const Shape& a, const Shape& b) {
    return a.known_rank_ == b.known_rank_ && a.dims_ == b.dims_;
  }
  friend bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }

 private:
  static std::int64_t parse_dim(std::string_view proto) {
    std::int64_t size = 0;
    wire::Reader fields(proto);
    while (fields.next()) {
      if (fields.field() == 1) size = fields.int64();
    }
    return fields.ok() ? size : kUnknownDim;
  }

  bool known_rank_ = false;
  std::vector<std::int64_t> dims_;
};

// Whether tensors of the two shapes surely have the same dimensions, symbols counted as sizes.
inline bool surely_equal(const Shape& a, const Shape& b) {
  return a.symbolically_defined() && b.symbolically_defined() && a.dims() == b.dims();
}

// Whether tensors of the two shapes could have the same dimensions.
inline bool compatible(const Shape& a, const Shape& b) {
  if (!a.known_rank() || !b.known_rank()) return true;
  if (a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i) {
    if (a.dim(i) >= 0 && b.dim(i) >= 0 && a.dim(i) != b.dim(i)) return false;
  }
  return true;
}

// The shape that element-wise ops give for two inputs, by NumPy's rules. Second is false when it
// cannot be known (an unknown size meets another) or the two do not fit.
inline std::pair<Shape, bool> broadcast(const Shape& a, const Shape& b) {
  if (!a.symbolically_defined() || !b.symbolically_defined()) return {{}, false};
  const int rank = a.rank() > b.rank() ? a.rank() : b.rank();
  std::vector<std::int64_t> dims(static_cast<std::size_t>(rank), 1);
  for (int back = 1; back <= rank; ++back) {
    const std::int64_t x = back <= a.rank() ? a.dim(-back) : 1;
    const std::int64_t y = back <= b.rank() ? b.dim(-back) : 1;
    if (x != y && x != 1 && y != 1) return {{}, false};
    dims[static_cast<std::size_t>(rank - back)] = x == 1 ? y : x;
  }
  return {Shape(std::move(dims)), true};
}

}  // namespace drystone::sdk

#endif  // DRYSTONE_SDK_SHAPE_HPP_
