// Sparse tensors taken apart, joined, sorted, and multiplied with dense matrices.
#include <algorithm>
#include <complex>
#include <cstring>
#include <numeric>

#include "core/family.h"
#include "core/moving_text.h"
#include "plain/combine.h"
#include "plain/sparse.h"

namespace drystone::cpu {
namespace {

std::size_t size_of(const Tensor& values) { return element_size(values.dtype()); }

// Writes indices and values of chosen elements: outputs `first` and `first + 1`.
template <class Row>
void put_elements(Call& call, int first_output, int step, const Sparse& x,
                  const std::vector<std::int64_t>& chosen, Row&& row) {
  const auto count = static_cast<std::int64_t>(chosen.size());
  auto* out = call.output(first_output, {{count, x.rank()}}).template write<std::int64_t>();
  char* values = call.output(first_output + step, {{count}}).template write<char>();
  const std::size_t size = size_of(x.values);
  for (const std::int64_t k : chosen) {
    for (std::int64_t d = 0; d < x.rank(); ++d) *out++ = row(x.row(k)[d], d);
    std::memcpy(values, x.values.as<char>() + static_cast<std::size_t>(k) * size, size);
    values += size;
  }
}

void put_shape(Call& call, int output, const Dims& dims) {
  const auto rank = static_cast<std::int64_t>(dims.size());
  std::copy(dims.begin(), dims.end(), call.output(output, {{rank}}).write<std::int64_t>());
}

std::vector<std::int64_t> numbers_below(std::int64_t count) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

void reorder(Call& call) {
  const Sparse x(call.input(0), call.input(1), call.input(2));
  x.check_inside();
  std::vector<std::int64_t> order = numbers_below(x.count());
  const auto before = [&x](std::int64_t a, std::int64_t b) {
    return std::lexicographical_compare(x.row(a), x.row(a) + x.rank(), x.row(b),
                                        x.row(b) + x.rank());
  };
  std::stable_sort(order.begin(), order.end(), before);
  put_elements(call, 0, 1, x, order, [](std::int64_t at, std::int64_t) { return at; });
}

void slice(Call& call) {
  const Sparse x(call.input(0), call.input(1), call.input(2));
  x.check_elements();
  const Dims start = int_vector(call.input(3), "start");
  const Dims size = int_vector(call.input(4), "size");
  require(start.size() == x.dims.size() && size.size() == x.dims.size(),
          "start and size must hold one number for each dimension");
  Dims extent;
  for (std::size_t d = 0; d < x.dims.size(); ++d) {
    require(start[d] >= 0 && size[d] >= 0, "start and size must not be negative");
    extent.push_back(std::max<std::int64_t>(std::min(size[d], x.dims[d] - start[d]), 0));
  }
  std::vector<std::int64_t> inside;
  for (std::int64_t k = 0; k < x.count(); ++k) {
    bool holds = true;
    for (std::size_t d = 0; holds && d < extent.size(); ++d) {
      const std::int64_t at = x.row(k)[d];
      holds = at >= start[d] && at - start[d] < extent[d];
    }
    if (holds) inside.push_back(k);
  }
  put_elements(call, 0, 1, x, inside, [&start](std::int64_t at, std::int64_t d) {
    return at - start[static_cast<std::size_t>(d)];
  });
  put_shape(call, 2, extent);
}

void split(Call& call) {
  const Sparse x(call.input(1), call.input(2), call.input(3));
  x.check_elements();
  x.check_inside();
  require(call.input(0).rank() == 0, "split_dim must be a scalar");
  const std::int64_t given = scalar_int(call.input(0), "split_dim");
  const int axis = wrap_axis(given, static_cast<int>(x.rank()), "split_dim");
  const auto at = static_cast<std::size_t>(axis);
  const int count = call.outputs() / 3;
  const std::int64_t whole = x.dims[at];
  require(count >= 1 && count <= whole, "num_split must lie in [1, size of the split dimension]");
  std::int64_t first = 0;
  for (int part = 0; part < count; ++part) {
    const std::int64_t length = whole / count + (part < whole % count ? 1 : 0);
    std::vector<std::int64_t> inside;
    for (std::int64_t k = 0; k < x.count(); ++k) {
      const std::int64_t place = x.row(k)[at] - first;
      if (place >= 0 && place < length) inside.push_back(k);
    }
    put_elements(call, part, count, x, inside, [&](std::int64_t place, std::int64_t d) {
      return d == axis ? place - first : place;
    });
    Dims dims = x.dims;
    dims[at] = length;
    put_shape(call, 2 * count + part, dims);
    first += length;
  }
}

class Concat {
 public:
  explicit Concat(const Node& node) : axis_(node.integer("concat_dim")) {}
  void compute(Call& call) const {
    const int count = call.inputs() / 3;
    std::vector<Sparse> parts;
    for (int i = 0; i < count; ++i)
      parts.emplace_back(call.input(i), call.input(count + i), call.input(2 * count + i))
          .check_elements();
    Dims dims = parts[0].dims;
    const auto axis = static_cast<std::size_t>(
        wrap_axis(axis_, static_cast<int>(dims.size()), "concat_dim"));
    Dims offsets = {0};
    for (const Sparse& part : parts) {
      bool fits = part.dims.size() == dims.size();
      for (std::size_t d = 0; fits && d < dims.size(); ++d)
        fits = d == axis || part.dims[d] == dims[d];
      require(fits, "shapes must be equal except in the joined dimension");
      std::int64_t end = 0;
      require(!__builtin_add_overflow(offsets.back(), part.dims[axis], &end),
              "the joined dimension is too large");
      offsets.push_back(end);
    }
    dims[axis] = offsets.back();
    put(call, parts, offsets, axis);
    put_shape(call, 2, dims);
  }

 private:
  struct Element {
    std::size_t part;
    std::int64_t row;
  };
  static void put(Call& call, const std::vector<Sparse>& parts, const Dims& offsets,
                  std::size_t axis) {
    std::vector<Element> order;
    for (std::size_t i = 0; i < parts.size(); ++i)
      for (std::int64_t k = 0; k < parts[i].count(); ++k) order.push_back({i, k});
    const std::int64_t rank = parts[0].rank();
    const auto at = [&](const Element& e, std::int64_t d) {
      const bool moved = static_cast<std::size_t>(d) == axis;
      return parts[e.part].row(e.row)[d] + (moved ? offsets[e.part] : 0);
    };
    std::stable_sort(order.begin(), order.end(), [&](const Element& a, const Element& b) {
      for (std::int64_t d = 0; d < rank; ++d)
        if (at(a, d) != at(b, d)) return at(a, d) < at(b, d);
      return false;
    });
    const auto count = static_cast<std::int64_t>(order.size());
    auto* out = call.output(0, {{count, rank}}).write<std::int64_t>();
    char* values = call.output(1, {{count}}).write<char>();
    const std::size_t size = size_of(parts[0].values);
    for (const Element& e : order) {
      for (std::int64_t d = 0; d < rank; ++d) *out++ = at(e, d);
      const auto from = static_cast<std::size_t>(e.row) * size;
      std::memcpy(values, parts[e.part].values.as<char>() + from, size);
      values += size;
    }
  }
  std::int64_t axis_;
};

// The gradient at the elements that were there, and the sum over those that were filled in.
void fill_empty_rows_grad(Call& call) {
  const Tensor places = call.input(0);
  const Tensor grad = call.input(1);
  require(places.rank() == 1 && grad.rank() == 1, "both inputs must be vectors");
  check_below(places, grad.count(), "reverse_index_map");
  const std::size_t size = size_of(grad);
  char* out = call.output(0, places.dims()).write<char>();
  std::vector<char> there(static_cast<std::size_t>(grad.count()), 0);
  for (const std::int64_t at : integers(places)) {
    there[static_cast<std::size_t>(at)] = 1;
    std::memcpy(out, grad.as<char>() + static_cast<std::size_t>(at) * size, size);
    out += size;
  }
  char* sum = call.output(1, {}).write<char>();
  std::memset(sum, 0, size);
  const Combine combine = combine_of(Operation::kAdd, grad.dtype());
  for (std::size_t k = 0; k < there.size(); ++k)
    if (there[k] == 0) combine(sum, grad.as<char>() + k * size, 1, 1);
}

template <class T>
T conjugate(T x) {
  if constexpr (requires { x.imag(); }) return std::conj(x);
  else return x;
}

template <class T>
T multiply_add(T sum, T a, T b) {
  return wrapping_add(sum, wrapping_multiply(a, b));
}

template <class T>
class DenseMatMul {
 public:
  explicit DenseMatMul(const Node& node)
      : turns_a_(node.boolean("adjoint_a")), turns_b_(node.boolean("adjoint_b")) {}
  void compute(Call& call) const {
    const Sparse a(call.input(0), call.input(1), call.input(2));
    const Tensor b = call.input(3);
    require(a.rank() == 2 && b.rank() == 2, "both factors must be matrices");
    a.check_inside();
    const std::int64_t height = a.dims[turns_a_ ? 1 : 0];
    const std::int64_t depth = a.dims[turns_a_ ? 0 : 1];
    const std::int64_t width = b.dim(turns_b_ ? 0 : 1);
    if (b.dim(turns_b_ ? 1 : 0) != depth) {
      fail(TF_INVALID_ARGUMENT, "Cannot multiply A and B because inner dimension does not match: " +
                                    std::to_string(depth) + " vs. " + text(b.dims()));
    }
    check_dims({{height, width}});
    const Tensor y = call.output(0, {{height, width}});
    T* out = y.write<T>();
    std::fill_n(out, y.count(), T(0));
    const T* from = b.as<T>();
    for (std::int64_t k = 0; k < a.count(); ++k) {
      const std::int64_t i = a.row(k)[turns_a_ ? 1 : 0];
      const std::int64_t j = a.row(k)[turns_a_ ? 0 : 1];
      const T value = turns_a_ ? conjugate(a.values.as<T>()[k]) : a.values.as<T>()[k];
      T* to = out + i * width;
      if (turns_b_) {
        for (std::int64_t c = 0; c < width; ++c)
          to[c] = multiply_add(to[c], value, conjugate(from[c * depth + j]));
      } else {
        for (std::int64_t c = 0; c < width; ++c)
          to[c] = multiply_add(to[c], value, from[j * width + c]);
      }
    }
  }

 private:
  bool turns_a_;
  bool turns_b_;
};

template <class T>
void add_matmul(TF_DataType dtype) {
  add<DenseMatMul<T>>("SparseTensorDenseMatMul", {{"T", {dtype}}});
}

}  // namespace

const Family registered([] {
  add_moving<reorder>("SparseReorder");
  add_moving<slice>("SparseSlice");
  add_moving<split>("SparseSplit");
  add_moving<Concat>("SparseConcat");
  const std::vector<Constraint> sums = {{"T", types_of(Operation::kAdd)}};
  add<fill_empty_rows_grad>("SparseFillEmptyRowsGrad", sums);
  add<fill_empty_rows_grad>("RaggedFillEmptyRowsGrad", sums);
  add_matmul<float>(TF_FLOAT);
  add_matmul<double>(TF_DOUBLE);
  add_matmul<std::int32_t>(TF_INT32);
  add_matmul<std::complex<float>>(TF_COMPLEX64);
  add_matmul<std::complex<double>>(TF_COMPLEX128);
});

}  // namespace drystone::cpu
