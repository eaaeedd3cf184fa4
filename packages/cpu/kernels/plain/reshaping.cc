// Other dims for the same elements, what the dims are, and arithmetic with them.
#include <algorithm>

#include "core/family.h"
#include "core/moving.h"

namespace drystone::cpu {
namespace {

// The dim that -1 stands for; beside a 0 it is what the others but zeros leave.
std::int64_t inferred(const Tensor& x, const Dims& dims) {
  std::int64_t rest = 1;
  std::int64_t held = 1;
  for (const std::int64_t dim : dims) {
    if (dim == -1) continue;
    if (dim != 0 && __builtin_mul_overflow(held, dim, &held)) {
      fail(TF_INVALID_ARGUMENT, "the sizes " + text(dims) + " are too large");
    }
    rest = rest == 0 || dim == 0 ? 0 : held;
  }
  if (rest == 0 && x.count() == 0) {
    std::int64_t have = 1;
    for (const std::int64_t dim : x.dims()) have *= std::max<std::int64_t>(dim, 1);
    return have / held;
  }
  if (rest == 0 || x.count() % rest != 0) {
    fail(TF_INVALID_ARGUMENT, "Input to reshape is a tensor with " + std::to_string(x.count()) +
                                  " values, but the requested shape requires a multiple of " +
                                  std::to_string(rest));
  }
  return x.count() / rest;
}

void reshape(Call& call) {
  const Tensor x = call.input(0);
  const Tensor shape = call.input(1);
  if (shape.rank() > 1)
    fail(TF_INVALID_ARGUMENT, "sizes input must be 1-D, not shape " + text(shape.dims()));
  Dims dims = integers(shape);
  std::int64_t known = 1;
  std::int64_t* open = nullptr;
  for (std::int64_t& dim : dims) {
    if (dim == -1) {
      require(open == nullptr, "only one input size may be -1");
      open = &dim;
    }
    require(dim >= -1, "sizes must not be negative");
  }
  if (open != nullptr) *open = inferred(x, dims);
  check_dims(dims);
  known = product(dims);
  if (known != x.count()) {
    fail(TF_INVALID_ARGUMENT, "Input to reshape is a tensor with " + std::to_string(x.count()) +
                                  " values, but the requested shape has " + std::to_string(known));
  }
  call.share(0, 0, dims);
}

void expand_dims(Call& call) {
  const Tensor x = call.input(0);
  const int axis = wrap_axis(scalar_int(call.input(1), "dim"), x.rank() + 1, "dim");
  Dims dims(x.dims().begin(), x.dims().end());
  dims.insert(dims.begin() + axis, 1);
  call.share(0, 0, dims);
}

class Squeeze {
 public:
  explicit Squeeze(const Node& node) : axes_(node.integers("squeeze_dims")) {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    std::vector<bool> gone(static_cast<std::size_t>(x.rank()), false);
    for (const std::int64_t given : axes_) {
      const int axis = wrap_axis(given, x.rank(), "squeeze_dims");
      if (x.dim(axis) != 1) {
        fail(TF_INVALID_ARGUMENT, "Can not squeeze dim[" + std::to_string(axis) +
                                      "], expected a dimension of 1, got " +
                                      std::to_string(x.dim(axis)));
      }
      gone[static_cast<std::size_t>(axis)] = true;
    }
    Dims dims;
    for (int k = 0; k < x.rank(); ++k) {
      const bool drop = axes_.empty() ? x.dim(k) == 1 : gone[static_cast<std::size_t>(k)];
      if (!drop) dims.push_back(x.dim(k));
    }
    call.share(0, 0, dims);
  }

 private:
  std::vector<std::int64_t> axes_;
};

// Writes a size as int32 or int64; fails where it does not fit.
void put_size(const Tensor& out, std::int64_t k, std::int64_t size) {
  if (out.dtype() == TF_INT64) {
    out.write<std::int64_t>()[k] = size;
    return;
  }
  require(size <= INT32_MAX, "a size must fit in the attribute out_type: ask for out_type=int64");
  out.write<std::int32_t>()[k] = static_cast<std::int32_t>(size);
}

void put_dims(const Call& call, int i, DimsView dims) {
  const std::int64_t rank = static_cast<std::int64_t>(dims.size());
  const Tensor out = call.output(i, {&rank, 1});
  for (std::int64_t k = 0; k < rank; ++k) put_size(out, k, dims[static_cast<std::size_t>(k)]);
}

void shape(Call& call) {
  const int count = call.inputs();
  for (int i = 0; i < count; ++i) put_dims(call, i, call.input(i).dims());
}

void size(Call& call) { put_size(call.output(0, {}), 0, call.input(0).count()); }
void rank(Call& call) { call.output(0, {}).write<std::int32_t>()[0] = call.input(0).rank(); }
void variable_shape(Call& call) { put_dims(call, 0, call.variable(0).dims()); }

// The shape that two shapes broadcast to; both get its rank.
Dims joint_shape(Dims& a, Dims& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  a.insert(a.begin(), rank - a.size(), 1);
  b.insert(b.begin(), rank - b.size(), 1);
  Dims out = a;
  for (std::size_t k = 0; k < rank; ++k) {
    if (a[k] == 1) out[k] = b[k];
    else if (b[k] != 1 && b[k] != a[k])
      fail(TF_INVALID_ARGUMENT, "Incompatible shapes: " + text(a) + " vs. " + text(b));
  }
  return out;
}

void broadcast_args(Call& call) {
  Dims a = int_vector(call.input(0), "a shape");
  Dims b = int_vector(call.input(1), "a shape");
  put_dims(call, 0, joint_shape(a, b));
}

// For each of two shapes, the axes of their broadcast over which its gradient is summed.
void broadcast_gradient_args(Call& call) {
  Dims a = int_vector(call.input(0), "a shape");
  Dims b = int_vector(call.input(1), "a shape");
  const bool same = a == b;
  joint_shape(a, b);
  for (int i = 0; i < 2; ++i) {
    const Dims& dims = i == 0 ? a : b;
    Dims axes;
    for (std::size_t k = 0; k < dims.size() && !same; ++k) {
      if (dims[k] == 1) axes.push_back(static_cast<std::int64_t>(k));
    }
    put_dims(call, i, axes);
  }
}

template <class T>
void invert_permutation(Call& call) {
  const Tensor x = call.input(0);
  require(x.rank() == 1, "invert_permutation expects a 1D vector.");
  const std::int64_t count = x.count();
  const Tensor y = call.output(0, x.dims());
  T* out = y.write<T>();
  std::fill_n(out, count, T{-1});
  for (std::int64_t k = 0; k < count; ++k) {
    const T at = x.as<T>()[k];
    if (at < 0 || at >= count) {
      fail(TF_INVALID_ARGUMENT,
           std::to_string(at) + " is not between 0 and " + std::to_string(count));
    }
    if (out[at] != -1)
      fail(TF_INVALID_ARGUMENT, std::to_string(at) + " is duplicated in the input.");
    out[at] = static_cast<T>(k);
  }
}

// Where each of several shapes begins in the concatenation.
void concat_offset(Call& call) {
  const Dims first = int_vector(call.input(1), "a shape");
  require(call.input(0).rank() == 0, "concat_dim must be a scalar");
  const int axis = wrap_axis(scalar_int(call.input(0), "concat_dim"),
                             static_cast<int>(first.size()), "concat_dim");
  std::int64_t total = 0;
  for (int i = 0; i + 1 < call.inputs(); ++i) {
    const Dims row = int_vector(call.input(i + 1), "a shape");
    bool fits = row.size() == first.size();
    for (std::size_t k = 0; fits && k < row.size(); ++k)
      fits = row[k] == first[k] || static_cast<int>(k) == axis;
    if (!fits)
      fail(TF_INVALID_ARGUMENT,
           "shapes " + text(first) + " and " + text(row) + " cannot be joined");
    Dims offset(row.size(), 0);
    offset[static_cast<std::size_t>(axis)] = total;
    total += row[static_cast<std::size_t>(axis)];
    put_dims(call, i, offset);
  }
}

}  // namespace

const Family registered([] {
  add<reshape>("Reshape");
  add<expand_dims>("ExpandDims");
  add<Squeeze>("Squeeze");
  add<shape>("Shape");
  add<shape>("ShapeN");
  add<size>("Size");
  add<rank>("Rank");
  add<variable_shape>("VariableShape");
  add<broadcast_args>("BroadcastArgs");
  add<broadcast_gradient_args>("BroadcastGradientArgs");
  add<concat_offset>("ConcatOffset");
  add<invert_permutation<std::int32_t>>("InvertPermutation", {{"T", {TF_INT32}}});
  add<invert_permutation<std::int64_t>>("InvertPermutation", {{"T", {TF_INT64}}});
});

}  // namespace drystone::cpu
