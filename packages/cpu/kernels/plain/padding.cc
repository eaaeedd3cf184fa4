// Tensors with a border, repeated, or filled; and blocks of space dealt to the batch.
#include <algorithm>
#include <cstring>

#include "core/family.h"
#include "core/moving_text.h"

namespace drystone::cpu {
namespace {

Dims in_bytes(Dims steps, std::size_t size) {
  for (std::int64_t& step : steps) step *= static_cast<std::int64_t>(size);
  return steps;
}

// Numbers of a border of each dim: before, after, before, ...
Dims borders(const Tensor& given, std::int64_t rank, const char* what) {
  if (given.rank() != 2 || given.dim(0) != rank || given.dim(1) != 2) {
    fail(TF_INVALID_ARGUMENT, std::string(what) + " must be a matrix of " + std::to_string(rank) +
                                  " x 2, not of shape " + text(given.dims()));
  }
  Dims out = integers(given);
  for (const std::int64_t number : out) require(number >= 0, "paddings must be non-negative");
  return out;
}

Dims with_borders(DimsView dims, const Dims& pairs) {
  Dims out(dims.begin(), dims.end());
  for (std::size_t k = 0; k < out.size(); ++k) {
    for (std::size_t side = 0; side < 2; ++side) {
      if (__builtin_add_overflow(out[k], pairs[2 * k + side], &out[k]))
        fail_too_many(text(dims) + " with paddings " + text(pairs));
    }
  }
  check_dims(out);
  return out;
}

// Writes a border of an output whose interior is there already: dim by dim from the last, so that a
// dim's border spans all of the dims after it.
class Border {
 public:
  Border(const Tensor& y, DimsView inner, const Dims& pairs)
      : y_(y),
        inner_(inner),
        pairs_(pairs),
        size_(element_size(y.dtype())),
        steps_(in_bytes(steps_of(y.dims()), size_)) {}

  std::size_t size() const { return size_; }
  const Dims& steps() const { return steps_; }
  std::int64_t step(std::size_t k) const { return steps_[k]; }

  // Where the interior of dims before `dim` begins.
  char* corner(std::size_t dim) const {
    std::int64_t start = 0;
    for (std::size_t k = 0; k < dim; ++k) start += pairs_[2 * k] * steps_[k];
    return y_.write<char>() + start;
  }
  // The box of `count` places of `dim`, the interior of dims before it and all of those after it.
  Dims box(std::size_t dim, std::int64_t count) const {
    Dims out(inner_.begin(), inner_.end());
    out[dim] = count;
    for (std::size_t k = dim + 1; k < out.size(); ++k) out[k] = y_.dims()[k];
    return out;
  }
  void put_interior(const Tensor& x) const {
    move_box(size_, inner_, corner(inner_.size()), steps_, x.data(),
             in_bytes(steps_of(x.dims()), size_));
  }

 private:
  const Tensor& y_;
  DimsView inner_;
  const Dims& pairs_;
  std::size_t size_;
  Dims steps_;
};

template <bool kHasValue>
void pad(Call& call) {
  const Tensor x = call.input(0);
  const Dims pairs = borders(call.input(1), x.rank(), "paddings");
  const Dims dims = with_borders(x.dims(), pairs);
  static constexpr char kZeros[24] = {};
  const void* value = kZeros;
  if constexpr (kHasValue) {
    const Tensor given = call.input(2);
    require(given.rank() == 0, "the padding value must be a scalar");
    value = given.data();
  }
  if (std::all_of(pairs.begin(), pairs.end(), [](std::int64_t n) { return n == 0; }))
    return call.share(0, 0, dims);
  const Tensor y = call.output(0, dims);
  const Border border(y, x.dims(), pairs);
  if (x.count() == 0) return fill(border.size(), y.write<char>(), y.count(), value);
  border.put_interior(x);
  const Dims still(dims.size(), 0);
  for (std::size_t k = dims.size(); k-- > 0;) {
    char* first = border.corner(k);
    move_box(border.size(), border.box(k, pairs[2 * k]), first, border.steps(), value, still);
    char* after = first + (pairs[2 * k] + x.dims()[k]) * border.step(k);
    move_box(border.size(), border.box(k, pairs[2 * k + 1]), after, border.steps(), value, still);
  }
}

class MirrorPad {
 public:
  explicit MirrorPad(const Node& node) {
    const std::string mode = node.string("mode");
    require(mode == "REFLECT" || mode == "SYMMETRIC", "mode must be REFLECT or SYMMETRIC");
    offset_ = mode == "REFLECT" ? 1 : 0;
  }
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    const Dims pairs = borders(call.input(1), x.rank(), "paddings");
    const Dims dims = with_borders(x.dims(), pairs);
    for (std::size_t k = 0; k < dims.size(); ++k) {
      if (std::max(pairs[2 * k], pairs[2 * k + 1]) > x.dims()[k] - offset_) {
        fail(TF_INVALID_ARGUMENT, "paddings must not be greater than the dimension size: " +
                                      text(pairs) + " for " + text(x.dims()));
      }
    }
    const Tensor y = call.output(0, dims);
    if (y.count() == 0) return;
    const Border border(y, x.dims(), pairs);
    border.put_interior(x);
    for (std::size_t k = dims.size(); k-- > 0;) {
      const std::int64_t step = border.step(k);
      char* interior = border.corner(k) + pairs[2 * k] * step;
      mirror(border, k, pairs[2 * k], interior - step, -step, interior + offset_ * step, step);
      char* last = interior + (x.dims()[k] - 1) * step;
      mirror(border, k, pairs[2 * k + 1], last + step, step, last - offset_ * step, -step);
    }
  }

 private:
  static void mirror(const Border& border, std::size_t k, std::int64_t count, char* out,
                     std::int64_t out_step, const char* in, std::int64_t in_step) {
    Dims out_steps = border.steps();
    Dims in_steps = border.steps();
    out_steps[k] = out_step;
    in_steps[k] = in_step;
    move_box(border.size(), border.box(k, count), out, out_steps, in, in_steps);
  }
  std::int64_t offset_ = 0;
};

void tile(Call& call) {
  const Tensor x = call.input(0);
  const Dims times = int_vector(call.input(1), "multiples");
  require(static_cast<int>(times.size()) == x.rank(),
          "multiples must hold one number for each dimension");
  const std::size_t size = element_size(x.dtype());
  const Dims x_steps = in_bytes(steps_of(x.dims()), size);
  Dims total(x.dims().begin(), x.dims().end());
  Dims dims;
  Dims steps;
  for (std::size_t k = 0; k < times.size(); ++k) {
    require(times[k] >= 0, "Expected multiples to be non-negative");
    if (__builtin_mul_overflow(total[k], times[k], &total[k]))
      fail_too_many(text(x.dims()) + " as often as " + text(times));
    dims.insert(dims.end(), {times[k], x.dims()[k]});
    steps.insert(steps.end(), {0, x_steps[k]});
  }
  check_dims(total);
  if (product(total) == x.count()) return call.share(0, 0, total);
  const Tensor y = call.output(0, total);
  gather_box(size, dims, y.write<char>(), x.data(), steps);
}

void broadcast_to(Call& call) {
  const Tensor x = call.input(0);
  const Dims dims = int_vector(call.input(1), "the shape");
  check_dims(dims);
  const auto rank = static_cast<std::size_t>(x.rank());
  bool fits = dims.size() >= rank;
  const std::size_t size = element_size(x.dtype());
  const Dims x_steps = in_bytes(steps_of(x.dims()), size);
  Dims steps(dims.size(), 0);
  for (std::size_t k = 0; fits && k < rank; ++k) {
    const std::size_t at = dims.size() - rank + k;
    fits = x.dims()[k] == 1 || x.dims()[k] == dims[at];
    if (x.dims()[k] == dims[at]) steps[at] = x_steps[k];
  }
  if (!fits) {
    fail(TF_INVALID_ARGUMENT, "Incompatible shapes: " + text(x.dims()) + " vs. " + text(dims));
  }
  if (product(dims) == x.count()) return call.share(0, 0, dims);
  const Tensor y = call.output(0, dims);
  gather_box(size, dims, y.write<char>(), x.data(), steps);
}

void fill_with(Call& call) {
  const Tensor given = call.input(0);
  const Tensor value = call.input(1);
  require(value.count() == 1 && value.rank() <= 1, "value must be a scalar");
  require(given.rank() <= 1, "dims must be a vector");
  const Dims dims = integers(given);
  check_dims(dims);
  const Tensor y = call.output(0, dims);
  fill(element_size(y.dtype()), y.write<char>(), y.count(), value.data());
}

}  // namespace

const Family registered([] {
  add_moving<pad<false>>("Pad");
  add_moving<pad<true>>("PadV2");
  add_moving<MirrorPad>("MirrorPad");
  add_moving<tile>("Tile");
  add_moving<broadcast_to>("BroadcastTo");
  add_moving<fill_with>("Fill");
});

}  // namespace drystone::cpu
