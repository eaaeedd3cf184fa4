// Arithmetic and reductions on sparse tensors.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numeric>

#include "core/family.h"
#include "core/widen.h"
#include "plain/combine.h"
#include "plain/sparse.h"

namespace drystone::cpu {
namespace {

// A dense tensor with the sparse elements added.
void dense_add(Call& call) {
  const Sparse x(call.input(0), call.input(1), call.input(2));
  const Tensor b = call.input(3);
  require(std::ranges::equal(b.dims(), x.dims), "both terms must have one shape");
  x.check_inside();
  const Tensor y = call.output(0, b.dims(), 3);
  const auto size = static_cast<std::int64_t>(element_size(y.dtype()));
  if (y.data() != b.data()) copy_bytes(y.write<char>(), b.data(), b.count() * size);
  const Combine combine = combine_of(Operation::kAdd, y.dtype());
  for (std::int64_t k = 0; k < x.count(); ++k) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < x.dims.size(); ++d) place = place * x.dims[d] + x.row(k)[d];
    combine(y.write<char>() + place * size, x.values.as<char>() + k * size, 1, 1);
  }
}

// Whether an element is 0, or -0.
bool is_zero(TF_DataType dtype, const char* element) {
  const auto parts = [element](auto bits, std::size_t count, bool is_signed) {
    using Word = decltype(bits);
    const auto* words = reinterpret_cast<const PackedBits<Word>*>(element);
    for (std::size_t k = 0; k < count; ++k) {
      const Word word = words[k].value;
      if ((is_signed ? static_cast<Word>(word << 1) : word) != 0) return false;
    }
    return true;
  };
  switch (dtype) {
    case TF_HALF: case TF_BFLOAT16: return parts(std::uint16_t(), 1, true);
    case TF_FLOAT: return parts(std::uint32_t(), 1, true);
    case TF_DOUBLE: return parts(std::uint64_t(), 1, true);
    case TF_COMPLEX64: return parts(std::uint32_t(), 2, true);
    case TF_COMPLEX128: return parts(std::uint64_t(), 2, true);
    default: return parts(std::uint8_t(), element_size(dtype), false);
  }
}

// The values combined with those of a dense tensor that is broadcast to the sparse one's shape.
template <Operation kOperation>
void with_dense(Call& call) {
  const Sparse x(call.input(0), call.input(1), call.input(2));
  x.check_elements();
  const Tensor dense = call.input(3);
  const std::size_t rank = x.dims.size();
  const auto held = static_cast<std::size_t>(dense.rank());
  bool fits = held <= rank;
  Dims steps = steps_of(dense.dims());
  for (std::size_t d = 0; fits && d < held; ++d) {
    const std::int64_t dim = dense.dims()[d];
    fits = dim == 1 || dim == x.dims[rank - held + d];
    if (dim == 1) steps[d] = 0;
  }
  require(fits, "the dense tensor must broadcast to the sparse one");
  x.check_inside();
  const Tensor y = call.output(0, x.values.dims());
  const auto size = static_cast<std::int64_t>(element_size(y.dtype()));
  const Combine combine = combine_of(kOperation, y.dtype());
  std::memcpy(y.write<char>(), x.values.data(), static_cast<std::size_t>(y.count() * size));
  auto* others = call.scratch<char>(std::max<std::int64_t>(y.count() * size, 1));
  for (std::int64_t k = 0; k < x.count(); ++k) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < held; ++d) place += x.row(k)[rank - held + d] * steps[d];
    std::memcpy(others + k * size, dense.as<char>() + place * size,
                static_cast<std::size_t>(size));
  }
  for (std::int64_t k = 0; kOperation == Operation::kDiv && k < x.count(); ++k)
    require(!is_zero(y.dtype(), others + k * size), "SparseDenseCwiseDiv cannot divide by zero");
  combine(y.write<char>(), others, y.count(), 1);
}

// Elements whose indices in some dims are equal, in row-major order of these: each with the number
// of its group.
class Groups {
 public:
  Groups(const Sparse& x, std::vector<std::size_t> dims) : x_(x), dims_(std::move(dims)) {
    order_.resize(static_cast<std::size_t>(x.count()));
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(),
                     [this](std::int64_t a, std::int64_t b) { return before(a, b); });
  }
  // body(begin, end) of each group: positions in order().
  template <class Body>
  void each(Body&& body) const {
    for (std::size_t begin = 0; begin < order_.size();) {
      std::size_t end = begin + 1;
      while (end < order_.size() && !before(order_[begin], order_[end])) ++end;
      body(begin, end);
      begin = end;
    }
  }
  const std::vector<std::int64_t>& order() const { return order_; }

 private:
  bool before(std::int64_t a, std::int64_t b) const {
    for (const std::size_t d : dims_)
      if (x_.row(a)[d] != x_.row(b)[d]) return x_.row(a)[d] < x_.row(b)[d];
    return false;
  }
  const Sparse& x_;
  std::vector<std::size_t> dims_;
  std::vector<std::int64_t> order_;
};

// Dims that stay when `axes` are reduced.
std::vector<std::size_t> kept_dims(const Sparse& x, const Tensor& axes) {
  require(axes.rank() <= 1, "reduction_axes must be a scalar or vector");
  std::vector<bool> gone(x.dims.size(), false);
  for (const std::int64_t axis : integers(axes)) {
    const int at = wrap_axis(axis, static_cast<int>(x.dims.size()), "reduction_axes");
    gone[static_cast<std::size_t>(at)] = true;
  }
  std::vector<std::size_t> out;
  for (std::size_t d = 0; d < gone.size(); ++d)
    if (!gone[d]) out.push_back(d);
  return out;
}

template <Operation kOperation, bool kSparseResult>
class Reduce {
 public:
  explicit Reduce(const Node& node) : keeps_(node.boolean("keep_dims")) {}
  void compute(Call& call) const {
    const Sparse x(call.input(0), call.input(1), call.input(2));
    x.check_elements();
    x.check_inside();
    const std::vector<std::size_t> kept = kept_dims(x, call.input(3));
    const Groups groups(x, kept);
    const auto size = static_cast<std::int64_t>(element_size(x.values.dtype()));
    std::vector<char> results;
    std::vector<std::int64_t> firsts;
    const Combine combine = combine_of(kOperation, x.values.dtype());
    groups.each([&](std::size_t begin, std::size_t end) {
      const auto element = [&](std::size_t k) {
        return x.values.as<char>() + groups.order()[k] * size;
      };
      firsts.push_back(groups.order()[begin]);
      results.insert(results.end(), element(begin), element(begin) + size);
      for (std::size_t k = begin + 1; k < end; ++k)
        combine(results.data() + results.size() - size, element(k), 1, 1);
    });
    if constexpr (kSparseResult) put_sparse(call, x, kept, firsts, results, size);
    else put_dense(call, x, kept, firsts, results, size);
  }

 private:
  void put_dense(Call& call, const Sparse& x, const std::vector<std::size_t>& kept,
                 const std::vector<std::int64_t>& firsts, const std::vector<char>& results,
                 std::int64_t size) const {
    Dims dims;
    for (std::size_t d = 0, k = 0; d < x.dims.size(); ++d) {
      const bool stays = k < kept.size() && kept[k] == d;
      if (stays || keeps_) dims.push_back(stays ? x.dims[d] : 1);
      k += stays ? 1 : 0;
    }
    check_dims(dims);
    const Tensor y = call.output(0, dims);
    std::memset(y.write<char>(), 0, static_cast<std::size_t>(y.count() * size));
    for (std::size_t k = 0; k < firsts.size(); ++k) {
      std::int64_t place = 0;
      for (const std::size_t d : kept) place = place * x.dims[d] + x.row(firsts[k])[d];
      std::memcpy(y.write<char>() + place * size,
                  results.data() + static_cast<std::int64_t>(k) * size,
                  static_cast<std::size_t>(size));
    }
  }
  void put_sparse(Call& call, const Sparse& x, const std::vector<std::size_t>& kept,
                  const std::vector<std::int64_t>& firsts, const std::vector<char>& results,
                  std::int64_t size) const {
    const auto count = static_cast<std::int64_t>(firsts.size());
    std::vector<std::pair<std::size_t, bool>> columns;  // dims of the result, whether kept
    for (std::size_t d = 0, k = 0; d < x.dims.size(); ++d) {
      const bool stays = k < kept.size() && kept[k] == d;
      if (stays || keeps_) columns.emplace_back(d, stays);
      k += stays ? 1 : 0;
    }
    const auto rank = static_cast<std::int64_t>(columns.size());
    auto* indices = call.output(0, {{count, rank}}).write<std::int64_t>();
    for (const std::int64_t first : firsts)
      for (const auto& [d, stays] : columns) *indices++ = stays ? x.row(first)[d] : 0;
    char* values = call.output(1, {{count}}).write<char>();
    std::copy_n(results.data(), count * size, values);  // of no rows, too: there is no data then
    auto* shape = call.output(2, {{rank}}).write<std::int64_t>();
    for (const auto& [d, stays] : columns) *shape++ = stays ? x.dims[d] : 1;
  }
  bool keeps_;
};

template <class T>
void softmax(Call& call) {
  const Sparse x(call.input(0), call.input(1), call.input(2));
  x.check_elements();
  require(x.dims.size() >= 2, "the rank must be 2 or more");
  x.check_inside();
  std::vector<std::size_t> rows(x.dims.size() - 1);
  std::iota(rows.begin(), rows.end(), 0);
  const Groups groups(x, rows);
  const T* in = x.values.as<T>();
  T* out = call.output(0, x.values.dims()).template write<T>();
  groups.each([&](std::size_t begin, std::size_t end) {
    const auto& order = groups.order();
    Wide<T> top = widen(in[order[begin]]);
    for (std::size_t k = begin; k < end; ++k) top = std::max(top, widen(in[order[k]]));
    Wide<T> total = 0;
    for (std::size_t k = begin; k < end; ++k) {
      const Wide<T> power = std::exp(widen(in[order[k]]) - top);
      out[order[k]] = narrow<T>(power);
      total += power;
    }
    for (std::size_t k = begin; k < end; ++k)
      out[order[k]] = narrow<T>(widen(out[order[k]]) / total);
  });
}

template <Operation kOperation>
void add_reductions(const std::string& name) {
  const std::vector<Constraint> types = {{"T", types_of(kOperation)}};
  add<Reduce<kOperation, false>>(("SparseReduce" + name).c_str(), types);
  add<Reduce<kOperation, true>>(("SparseReduce" + name + "Sparse").c_str(), types);
}

}  // namespace

const Family registered([] {
  add<dense_add>("SparseTensorDenseAdd", {{"T", types_of(Operation::kAdd)}});
  add<with_dense<Operation::kAdd>>("SparseDenseCwiseAdd", {{"T", types_of(Operation::kAdd)}});
  add<with_dense<Operation::kMul>>("SparseDenseCwiseMul", {{"T", types_of(Operation::kMul)}});
  add<with_dense<Operation::kDiv>>("SparseDenseCwiseDiv", {{"T", types_of(Operation::kDiv)}});
  add_reductions<Operation::kAdd>("Sum");
  add_reductions<Operation::kMax>("Max");
  add<softmax<float>>("SparseSoftmax", {{"T", {TF_FLOAT}}});
  add<softmax<double>>("SparseSoftmax", {{"T", {TF_DOUBLE}}});
  add<softmax<Half>>("SparseSoftmax", {{"T", {TF_HALF}}});
});

}  // namespace drystone::cpu
