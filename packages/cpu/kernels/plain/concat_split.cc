// Tensors joined along a dim, and taken apart.
#include <cstring>

#include "core/family.h"
#include "core/moving_text.h"

namespace drystone::cpu {
namespace {

// Copies `rows` runs of `bytes` each between two layouts whose rows are so many bytes apart.
void copy_rows(std::int64_t rows, std::int64_t bytes, char* out, std::int64_t out_step,
               const char* in, std::int64_t in_step) {
  if (rows == 1) return copy_bytes(out, in, bytes);
  const std::int64_t dims[] = {rows, bytes};
  const std::int64_t out_steps[] = {out_step, 1};
  const std::int64_t in_steps[] = {in_step, 1};
  move_box(1, dims, out, out_steps, in, in_steps);
}

std::int64_t size_of(const Tensor& x) { return static_cast<std::int64_t>(element_size(x.dtype())); }

// Inputs [first, last), after checking that they fit.
void concatenate(Call& call, int first, int last, int axis_input) {
  const std::int64_t given = scalar_int(call.input(axis_input), "the concat dimension");
  const Tensor x = call.input(first);
  const int axis = wrap_axis(given, x.rank(), "the concat dimension");
  Dims dims(x.dims().begin(), x.dims().end());
  for (int i = first + 1; i < last; ++i) {
    const Tensor other = call.input(i);
    bool fits = other.rank() == x.rank();
    for (int k = 0; fits && k < x.rank(); ++k) fits = k == axis || other.dim(k) == x.dim(k);
    if (!fits) {
      fail(TF_INVALID_ARGUMENT, "ConcatOp : Dimension mismatch: shape[0] = " + text(x.dims()) +
                                    " vs. shape[" + std::to_string(i - first) +
                                    "] = " + text(other.dims()));
    }
    dims[static_cast<std::size_t>(axis)] += other.dim(axis);
  }
  check_dims(dims);
  const std::int64_t total = product(dims);
  for (int i = first; i < last; ++i) {
    if (call.input(i).count() == total) return call.share(0, i, dims);
  }
  const Tensor y = call.output(0, dims);
  const std::int64_t rows = span_of(dims, 0, axis);
  const std::int64_t width = size_of(y) * span_of(dims, axis, x.rank());
  char* out = y.write<char>();
  for (int i = first; i < last && total > 0; ++i) {
    const Tensor part = call.input(i);
    const std::int64_t bytes = size_of(y) * span_of(part.dims(), axis, part.rank());
    copy_rows(rows, bytes, out, width, part.as<char>(), bytes);
    out += bytes;
  }
}

void concat(Call& call) { concatenate(call, 1, call.inputs(), 0); }
void concat_v2(Call& call) { concatenate(call, 0, call.inputs() - 1, call.inputs() - 1); }

class Pack {
 public:
  explicit Pack(const Node& node) : axis_(node.integer("axis")) {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    const int count = call.inputs();
    for (int i = 1; i < count; ++i) {
      const Tensor other = call.input(i);
      bool fits = other.rank() == x.rank();
      for (int k = 0; fits && k < x.rank(); ++k) fits = other.dim(k) == x.dim(k);
      if (!fits) {
        fail(TF_INVALID_ARGUMENT,
             "Shapes of all inputs must match: values[0].shape = " + text(x.dims()) +
                 " != values[" + std::to_string(i) + "].shape = " + text(other.dims()));
      }
    }
    const int axis = wrap_axis(axis_, x.rank() + 1);
    Dims dims(x.dims().begin(), x.dims().end());
    dims.insert(dims.begin() + axis, count);
    if (count == 1) return call.share(0, 0, dims);
    check_dims(dims);
    const Tensor y = call.output(0, dims);
    const std::int64_t rows = span_of(x.dims(), 0, axis);
    const std::int64_t bytes = size_of(y) * span_of(x.dims(), axis, x.rank());
    for (int i = 0; i < count && y.count() > 0; ++i) {
      copy_rows(rows, bytes, y.write<char>() + i * bytes, count * bytes, call.input(i).as<char>(),
                bytes);
    }
  }

 private:
  std::int64_t axis_;
};

class Unpack {
 public:
  explicit Unpack(const Node& node) : axis_(node.integer("axis")), count_(node.integer("num")) {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    const int axis = wrap_axis(axis_, x.rank());
    if (x.dim(axis) != count_) {
      fail(TF_INVALID_ARGUMENT, "Input shape axis " + std::to_string(axis) + " must equal " +
                                    std::to_string(count_) + ", got shape " + text(x.dims()));
    }
    Dims dims(x.dims().begin(), x.dims().end());
    dims.erase(dims.begin() + axis);
    if (count_ == 1) return call.share(0, 0, dims);
    const std::int64_t rows = span_of(x.dims(), 0, axis);
    const std::int64_t bytes = size_of(x) * span_of(x.dims(), axis + 1, x.rank());
    for (int i = 0; i < count_; ++i) {
      const Tensor y = call.output(i, dims);
      if (y.count() == 0) continue;
      copy_rows(rows, bytes, y.write<char>(), bytes, x.as<char>() + i * bytes, count_ * bytes);
    }
  }

 private:
  std::int64_t axis_;
  std::int64_t count_;
};

void cut(Call& call, int input, int axis, const Dims& sizes) {
  const Tensor x = call.input(input);
  if (sizes.size() == 1) return call.share(0, input, x.dims());
  Dims dims(x.dims().begin(), x.dims().end());
  const std::int64_t rows = span_of(x.dims(), 0, axis);
  const std::int64_t inner = size_of(x) * span_of(x.dims(), axis + 1, x.rank());
  const char* in = x.as<char>();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    dims[static_cast<std::size_t>(axis)] = sizes[i];
    const Tensor y = call.output(static_cast<int>(i), dims);
    const std::int64_t bytes = sizes[i] * inner;
    if (y.count() > 0) copy_rows(rows, bytes, y.write<char>(), bytes, in, x.dim(axis) * inner);
    in += bytes;
  }
}

void split(Call& call) {
  const Tensor dim = call.input(0);
  const Tensor x = call.input(1);
  require(dim.rank() == 0, "split_dim must be a scalar");
  const int axis = wrap_axis(scalar_int(dim, "split_dim"), x.rank(), "split_dim");
  const int count = call.outputs();
  if (x.dim(axis) % count != 0) {
    fail(TF_INVALID_ARGUMENT,
         "Number of ways to split should evenly divide the split dimension, but got split_dim " +
             std::to_string(axis) + " (size = " + std::to_string(x.dim(axis)) + ") and num_split " +
             std::to_string(count));
  }
  cut(call, 1, axis, Dims(static_cast<std::size_t>(count), x.dim(axis) / count));
}

void split_v(Call& call) {
  const Tensor x = call.input(0);
  const int axis = wrap_axis(scalar_int(call.input(2), "split_dim"), x.rank(), "split_dim");
  Dims sizes = int_vector(call.input(1), "size_splits");
  require(static_cast<int>(sizes.size()) == call.outputs(),
          "size_splits must hold num_split numbers");
  std::int64_t rest = x.dim(axis);
  std::int64_t* open = nullptr;
  for (std::int64_t& size : sizes) {
    if (size == -1) {
      require(open == nullptr, "There can only be one -1 in the input.");
      open = &size;
    } else {
      require(size >= 0 && size <= rest, "the parts must add up to the split dimension");
      rest -= size;
    }
  }
  require(open != nullptr || rest == 0, "the parts must add up to the split dimension");
  if (open != nullptr) *open = rest;
  cut(call, 0, axis, sizes);
}

}  // namespace

const Family registered([] {
  add_moving<concat>("Concat");
  add_moving<concat_v2>("ConcatV2");
  add_moving<Pack>("Pack");
  add_moving<Unpack>("Unpack");
  add_moving<split>("Split");
  add_moving<split_v>("SplitV");
});

}  // namespace drystone::cpu
