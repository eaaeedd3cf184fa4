// Blocks of space as batch entries and back; diagonals and bands of matrices; sparse to dense.
#include <algorithm>
#include <cstring>

#include "core/family.h"
#include "core/moving_text.h"
#include "plain/combine.h"

namespace drystone::cpu {
namespace {

// The dims of a tensor whose blocks are dealt to the batch.
struct Blocks {
  Dims block;
  Dims pairs;       // border of each block dim: before, after, ...
  bool to_batch;    // else from it
};

Dims borders(const Tensor& given, std::size_t count) {
  if (given.rank() != 2 || given.dim(0) != static_cast<std::int64_t>(count) || given.dim(1) != 2) {
    fail(TF_INVALID_ARGUMENT, "paddings should have shape [" + std::to_string(count) +
                                  ", 2] instead of " + text(given.dims()));
  }
  Dims out = integers(given);
  for (const std::int64_t number : out) require(number >= 0, "paddings must be non-negative");
  return out;
}

Dims dealt_dims(const Tensor& x, const Blocks& b) {
  Dims dims(x.dims().begin(), x.dims().end());
  std::int64_t cells = 1;
  for (const std::int64_t size : b.block) {
    if (__builtin_mul_overflow(cells, size, &cells))
      fail(TF_INVALID_ARGUMENT, "Product of block sizes is too large");
  }
  for (std::size_t k = 0; k < b.block.size(); ++k) {
    std::int64_t& dim = dims[k + 1];
    if (b.to_batch) {
      const bool too_large = __builtin_add_overflow(dim, b.pairs[2 * k], &dim) ||
                             __builtin_add_overflow(dim, b.pairs[2 * k + 1], &dim);
      require(!too_large && dim % b.block[k] == 0, "padded_shape must be divisible by block_shape");
      dim /= b.block[k];
    } else {
      require(!__builtin_mul_overflow(dim, b.block[k], &dim), "block sizes are too large");
      require(b.pairs[2 * k] <= dim && b.pairs[2 * k + 1] <= dim - b.pairs[2 * k],
              "cropped_shape must be non-negative");
      dim -= b.pairs[2 * k] + b.pairs[2 * k + 1];
    }
  }
  if (b.to_batch) {
    require(!__builtin_mul_overflow(dims[0], cells, &dims[0]),
            "Product of block sizes is too large");
  } else {
    require(dims[0] % cells == 0,
            "Input batch dimension is not divisible by product of block sizes");
    dims[0] /= cells;
  }
  check_dims(dims);
  return dims;
}

// Moves the elements of one cell. `wide` has the space, `deep` the batch entry of the cell, whose
// first element is at `deep_start`.
void move_cell(const Blocks& b, const Dims& cell, std::size_t size, const Tensor& wide,
               DimsView deep_dims, char* out, const char* in, std::int64_t deep_start) {
  const Dims wide_steps = steps_of(wide.dims());
  const Dims deep_steps = steps_of(deep_dims);
  const auto bytes = static_cast<std::int64_t>(size);
  Dims dims(wide.dims().begin(), wide.dims().end());
  Dims wide_byte_steps = wide_steps;
  Dims deep_byte_steps = deep_steps;
  std::int64_t wide_start = 0;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (k > 0 && k <= b.block.size()) {
      const std::int64_t block = b.block[k - 1];
      const std::int64_t shift = b.pairs[2 * (k - 1)] - cell[k - 1];
      // Places s of the cell whose element s * block - shift lies in the space.
      const std::int64_t first = shift > 0 ? (shift + block - 1) / block : 0;
      const std::int64_t end = std::min(deep_dims[k], (dims[k] + shift + block - 1) / block);
      dims[k] = std::max<std::int64_t>(end - first, 0);
      wide_start += (first * block - shift) * wide_steps[k];
      deep_start += first * deep_steps[k];
      wide_byte_steps[k] *= block;
    }
    wide_byte_steps[k] *= bytes;
    deep_byte_steps[k] *= bytes;
  }
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return;
  if (b.to_batch)
    move_box(size, dims, out + deep_start * bytes, deep_byte_steps, in + wide_start * bytes,
             wide_byte_steps);
  else
    move_box(size, dims, out + wide_start * bytes, wide_byte_steps, in + deep_start * bytes,
             deep_byte_steps);
}

void deal(const Call& call, const Blocks& b) {
  const Tensor x = call.input(0);
  require(x.rank() > static_cast<int>(b.block.size()),
          "input rank should be larger than that of the block");
  for (const std::int64_t size : b.block)
    require(size >= 1, "All values in block_shape must be positive");
  const Tensor y = call.output(0, dealt_dims(x, b));
  if (y.count() == 0) return;
  const std::size_t size = element_size(y.dtype());
  if (b.to_batch) std::memset(y.write<char>(), 0, static_cast<std::size_t>(y.count()) * size);
  if (x.count() == 0) return;
  const Tensor& wide = b.to_batch ? x : y;
  const Tensor& deep = b.to_batch ? y : x;
  const std::int64_t entries = wide.dim(0);
  const std::int64_t entry = deep.count() / deep.dim(0);
  Dims cell(b.block.size(), 0);
  for (std::int64_t number = 0; number < deep.dim(0) / entries; ++number) {
    move_cell(b, cell, size, wide, deep.dims(), y.write<char>(), x.as<char>(),
              number * entries * entry);
    for (std::size_t k = cell.size(); k-- > 0;) {
      if (++cell[k] < b.block[k]) break;
      cell[k] = 0;
    }
  }
}

template <bool kToBatch>
void deal_any(Call& call) {
  const Dims block = int_vector(call.input(1), "block_shape");
  deal(call, {block, borders(call.input(2), block.size()), kToBatch});
}

template <bool kToBatch>
class DealSquare {
 public:
  explicit DealSquare(const Node& node) : size_(node.integer("block_size")) {
    require(size_ >= 2, "Block size should be > 1");
  }
  void compute(Call& call) const {
    require(call.input(0).rank() == 4, "Input rank should be: 4");
    deal(call, {{size_, size_}, borders(call.input(1), 2), kToBatch});
  }

 private:
  std::int64_t size_;
};

void band_part(Call& call) {
  const Tensor x = call.input(0);
  const Tensor below = call.input(1);
  const Tensor above = call.input(2);
  require(x.rank() >= 2, "input must be at least 2-dim");
  require(below.rank() == 0 && above.rank() == 0, "num_lower and num_upper must be scalars");
  const std::int64_t rows = x.dim(x.rank() - 2);
  const std::int64_t columns = x.dim(x.rank() - 1);
  const std::int64_t lower = integer_at(below, 0);
  const std::int64_t upper = integer_at(above, 0);
  require(lower <= rows, "num_lower must be negative or less or equal to number of rows");
  require(upper <= columns, "num_upper must be negative or less or equal to number of columns");
  const Tensor y = call.output(0, x.dims());
  const auto size = static_cast<std::int64_t>(element_size(x.dtype()));
  if (y.count() == 0) return;
  parallel(y.count() / columns, 4 + columns * size / 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t row = k % rows;
      const std::int64_t first =
          std::min(columns, lower < 0 ? 0 : std::max<std::int64_t>(row - lower, 0));
      const std::int64_t last = upper < 0 ? columns : std::min(columns, row + upper + 1);
      char* out = y.write<char>() + k * columns * size;
      std::memset(out, 0, static_cast<std::size_t>(columns * size));
      if (first >= last) continue;
      std::memcpy(out + first * size, x.as<char>() + (k * columns + first) * size,
                  static_cast<std::size_t>((last - first) * size));
    }
  });
}

void matrix_diag(Call& call) {
  const Tensor x = call.input(0);
  require(x.rank() >= 1, "diagonal must be at least 1-dim");
  Dims dims(x.dims().begin(), x.dims().end());
  const std::int64_t n = dims.back();
  dims.push_back(n);
  check_dims(dims);
  const Tensor y = call.output(0, dims);
  if (y.count() == 0) return;
  const auto size = static_cast<std::int64_t>(element_size(x.dtype()));
  std::memset(y.write<char>(), 0, static_cast<std::size_t>(y.count() * size));
  const std::int64_t box[] = {x.count() / n, n};
  const std::int64_t out_steps[] = {n * n * size, (n + 1) * size};
  const std::int64_t in_steps[] = {n * size, size};
  move_box(static_cast<std::size_t>(size), box, y.write<char>(), out_steps, x.data(), in_steps);
}

void matrix_diag_part(Call& call) {
  const Tensor x = call.input(0);
  require(x.rank() >= 2, "input must be at least 2-dim");
  const std::int64_t rows = x.dim(x.rank() - 2);
  const std::int64_t columns = x.dim(x.rank() - 1);
  Dims dims(x.dims().begin(), x.dims().end() - 1);
  dims.back() = std::min(rows, columns);
  const Tensor y = call.output(0, dims);
  if (y.count() == 0) return;
  const auto size = static_cast<std::int64_t>(element_size(x.dtype()));
  const std::int64_t box[] = {y.count() / dims.back(), dims.back()};
  const std::int64_t steps[] = {rows * columns * size, (columns + 1) * size};
  gather_box(static_cast<std::size_t>(size), box, y.write<char>(), x.data(), steps);
}

class SparseToDense {
 public:
  explicit SparseToDense(const Node& node) : validates_(node.boolean("validate_indices")) {}
  void compute(Call& call) const {
    const Tensor indices = call.input(0);
    const Dims dims = int_vector(call.input(1), "output_shape");
    const Tensor values = call.input(2);
    const Tensor base = call.input(3);
    check_dims(dims);
    require(indices.rank() <= 2, "sparse_indices should be a scalar, vector, or matrix");
    const std::int64_t rows = indices.rank() == 0 ? 1 : indices.dim(0);
    const std::int64_t depth = indices.rank() == 2 ? indices.dim(1) : 1;
    require(depth == static_cast<std::int64_t>(dims.size()),
            "output_shape has incorrect number of elements");
    require(values.rank() == 0 || (values.rank() == 1 && values.dim(0) == rows),
            "sparse_values has incorrect shape");
    require(base.rank() == 0, "default_value should be a scalar.");
    const Tensor y = call.output(0, dims);
    const auto size = static_cast<std::int64_t>(element_size(y.dtype()));
    fill(static_cast<std::size_t>(size), y.write<char>(), y.count(), base.data());
    std::int64_t before = -1;
    for (std::int64_t k = 0; k < rows; ++k) {
      const std::int64_t at = place(indices, k, dims);
      require(!validates_ || at > before, "sparse_indices must be sorted and without repeats");
      before = at;
      std::memcpy(y.write<char>() + at * size,
                  values.as<char>() + (values.rank() == 0 ? 0 : k * size),
                  static_cast<std::size_t>(size));
    }
  }

 private:
  static std::int64_t place(const Tensor& indices, std::int64_t row, const Dims& dims) {
    std::int64_t out = 0;
    for (std::size_t k = 0; k < dims.size(); ++k) {
      const std::int64_t at = integer_at(
          indices, row * static_cast<std::int64_t>(dims.size()) + static_cast<std::int64_t>(k));
      if (at < 0 || at >= dims[k]) {
        fail(TF_INVALID_ARGUMENT, "Indices are not valid (out of bounds). Shape: " + text(dims));
      }
      out = out * dims[k] + at;
    }
    return out;
  }
  bool validates_;
};

}  // namespace

const Family registered([] {
  const std::vector<Constraint> any = {{"T", plain_types()}};
  add<deal_any<true>>("SpaceToBatchND", any);
  add<deal_any<false>>("BatchToSpaceND", any);
  add<DealSquare<true>>("SpaceToBatch", any);
  add<DealSquare<false>>("BatchToSpace", any);
  for (const std::string prefix : {"", "Batch"}) {
    add<band_part>((prefix + "MatrixBandPart").c_str(), any);
    add<matrix_diag>((prefix + "MatrixDiag").c_str(), any);
    add<matrix_diag_part>((prefix + "MatrixDiagPart").c_str(), any);
  }
  add_moving<SparseToDense>("SparseToDense");
});

}  // namespace drystone::cpu
