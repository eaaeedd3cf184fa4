// Two sparse tensors of one shape combined element by element, and the gradient of their sum.
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

using Row = std::span<const std::int64_t>;

bool before(Row a, Row b) { return std::ranges::lexicographical_compare(a, b); }

// The places where one of two tensors has an element, in row-major order, with the elements of each
// there: 0 where it has none, the last where it has several.
class Union {
 public:
  Union(const Sparse& a, const Sparse& b)
      : rank_(static_cast<std::size_t>(a.rank())),
        size_(element_size(a.values.dtype())),
        both_{&a, &b} {
    require(a.dims == b.dims, "both sparse tensors must have one shape");
    require(a.rank() > 0, "both sparse tensors must have a rank");
    order_.resize(static_cast<std::size_t>(a.count() + b.count()));
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::stable_sort(order_, [this](auto x, auto y) { return before(row(x), row(y)); });
    for (std::size_t k = 0; k < order_.size(); ++k) {
      if (k == 0 || before(row(order_[k - 1]), row(order_[k]))) begin_group(order_[k]);
      else is_single_.back() = false;
      put(order_[k]);
    }
  }
  std::int64_t count() const { return static_cast<std::int64_t>(firsts_.size()); }
  bool is_single(std::int64_t k) const { return is_single_[static_cast<std::size_t>(k)]; }
  // Those of the first tensor, which become the results, and of the second.
  char* left() { return left_.data(); }
  const char* right() const { return right_.data(); }
  std::size_t size() const { return size_; }

  // Writes the indices of place `k`; what is behind them.
  std::int64_t* write_row(std::int64_t k, std::int64_t* out) const {
    return std::ranges::copy(row(firsts_[static_cast<std::size_t>(k)]), out).out;
  }

 private:
  bool is_right(std::int64_t k) const { return k >= both_[0]->count(); }
  const Sparse& owner(std::int64_t k) const { return *both_[is_right(k) ? 1 : 0]; }
  std::int64_t own(std::int64_t k) const { return is_right(k) ? k - both_[0]->count() : k; }
  Row row(std::int64_t k) const { return {owner(k).row(own(k)), rank_}; }
  void begin_group(std::int64_t k) {
    firsts_.push_back(k);
    is_single_.push_back(true);
    left_.resize(left_.size() + size_, 0);
    right_.resize(right_.size() + size_, 0);
  }
  void put(std::int64_t k) {
    std::vector<char>& to = is_right(k) ? right_ : left_;
    const char* from = owner(k).values.as<char>() + own(k) * static_cast<std::int64_t>(size_);
    std::copy_n(from, size_, to.end() - static_cast<std::ptrdiff_t>(size_));
  }

  std::size_t rank_;
  std::size_t size_;
  const Sparse* both_[2];
  std::vector<std::int64_t> order_;
  std::vector<std::int64_t> firsts_;
  std::vector<bool> is_single_;
  std::vector<char> left_;
  std::vector<char> right_;
};

template <class T>
struct Magnitude {
  using Type = T;
  // Of a number: the smallest integer has none, and stays as it is.
  static Wide<T> of(const T& x) {
    if constexpr (std::is_integral_v<T>) return x < 0 ? wrapping_subtract(T{0}, x) : x;
    else return std::abs(widen(x));
  }
};
template <class T>
struct Magnitude<std::complex<T>> {
  using Type = T;
  static T of(const std::complex<T>& x) { return std::abs(x); }
};

// The sum, without sums below the threshold; what only one tensor has is kept, however small.
template <class T>
void sum(Call& call) {
  using Real = typename Magnitude<T>::Type;
  const Sparse a(call.input(0), call.input(1), call.input(2));
  const Sparse b(call.input(3), call.input(4), call.input(5));
  const Tensor threshold = call.input(6);
  Union both(a, b);
  require(threshold.rank() == 0, "thresh must be a scalar");
  const auto least = widen(threshold.as<Real>()[0]);
  const Combine combine = combine_of(Operation::kAdd, a.values.dtype());
  combine(both.left(), both.right(), both.count(), 1);
  std::vector<std::int64_t> kept;
  for (std::int64_t k = 0; k < both.count(); ++k) {
    T value;
    std::memcpy(&value, both.left() + static_cast<std::size_t>(k) * sizeof(T), sizeof(T));
    if (both.is_single(k) || Magnitude<T>::of(value) >= least) kept.push_back(k);
  }
  const auto count = static_cast<std::int64_t>(kept.size());
  auto* indices = call.output(0, {{count, a.rank()}}).template write<std::int64_t>();
  char* values = call.output(1, {{count}}).template write<char>();
  for (const std::int64_t k : kept) {
    indices = both.write_row(k, indices);
    values = std::copy_n(both.left() + static_cast<std::size_t>(k) * sizeof(T), sizeof(T), values);
  }
  std::ranges::copy(a.dims, call.output(2, {{a.rank()}}).template write<std::int64_t>());
}

template <Operation kOperation>
void extreme(Call& call) {
  const Sparse a(call.input(0), call.input(1), call.input(2));
  const Sparse b(call.input(3), call.input(4), call.input(5));
  Union both(a, b);
  a.check_inside();
  b.check_inside();
  combine_of(kOperation, a.values.dtype())(both.left(), both.right(), both.count(), 1);
  auto* indices = call.output(0, {{both.count(), a.rank()}}).write<std::int64_t>();
  for (std::int64_t k = 0; k < both.count(); ++k) indices = both.write_row(k, indices);
  char* values = call.output(1, {{both.count()}}).write<char>();
  std::copy_n(both.left(), static_cast<std::size_t>(both.count()) * both.size(), values);
}

Row row_of(const Tensor& indices, std::int64_t k) {
  const std::int64_t rank = indices.dim(1);
  return {indices.as<std::int64_t>() + k * rank, static_cast<std::size_t>(rank)};
}

// The gradient of the sum at the elements of both terms; 0 where the sum left them out.
void sum_gradient(Call& call) {
  const Tensor grad = call.input(0);
  const Tensor sums = call.input(3);
  for (const int k : {1, 2, 3}) require(call.input(k).rank() == 2, "indices must be matrices");
  require(grad.rank() == 1 && grad.dim(0) == sums.dim(0),
          "there must be one gradient for each element of the sum");
  for (const int k : {1, 2})
    require(call.input(k).dim(1) == sums.dim(1), "all indices must be of one rank");
  const std::size_t size = element_size(grad.dtype());
  std::vector<std::int64_t> order(static_cast<std::size_t>(sums.dim(0)));
  std::iota(order.begin(), order.end(), 0);
  const auto row = [&sums](std::int64_t k) { return row_of(sums, k); };
  std::ranges::stable_sort(order, before, row);
  for (const int term : {0, 1}) {
    const Tensor wanted = call.input(term + 1);
    char* out = call.output(term, {{wanted.dim(0)}}).write<char>();
    for (std::int64_t k = 0; k < wanted.dim(0); ++k, out += size) {
      const auto past = std::ranges::upper_bound(order, row_of(wanted, k), before, row);
      const bool is_there = past != order.begin() && std::ranges::equal(row(past[-1]), row_of(wanted, k));
      if (is_there) std::copy_n(grad.as<char>() + static_cast<std::size_t>(past[-1]) * size, size, out);
      else std::fill_n(out, size, 0);
    }
  }
}

template <class T>
void add_sum(TF_DataType dtype, TF_DataType real) {
  add<sum<T>>("SparseAdd", {{"T", {dtype}}, {"Treal", {real}}});
}

}  // namespace

const Family registered([] {
  add_sum<float>(TF_FLOAT, TF_FLOAT);
  add_sum<double>(TF_DOUBLE, TF_DOUBLE);
  add_sum<Half>(TF_HALF, TF_HALF);
  add_sum<BFloat16>(TF_BFLOAT16, TF_BFLOAT16);
  add_sum<std::int8_t>(TF_INT8, TF_INT8);
  add_sum<std::int16_t>(TF_INT16, TF_INT16);
  add_sum<std::int32_t>(TF_INT32, TF_INT32);
  add_sum<std::int64_t>(TF_INT64, TF_INT64);
  add_sum<std::complex<float>>(TF_COMPLEX64, TF_FLOAT);
  add_sum<std::complex<double>>(TF_COMPLEX128, TF_DOUBLE);
  std::vector<TF_DataType> reals = real_types();
  reals.insert(reals.end(), {TF_HALF, TF_BFLOAT16});
  add<extreme<Operation::kMax>>("SparseSparseMaximum", {{"T", reals}});
  add<extreme<Operation::kMin>>("SparseSparseMinimum", {{"T", reals}});
  reals.insert(reals.end(), {TF_COMPLEX64, TF_COMPLEX128});
  add<sum_gradient>("SparseAddGrad", {{"T", reals}});
});

}  // namespace drystone::cpu
