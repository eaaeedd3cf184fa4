// Sparse tensors: another dense shape, and an element for each empty row.
#include <algorithm>
#include <cstring>

#include "core/family.h"
#include "core/text.h"

namespace drystone::cpu {
namespace {

Dims numbers(const Tensor& tensor) {
  return {tensor.as<std::int64_t>(), tensor.as<std::int64_t>() + tensor.count()};
}

// Elements of a dense shape; fails for 2^63 and more.
std::int64_t elements(const Dims& dims) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
  std::int64_t out = 1;
  for (const std::int64_t dim : dims) {
    require(!__builtin_mul_overflow(out, dim, &out), "a dense shape of 2^63 elements and more");
  }
  return out;
}

// The new shape, with what its -1 stands for.
Dims new_shape_of(const Dims& old, Dims wanted) {
  require(std::all_of(old.begin(), old.end(), [](std::int64_t d) { return d >= 0; }),
          "dimensions must not be negative");
  require(std::all_of(wanted.begin(), wanted.end(), [](std::int64_t d) { return d >= -1; }),
          "a new shape may hold one -1 and no other negative number");
  const auto open = std::find(wanted.begin(), wanted.end(), -1);
  const std::int64_t total = elements(old);
  if (open != wanted.end()) {
    require(std::find(open + 1, wanted.end(), -1) == wanted.end(),
            "only one output dimension may be -1");
    *open = 1;
    const std::int64_t rest = elements(wanted);
    require(rest > 0 && total % rest == 0, "the inferred dimension must be whole");
    *open = total / rest;
  }
  require(elements(wanted) == total, "a reshape must keep the number of elements");
  return wanted;
}

void sparse_reshape(Call& call) {
  const Tensor indices = call.input(0);
  const Tensor input_shape = call.input(1);
  const Tensor new_shape = call.input(2);
  require(input_shape.rank() == 1 && new_shape.rank() == 1, "shapes must be vectors");
  const Dims old = numbers(input_shape);
  const auto old_rank = static_cast<std::int64_t>(old.size());
  require(indices.rank() == 2 && indices.dim(1) == old_rank,
          "indices must hold one number for each dimension");
  const Dims dims = new_shape_of(old, numbers(new_shape));
  const auto rank = static_cast<std::int64_t>(dims.size());
  const std::int64_t count = indices.dim(0);
  auto* out = call.output(0, {{count, rank}}).write<std::int64_t>();
  const auto* from = indices.as<std::int64_t>();
  for (std::int64_t row = 0; row < count; ++row, from += old_rank, out += rank) {
    std::int64_t flat = 0;
    for (std::size_t k = 0; k < old.size(); ++k) {
      require(from[k] >= 0 && from[k] < old[k],
              "indices must lie inside the tensor that they index");
      flat = flat * old[k] + from[k];
    }
    for (std::size_t k = dims.size(); k-- > 0;) {
      out[k] = dims[k] == 0 ? 0 : flat % dims[k];
      flat = dims[k] == 0 ? flat : flat / dims[k];
    }
  }
  std::copy(dims.begin(), dims.end(), call.output(1, {{rank}}).write<std::int64_t>());
}

void check_parts(const Tensor& indices, const Tensor& values, const Tensor& shape,
                 const Tensor& filler) {
  require(indices.rank() == 2 && values.rank() == 1 && shape.rank() == 1,
          "indices must be a matrix, values and dense_shape vectors");
  require(indices.dim(0) == values.dim(0) && indices.dim(1) == shape.dim(0),
          "indices must hold one row for each value and one column for each dimension");
  const Dims dims = numbers(shape);
  require(std::all_of(dims.begin(), dims.end(), [](std::int64_t d) { return d >= 0; }),
          "dimensions must not be negative");
  require(filler.rank() == 0 && !dims.empty(),
          "default_value must be a scalar and dense_shape not empty");
  require(dims[0] > 0 || indices.dim(0) == 0, "a tensor without rows must be empty");
  for (std::int64_t k = 0; k < indices.dim(0); ++k) {
    const std::int64_t row = indices.as<std::int64_t>()[k * indices.dim(1)];
    require(row >= 0 && row < dims[0], "indices must name rows of the tensor");
  }
}

// Elements are bytes of a size, or strings.
template <class T>
void fill_empty_rows(Call& call) {
  const Tensor indices = call.input(0);
  const Tensor values = call.input(1);
  const Tensor shape = call.input(2);
  const Tensor filler = call.input(3);
  check_parts(indices, values, shape, filler);
  const std::int64_t rows = *shape.as<std::int64_t>();
  const std::int64_t count = indices.dim(0);
  const std::int64_t rank = indices.dim(1);
  bool* empty = call.output(2, {{rows}}).template write<bool>();
  auto* places = call.output(3, {{count}}).template write<std::int64_t>();
  const auto* from = indices.as<std::int64_t>();
  // Where the next element of each row goes: first how many there are.
  auto* next = call.scratch<std::int64_t>(rows);
  std::fill_n(next, rows, 0);
  for (std::int64_t k = 0; k < count; ++k) ++next[from[k * rank]];
  std::int64_t total = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    empty[row] = next[row] == 0;
    const std::int64_t held = std::max<std::int64_t>(next[row], 1);
    next[row] = total;
    total += held;
  }
  auto* out = call.output(0, {{total, rank}}).template write<std::int64_t>();
  T* to = call.output(1, {{total}}).template write<T>();
  const auto put = [&](T* place, const T& value) {
    if constexpr (std::is_same_v<T, TF_TString>) set_text(place, text_of(value));
    else *place = value;
  };
  for (std::int64_t k = 0; k < count; ++k) {
    places[k] = next[from[k * rank]]++;
    std::copy_n(from + k * rank, rank, out + places[k] * rank);
    put(to + places[k], values.as<T>()[k]);
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    if (!empty[row]) continue;
    std::fill_n(out + next[row] * rank, rank, 0);
    out[next[row] * rank] = row;
    put(to + next[row], *filler.as<T>());
  }
}

}  // namespace

const Family registered([] {
  const char* fill = "SparseFillEmptyRows";
  add<sparse_reshape>("SparseReshape");
  add<fill_empty_rows<std::uint8_t>>(fill, {{"T", {TF_BOOL, TF_INT8, TF_UINT8}}});
  add<fill_empty_rows<std::uint16_t>>(fill, {{"T", {TF_INT16, TF_UINT16, TF_HALF, TF_BFLOAT16}}});
  add<fill_empty_rows<std::uint32_t>>(fill, {{"T", {TF_INT32, TF_UINT32, TF_FLOAT}}});
  const Constraint eight = {"T", {TF_INT64, TF_UINT64, TF_DOUBLE, TF_COMPLEX64}};
  add<fill_empty_rows<std::uint64_t>>(fill, {eight});
  add<fill_empty_rows<TF_TString>>(fill, {{"T", {TF_STRING}}});
});

}  // namespace drystone::cpu
