// Rotated tensors, gradients of tiles and mirrored borders, diagonals of matrices in every form.
#include <algorithm>
#include <cstring>

#include "core/family.h"
#include "core/moving_text.h"
#include "plain/combine.h"

namespace drystone::cpu {
namespace {

Dims byte_steps(const Tensor& x) {
  Dims out = steps_of(x.dims());
  for (std::int64_t& step : out) step *= static_cast<std::int64_t>(element_size(x.dtype()));
  return out;
}

// Moves the parts before and after the rotation of dim k, and those of later dims in each.
void roll_from(std::size_t k, const Dims& shifts, const Tensor& x, const Dims& steps, Dims& box,
               char* out, const char* in) {
  while (k < shifts.size() && shifts[k] == 0) ++k;
  if (k == shifts.size()) return move_box(element_size(x.dtype()), box, out, steps, in, steps);
  const std::int64_t size = x.dims()[k];
  const std::int64_t shift = shifts[k];
  box[k] = size - shift;
  roll_from(k + 1, shifts, x, steps, box, out + shift * steps[k], in);
  box[k] = shift;
  roll_from(k + 1, shifts, x, steps, box, out, in + (size - shift) * steps[k]);
  box[k] = size;
}

void roll(Call& call) {
  const Tensor x = call.input(0);
  const Tensor shift = call.input(1);
  const Tensor axis = call.input(2);
  require(x.rank() >= 1, "input must be 1-D or higher");
  require(shift.rank() <= 1 && std::ranges::equal(shift.dims(), axis.dims()),
          "shift and axis must have the same size");
  Dims shifts(static_cast<std::size_t>(x.rank()), 0);
  for (std::int64_t k = 0; k < axis.count(); ++k) {
    const int at = wrap_axis(integer_at(axis, k), x.rank());
    const std::int64_t size = std::max<std::int64_t>(x.dim(at), 1);
    std::int64_t& sum = shifts[static_cast<std::size_t>(at)];
    sum = ((sum + integer_at(shift, k) % size) % size + size) % size;
  }
  const Tensor y = call.output(0, x.dims());
  if (y.count() == 0) return;
  Dims box(x.dims().begin(), x.dims().end());
  roll_from(0, shifts, x, byte_steps(x), box, y.write<char>(), x.as<char>());
}

// Adds `other` to `out`, both of these dims; rows are runs of the last dim.
void add_box(TF_DataType dtype, DimsView dims, char* out, const Dims& out_steps, const char* in,
             const Dims& in_steps, std::size_t k = 0) {
  const auto size = static_cast<std::int64_t>(element_size(dtype));
  if (k + 1 >= dims.size()) {
    const std::int64_t count = dims.empty() ? 1 : dims[k];
    const bool dense = dims.empty() || (out_steps[k] == size && in_steps[k] == size);
    const Combine sum = combine_of(Operation::kAdd, dtype);
    if (dense) return sum(out, in, count, 1);
    for (std::int64_t i = 0; i < count; ++i)
      sum(out + i * out_steps[k], in + i * in_steps[k], 1, 1);
    return;
  }
  for (std::int64_t i = 0; i < dims[k]; ++i) {
    add_box(dtype, dims, out + i * out_steps[k], out_steps, in + i * in_steps[k], in_steps, k + 1);
  }
}

// The sum of the tiles.
void tile_grad(Call& call) {
  const Tensor x = call.input(0);
  const Dims times = int_vector(call.input(1), "multiples");
  require(static_cast<int>(times.size()) == x.rank(),
          "multiples must hold one number for each dimension");
  Dims dims(x.dims().begin(), x.dims().end());
  std::int64_t tiles = 1;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    require(times[k] > 0 && dims[k] % times[k] == 0,
            "each dimension must be a whole number of tiles");
    dims[k] /= times[k];
    if (__builtin_mul_overflow(tiles, times[k], &tiles))
      fail(TF_INVALID_ARGUMENT, "there are too many tiles");
  }
  if (tiles == 1) return call.share(0, 0, dims);
  const Tensor y = call.output(0, dims);
  if (y.count() == 0) return;
  const Dims steps = byte_steps(x);
  const Dims out_steps = byte_steps(y);
  Dims at(dims.size(), 0);
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const char* in = x.as<char>();
    for (std::size_t k = 0; k < dims.size(); ++k) in += at[k] * dims[k] * steps[k];
    if (tile == 0) move_box(element_size(x.dtype()), dims, y.write<char>(), out_steps, in, steps);
    else add_box(x.dtype(), dims, y.write<char>(), out_steps, in, steps);
    for (std::size_t k = dims.size(); k-- > 0;) {
      if (++at[k] < times[k]) break;
      at[k] = 0;
    }
  }
}

// A border folded back and added, dim by dim, in a copy of the input.
class MirrorPadGrad {
 public:
  explicit MirrorPadGrad(const Node& node) {
    const std::string mode = node.string("mode");
    require(mode == "REFLECT" || mode == "SYMMETRIC", "mode must be REFLECT or SYMMETRIC");
    offset_ = mode == "REFLECT" ? 1 : 0;
  }
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    const Tensor given = call.input(1);
    require(given.rank() == 2 && given.dim(0) == x.rank() && given.dim(1) == 2,
            "paddings must be a matrix with 2 columns");
    const Dims pairs = integers(given);
    const Dims inner = inner_dims(x, pairs);
    const Tensor y = call.output(0, inner);
    const Dims steps = byte_steps(x);
    const std::size_t size = element_size(x.dtype());
    auto* work = call.scratch<char>(x.count() * static_cast<std::int64_t>(size));
    std::memcpy(work, x.data(), static_cast<std::size_t>(x.count()) * size);
    Dims box(x.dims().begin(), x.dims().end());
    char* start = work;
    for (std::size_t k = 0; k < inner.size(); ++k) {
      char* interior = start + pairs[2 * k] * steps[k];
      Dims back = steps;
      back[k] = -steps[k];
      box[k] = pairs[2 * k];
      if (box[k] > 0)
        add_box(x.dtype(), box, interior + offset_ * steps[k], steps, interior - steps[k], back);
      box[k] = pairs[2 * k + 1];
      char* last = interior + (inner[k] - 1) * steps[k];
      if (box[k] > 0)
        add_box(x.dtype(), box, last - offset_ * steps[k], back, last + steps[k], steps);
      box[k] = inner[k];
      start = interior;
    }
    gather_box(size, inner, y.write<char>(), start, steps);
  }

 private:
  Dims inner_dims(const Tensor& x, const Dims& pairs) const {
    Dims out(x.dims().begin(), x.dims().end());
    for (std::size_t k = 0; k < out.size(); ++k) {
      const std::int64_t before = pairs[2 * k];
      const std::int64_t after = pairs[2 * k + 1];
      require(before >= 0 && after >= 0, "paddings must be non-negative");
      require(before < out[k] && after < out[k] - before,
              "the paddings must leave something of each dimension");
      out[k] -= before + after;
      require(std::max(before, after) <= out[k] - offset_,
              "paddings must not be greater than the dimension size");
    }
    return out;
  }
  std::int64_t offset_ = 0;
};

// Packed diagonals, the highest first, of matrices: where each begins and how long it is.
class Diagonals {
 public:
  Diagonals() = default;  // the main one
  Diagonals(const Tensor& k, std::string_view align) : align_(align) {
    require(k.rank() <= 1 && (k.count() == 1 || k.count() == 2),
            "diag_index must be a scalar or a vector with one or two elements");
    low_ = integer_at(k, 0);
    high_ = integer_at(k, k.count() - 1);
    require(low_ <= high_, "lower_diag_index must not be larger than upper_diag_index");
  }
  std::int64_t low() const { return low_; }
  std::int64_t high() const { return high_; }
  std::int64_t count() const { return high_ - low_ + 1; }
  void set_matrix(std::int64_t rows, std::int64_t columns) {
    for (const std::int64_t d : {low_, high_}) {
      require(d == 0 || (-rows < d && d < columns), "diagonals must lie in the matrix");
    }
    rows_ = rows;
    columns_ = columns;
    width_ = 0;
    for (std::int64_t d = low_; d <= high_; ++d) width_ = std::max(width_, length(d));
  }
  std::int64_t width() const { return width_; }
  // move(matrix_place, packed_place, length, matrix_step) for each diagonal of a matrix.
  template <class Move>
  void each(Move&& move) const {
    for (std::int64_t d = high_; d >= low_; --d) {
      const std::int64_t n = length(d);
      const bool right =
          align_ == "RIGHT_RIGHT" || align_ == (d >= 0 ? "RIGHT_LEFT" : "LEFT_RIGHT");
      const std::int64_t packed = (high_ - d) * width_ + (right ? width_ - n : 0);
      if (n > 0)
        move(std::max<std::int64_t>(-d, 0) * columns_ + std::max<std::int64_t>(d, 0), packed, n);
    }
  }

 private:
  std::int64_t length(std::int64_t d) const {
    return std::max<std::int64_t>(
        std::min(rows_ + std::min<std::int64_t>(d, 0), columns_ - std::max<std::int64_t>(d, 0)), 0);
  }
  std::string_view align_;
  std::int64_t low_ = 0;
  std::int64_t high_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t width_ = 0;
};

// Copies diagonals between matrices and their packed form, for each of `batch` matrices.
void move_diagonals(const Diagonals& diagonals, std::size_t size, std::int64_t batch,
                    std::int64_t rows, std::int64_t columns, char* out, const char* in,
                    bool packs) {
  const auto bytes = static_cast<std::int64_t>(size);
  const std::int64_t matrix_bytes = rows * columns * bytes;
  const std::int64_t packed_bytes = diagonals.count() * diagonals.width() * bytes;
  diagonals.each([&](std::int64_t matrix, std::int64_t packed, std::int64_t n) {
    const std::int64_t box[] = {batch, n};
    const std::int64_t matrix_steps[] = {matrix_bytes, (columns + 1) * bytes};
    const std::int64_t packed_steps[] = {packed_bytes, bytes};
    if (packs)
      move_box(size, box, out + packed * bytes, packed_steps, in + matrix * bytes, matrix_steps);
    else move_box(size, box, out + matrix * bytes, matrix_steps, in + packed * bytes, packed_steps);
  });
}

class Aligned {
 public:
  explicit Aligned(const Node& node)
      : align_(node.has("align") ? node.string("align") : "LEFT_LEFT") {}

 protected:
  std::string align_;
};

class MatrixDiagPart : Aligned {
 public:
  using Aligned::Aligned;
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    const Tensor padding = call.input(2);
    require(x.rank() >= 2, "input must be at least 2-dim");
    Diagonals diagonals(call.input(1), align_);
    const std::int64_t rows = x.dim(x.rank() - 2);
    const std::int64_t columns = x.dim(x.rank() - 1);
    diagonals.set_matrix(rows, columns);
    require(padding.count() == 1, "padding_value must be a scalar");
    Dims dims(x.dims().begin(), x.dims().end() - 2);
    const std::int64_t batch = product(dims);
    if (diagonals.count() > 1) dims.push_back(diagonals.count());
    dims.push_back(diagonals.width());
    check_dims(dims);
    const Tensor y = call.output(0, dims);
    const std::size_t size = element_size(x.dtype());
    fill(size, y.write<char>(), y.count(), padding.data());
    move_diagonals(diagonals, size, batch, rows, columns, y.write<char>(), x.as<char>(), true);
  }
};

class MatrixSetDiag : Aligned {
 public:
  using Aligned::Aligned;
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    const Tensor diagonal = call.input(1);
    require(x.rank() >= 2, "input must be at least 2-dim");
    Diagonals diagonals = call.inputs() > 2 ? Diagonals(call.input(2), align_) : Diagonals();
    const std::int64_t rows = x.dim(x.rank() - 2);
    const std::int64_t columns = x.dim(x.rank() - 1);
    diagonals.set_matrix(rows, columns);
    Dims wanted(x.dims().begin(), x.dims().end() - 2);
    const std::int64_t batch = product(wanted);
    if (diagonals.count() > 1) wanted.push_back(diagonals.count());
    wanted.push_back(diagonals.width());
    require(std::ranges::equal(wanted, diagonal.dims()), "the diagonals must fit the input");
    const Tensor y = call.output(0, x.dims(), 0);
    const std::size_t size = element_size(x.dtype());
    if (y.data() != x.data())
      copy_bytes(y.write<char>(), x.data(), x.count() * static_cast<std::int64_t>(size));
    move_diagonals(diagonals, size, batch, rows, columns, y.write<char>(), diagonal.as<char>(),
                   false);
  }
};

class MatrixDiag : Aligned {
 public:
  using Aligned::Aligned;
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    for (int i = 2; i < 5; ++i)
      require(call.input(i).rank() == 0, "num_rows, num_cols and padding_value must be scalars");
    Diagonals diagonals(call.input(1), align_);
    const bool many = diagonals.count() > 1;
    require(x.rank() >= (many ? 2 : 1), "diagonal must be at least 1-dim");
    require(!many || x.dim(x.rank() - 2) == diagonals.count(),
            "the number of diagonals does not match the diagonal's dimension");
    const auto [rows, columns] = sizes(x.dim(x.rank() - 1), diagonals, integer_at(call.input(2), 0),
                                       integer_at(call.input(3), 0));
    diagonals.set_matrix(rows, columns);
    Dims dims(x.dims().begin(), x.dims().end() - (many ? 2 : 1));
    const std::int64_t batch = product(dims);
    dims.insert(dims.end(), {rows, columns});
    check_dims(dims);
    const Tensor y = call.output(0, dims);
    const std::size_t size = element_size(x.dtype());
    fill(size, y.write<char>(), y.count(), call.input(4).data());
    if (y.count() == 0) return;
    require(diagonals.width() == x.dim(x.rank() - 1),
            "the diagonals must be as long as those of the matrix");
    move_diagonals(diagonals, size, batch, rows, columns, y.write<char>(), x.as<char>(), false);
  }

 private:
  // Rows and columns of the matrix; -1 stands for the smallest that fit.
  static std::pair<std::int64_t, std::int64_t> sizes(std::int64_t longest, const Diagonals& d,
                                                     std::int64_t rows, std::int64_t columns) {
    const std::int64_t least_rows = longest - std::min<std::int64_t>(d.high(), 0);
    const std::int64_t least_columns = longest + std::max<std::int64_t>(d.low(), 0);
    if (rows == -1 && columns == -1) rows = columns = std::max(least_rows, least_columns);
    if (rows == -1) rows = least_rows;
    if (columns == -1) columns = least_columns;
    require(rows >= least_rows && columns >= least_columns, "the matrix must hold its diagonals");
    require(rows == least_rows || columns == least_columns,
            "the matrix must be as small as its diagonals allow in rows or in columns");
    return {rows, columns};
  }
};

}  // namespace

const Family registered([] {
  const std::vector<Constraint> any = {{"T", plain_types()}};
  const std::vector<Constraint> sums = {{"T", types_of(Operation::kAdd)}};
  add_moving<roll>("Roll");
  add<tile_grad>("TileGrad", sums);
  add<MirrorPadGrad>("MirrorPadGrad", sums);
  add<MatrixSetDiag>("MatrixSetDiag", any);
  add<MatrixSetDiag>("BatchMatrixSetDiag", any);
  for (const char* version : {"V2", "V3"}) {
    add<MatrixDiag>((std::string("MatrixDiag") + version).c_str(), any);
    add<MatrixDiagPart>((std::string("MatrixDiagPart") + version).c_str(), any);
    add<MatrixSetDiag>((std::string("MatrixSetDiag") + version).c_str(), any);
  }
});

}  // namespace drystone::cpu
