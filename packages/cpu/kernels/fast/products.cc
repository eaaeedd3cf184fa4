// Matrix products of the dtypes that oneDNN has none for: float64, integers, complex numbers.
//
// Rows of the second matrix are added up, four at a time for four rows of the product, so that the
// innermost loop walks through memory and vectorizes.
#include <algorithm>
#include <complex>

#include "core/family.h"
#include "fast/elementwise.h"

namespace drystone::cpu {
namespace {

// Not std::complex, whose product treats infinities apart and does not vectorize.
template <class F>
struct Pair {
  F real;
  F imag;
};
template <class F>
Pair<F> operator+(Pair<F> a, Pair<F> b) {
  return {a.real + b.real, a.imag + b.imag};
}
template <class F>
Pair<F> operator*(Pair<F> a, Pair<F> b) {
  return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
}

template <class T>
T conjugate(T x) {
  return x;
}
template <class F>
Pair<F> conjugate(Pair<F> x) {
  return {x.real, -x.imag};
}

// A matrix as it is read: element (row, column) is at row * down + column * right.
template <class T>
struct Matrix {
  const T* at;
  std::int64_t down;
  std::int64_t right;
  bool conjugates;
  T operator()(std::int64_t row, std::int64_t column) const {
    const T x = at[row * down + column * right];
    return conjugates ? conjugate(x) : x;
  }
};

// Columns that stay in the nearest cache while rows are added up.
constexpr std::int64_t kStrip = 256;
constexpr std::int64_t kDeep = 64;

template <class T>
T add_product(T sum, T a, T b) {
#ifdef __FMA__
  if constexpr (std::is_same_v<T, double>) return __builtin_fma(a, b, sum);
#endif
  return sum + a * b;
}

// Four rows of b, each by a number, added to each of `kRows` rows of y.
template <int kRows, class T>
void add_rows(T* y, std::int64_t width, const T* b, std::int64_t columns, const T (&by)[kRows][4]) {
#pragma GCC ivdep
  for (std::int64_t j = 0; j < columns; ++j) {
    const T in[4] = {b[j], b[width + j], b[2 * width + j], b[3 * width + j]};
    for (int row = 0; row < kRows; ++row) {
      T* out = y + row * width + j;
      const T left = add_product(by[row][0] * in[0], by[row][1], in[1]);
      const T right = add_product(by[row][2] * in[2], by[row][3], in[3]);
      *out = *out + (left + right);
    }
  }
}

// A strip of `columns` columns of `kRows` rows of y: rows [from, to) of b are added.
template <int kRows, class T>
void add_strip(T* y, const Matrix<T>& a, std::int64_t row, const T* b, std::int64_t from,
               std::int64_t to, std::int64_t width, std::int64_t columns) {
  std::int64_t k = from;
  for (; k + 4 <= to; k += 4) {
    T by[kRows][4];
    for (int r = 0; r < kRows; ++r)
      for (int i = 0; i < 4; ++i) by[r][i] = a(row + r, k + i);
    add_rows<kRows>(y, width, b + k * width, columns, by);
  }
  for (; k < to; ++k) {
    for (int r = 0; r < kRows; ++r) {
      const T by = a(row + r, k);
      T* out = y + r * width;
      for (std::int64_t j = 0; j < columns; ++j)
        out[j] = add_product(out[j], by, b[k * width + j]);
    }
  }
}

// Rows [first, last) of y = a b, with b as it lies in memory: `depth` rows of `width`.
template <class T>
void multiply_rows(T* y, const Matrix<T>& a, const T* b, std::int64_t first, std::int64_t last,
                   std::int64_t depth, std::int64_t width) {
  std::fill(y + first * width, y + last * width, T{});
  for (std::int64_t from = 0; from < depth; from += kDeep) {
    const std::int64_t to = std::min(from + kDeep, depth);
    for (std::int64_t column = 0; column < width; column += kStrip) {
      const std::int64_t columns = std::min(kStrip, width - column);
      std::int64_t row = first;
      for (; row + 4 <= last; row += 4)
        add_strip<4>(y + row * width + column, a, row, b + column, from, to, width, columns);
      for (; row < last; ++row)
        add_strip<1>(y + row * width + column, a, row, b + column, from, to, width, columns);
    }
  }
}

// b[k][j] for each k and j, from a matrix that is read in another order.
template <class T>
const T* in_order(Call& call, const Matrix<T>& b, std::int64_t depth, std::int64_t width) {
  if (b.right == 1 && !b.conjugates) return b.at;
  T* out = call.scratch<T>(std::max<std::int64_t>(depth * width, 1));
  for (std::int64_t k = 0; k < depth; ++k)
    for (std::int64_t j = 0; j < width; ++j) out[k * width + j] = b(k, j);
  return out;
}

template <class T>
class Product {
 public:
  Product(const Node& node, const char* flip_a, const char* flip_b, bool conjugates)
      : flip_a_(node.boolean(flip_a)), flip_b_(node.boolean(flip_b)), conjugates_(conjugates) {}

  // `dims` begin with the batch's.
  void compute(Call& call, const Tensor& a, const Tensor& b, Dims dims) const {
    const std::int64_t rows = a.dim(a.rank() - (flip_a_ ? 1 : 2));
    const std::int64_t depth = a.dim(a.rank() - (flip_a_ ? 2 : 1));
    const std::int64_t width = b.dim(b.rank() - (flip_b_ ? 2 : 1));
    if (b.dim(b.rank() - (flip_b_ ? 1 : 2)) != depth) {
      fail(TF_INVALID_ARGUMENT, "the inner dimensions of a matrix product must be equal: " +
                                    text(a.dims()) + " and " + text(b.dims()));
    }
    const Dims batch = dims;
    dims.push_back(rows);
    dims.push_back(width);
    const Tensor y = call.output(0, dims);
    const std::int64_t matrices = product(batch);
    for (std::int64_t k = 0; k < matrices && y.count() > 0; ++k) {
      const T* left = a.as<T>() + place(k, batch, a) * rows * depth;
      const T* right = b.as<T>() + place(k, batch, b) * depth * width;
      const Matrix<T> first{left, flip_a_ ? 1 : depth, flip_a_ ? rows : 1, flip_a_ && conjugates_};
      const Matrix<T> second{right, flip_b_ ? 1 : width, flip_b_ ? depth : 1,
                             flip_b_ && conjugates_};
      const T* ordered = in_order(call, second, depth, width);
      T* out = y.write<T>() + k * rows * width;
      parallel(rows, std::max<std::int64_t>(depth * width / 8, 1),
               [&](std::int64_t begin, std::int64_t end) {
                 multiply_rows(out, first, ordered, begin, end, depth, width);
               });
    }
  }

 private:
  // Which matrix of a batch that is broadcast to `dims` goes with number `k`.
  static std::int64_t place(std::int64_t k, const Dims& dims, const Tensor& x) {
    std::int64_t out = 0;
    std::int64_t step = 1;
    int dim = x.rank() - 2;
    for (std::size_t d = dims.size(); d-- > 0 && dim-- > 0; k /= dims[d]) {
      if (x.dim(dim) != 1) out += k % dims[d] * step;
      step *= x.dim(dim);
    }
    return out;
  }
  bool flip_a_;
  bool flip_b_;
  bool conjugates_;
};

template <class T>
class MatMul {
 public:
  explicit MatMul(const Node& node) : product_(node, "transpose_a", "transpose_b", false) {}
  void compute(Call& call) const {
    const Tensor a = call.input(0);
    const Tensor b = call.input(1);
    require(a.rank() == 2 && b.rank() == 2, "both inputs must be matrices");
    product_.compute(call, a, b, {});
  }

 private:
  Product<T> product_;
};

template <class T, bool kBroadcasts>
class BatchMatMul {
 public:
  explicit BatchMatMul(const Node& node) : product_(node, "adj_x", "adj_y", true) {}
  void compute(Call& call) const {
    const Tensor a = call.input(0);
    const Tensor b = call.input(1);
    require(a.rank() >= 2 && b.rank() >= 2, "both inputs must be (batches of) matrices");
    require(kBroadcasts || a.rank() == b.rank(), "the batch dimensions must agree");
    const int rank = std::max(a.rank(), b.rank());
    Dims dims;
    for (int k = 0; k + 2 < rank; ++k) {
      const std::int64_t p = k + a.rank() >= rank ? a.dim(k + a.rank() - rank) : 1;
      const std::int64_t q = k + b.rank() >= rank ? b.dim(k + b.rank() - rank) : 1;
      require(p == q || (kBroadcasts && (p == 1 || q == 1)), "the batch dimensions must agree");
      dims.push_back(p == 1 ? q : p);
    }
    product_.compute(call, a, b, std::move(dims));
  }

 private:
  Product<T> product_;
};

template <class T>
void add_products_of(TF_DataType dtype) {
  add<MatMul<T>>("MatMul", {{"T", {dtype}}});
  add<BatchMatMul<T, false>>("BatchMatMul", {{"T", {dtype}}});
  add<BatchMatMul<T, true>>("BatchMatMulV2", {{"T", {dtype}}});
  add<BatchMatMul<T, true>>("BatchMatMulV3", {{"Ta", {dtype}}, {"Tb", {dtype}}, {"Tout", {dtype}}});
}

}  // namespace

const Family registered([] {
  add_products_of<double>(TF_DOUBLE);
  add_products_of<std::uint32_t>(TF_INT32);  // integers wrap
  add_products_of<std::uint64_t>(TF_INT64);
  add_products_of<Pair<float>>(TF_COMPLEX64);
  add_products_of<Pair<double>>(TF_COMPLEX128);
});

}  // namespace drystone::cpu
