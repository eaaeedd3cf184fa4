// The largest, the first, those that are not zero; running sums, products and
// logarithms of sums.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/family.h"
#include "core/widen.h"
#include "plain/combine.h"

namespace drystone::cpu {
namespace {

// body(first element) of a tensor whose narrow floats are made float.
template <class Body>
void with_values(const Call& call, const Tensor& x, Body&& body) {
  const auto widened = [&](auto narrow) {
    using T = decltype(narrow);
    auto* out = call.scratch<float>(x.count());
    for (std::int64_t k = 0; k < x.count(); ++k) out[k] = to_float(x.as<T>()[k]);
    body(static_cast<const float*>(out));
  };
  switch (x.dtype()) {
    case TF_HALF: return widened(Half());
    case TF_BFLOAT16: return widened(BFloat16());
    case TF_BOOL: case TF_QUINT8: return body(x.as<std::uint8_t>());
    case TF_QINT8: return body(x.as<std::int8_t>());
    case TF_QINT16: return body(x.as<std::int16_t>());
    case TF_QUINT16: return body(x.as<std::uint16_t>());
    case TF_QINT32: return body(x.as<std::int32_t>());
    default: with_real(x.dtype(), [&](auto type) { body(x.as<decltype(type)>()); });
  }
}

std::vector<TF_DataType> ordered_types() {
  std::vector<TF_DataType> out = real_types();
  out.insert(out.end(), {TF_HALF, TF_BFLOAT16});
  return out;
}

// Whether element a comes before b: the larger first, NaN before all, of equals the first.
template <class T>
struct Larger {
  const T* row;
  bool operator()(std::int32_t a, std::int32_t b) const {
    const T x = row[a];
    const T y = row[b];
    if (x > y) return true;
    if (x < y) return false;
    if constexpr (std::is_floating_point_v<T>) {
      const bool x_is_nan = x != x;
      if (x_is_nan != (y != y)) return x_is_nan;
    }
    return a < b;
  }
};

template <class T>
void top_of_row(const T* row, std::int32_t n, std::int32_t k, std::int32_t* order) {
  const Larger<T> larger{row};
  if (k == 1) {
    std::int32_t best = 0;
    for (std::int32_t i = 1; i < n; ++i) best = larger(i, best) ? i : best;
    order[0] = best;
    return;
  }
  for (std::int32_t i = 0; i < n; ++i) order[i] = i;
  if (k < n / 16) {
    std::partial_sort(order, order + k, order + n, larger);
    return;
  }
  if (k < n) std::nth_element(order, order + k, order + n, larger);
  std::sort(order, order + k, larger);
}

void top(const Call& call, std::int64_t k) {
  const Tensor x = call.input(0);
  require(x.rank() >= 1, "input must be >= 1-D");
  const std::int64_t n = x.dim(x.rank() - 1);
  require(k >= 0, "Need k >= 0");
  if (k > n)
    fail(TF_INVALID_ARGUMENT, "input must have at least k columns. Had " + std::to_string(n) +
                                  ", needed " + std::to_string(k));
  require(n <= INT32_MAX, "rows of so many elements cannot be sorted");
  Dims dims(x.dims().begin(), x.dims().end());
  dims.back() = k;
  const Tensor values = call.output(0, dims);
  const Tensor places = call.output(1, dims);
  if (values.count() == 0) return;
  const std::int64_t rows = x.count() / n;
  auto* order = call.scratch<std::int32_t>(x.count());
  with_values(call, x, [&](const auto* all) {
    parallel(rows, n * 4, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        top_of_row(all + row * n, static_cast<std::int32_t>(n), static_cast<std::int32_t>(k),
                   order + row * n);
      }
    });
  });
  with_bits(element_size(x.dtype()), [&](auto bits) {
    using E = decltype(bits);
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t i = 0; i < k; ++i)
        values.write<E>()[row * k + i] = x.as<E>()[row * n + order[row * n + i]];
    }
  });
  with_index(places.dtype(), [&](auto type) {
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t i = 0; i < k; ++i) {
        places.write<decltype(type)>()[row * k + i] =
            static_cast<decltype(type)>(order[row * n + i]);
      }
    }
  });
}

class TopK {
 public:
  explicit TopK(const Node& node) : k_(node.integer("k")) {}
  void compute(Call& call) const { top(call, k_); }

 private:
  std::int64_t k_;
};

void top_k_v2(Call& call) {
  require(call.input(1).rank() == 0, "k must be a scalar");
  top(call, scalar_int(call.input(1), "k"));
}

// The bits of an element that make it not zero: all but signs of floats.
std::uint64_t meaning_bits(TF_DataType dtype) {
  switch (dtype) {
    case TF_FLOAT: return 0x7fffffffu;
    case TF_HALF: case TF_BFLOAT16: return 0x7fffu;
    case TF_DOUBLE: return 0x7fffffffffffffffu;
    case TF_COMPLEX64: return 0x7fffffff7fffffffu;
    default: return ~std::uint64_t{0};
  }
}

template <class E>
void put_places(const Tensor& x, const E* at, E mask, std::int64_t* out) {
  const int last = x.rank() - 1;
  const std::int64_t width = x.dim(last);
  Dims place(static_cast<std::size_t>(x.rank()), 0);
  for (std::int64_t row = 0; row < x.count() / std::max<std::int64_t>(width, 1);
       ++row, at += width) {
    for (std::int64_t k = 0; k < width; ++k) {
      if ((at[k] & mask) == 0) continue;
      out = std::copy_n(place.begin(), last, out);
      *out++ = k;
    }
    for (int k = last; k-- > 0;) {
      if (++place[static_cast<std::size_t>(k)] < x.dim(k)) break;
      place[static_cast<std::size_t>(k)] = 0;
    }
  }
}

template <class E>
void where_of(const Call& call, const Tensor& x, const E* at, std::uint64_t meaning) {
  const E mask = static_cast<E>(meaning);
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < x.count(); ++k) count += (at[k] & mask) != 0 ? 1 : 0;
  const std::int64_t dims[] = {count, x.rank()};
  const Tensor y = call.output(0, dims);
  if (count > 0) put_places(x, at, mask, y.write<std::int64_t>());
}

void where(Call& call) {
  const Tensor x = call.input(0);
  require(x.rank() >= 1, "WhereOp: input must be at least a vector");
  const std::uint64_t meaning = meaning_bits(x.dtype());
  switch (element_size(x.dtype())) {
    case 1: return where_of(call, x, x.as<std::uint8_t>(), meaning);
    case 2: return where_of(call, x, x.as<std::uint16_t>(), meaning);
    case 4: return where_of(call, x, x.as<std::uint32_t>(), meaning);
    case 8: return where_of(call, x, x.as<std::uint64_t>(), meaning);
    default: break;
  }
  auto* flags = call.scratch<std::uint8_t>(x.count());
  for (std::int64_t k = 0; k < x.count(); ++k)
    flags[k] = x.as<double>()[2 * k] != 0 || x.as<double>()[2 * k + 1] != 0;
  where_of<std::uint8_t>(call, x, flags, 1);
}

template <class T>
constexpr T worst_of(bool largest) {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_infinity) return largest ? -Limits::infinity() : Limits::infinity();
  return largest ? Limits::lowest() : Limits::max();
}

// Place of the first extreme of n neighbours; NaN counts as the worst.
template <bool kLargest, class T>
std::int64_t extreme_place(const T* at, std::int64_t n) {
  constexpr std::int64_t kLanes = 16;  // several at a time, for registers of any width
  const T worst = worst_of<T>(kLargest);
  T bests[kLanes];
  std::fill_n(bests, kLanes, worst);
  std::int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    for (std::int64_t i = 0; i < kLanes; ++i) {
      const T value = at[k + i];
      bests[i] = (kLargest ? value > bests[i] : value < bests[i]) ? value : bests[i];
    }
  }
  for (; k < n; ++k) bests[0] = (kLargest ? at[k] > bests[0] : at[k] < bests[0]) ? at[k] : bests[0];
  T best = bests[0];
  for (const T value : bests) best = (kLargest ? value > best : value < best) ? value : best;
  if (best == worst) return 0;
  std::int64_t place = 0;
  while (at[place] != best) ++place;
  return place;
}

// As extreme_place, for `inner` neighbours at once; `best` and `places` have room for them.
template <bool kLargest, class T>
void extreme_places(const T* at, std::int64_t n, std::int64_t inner, T* best,
                    std::int64_t* places) {
  std::fill_n(best, inner, worst_of<T>(kLargest));
  std::fill_n(places, inner, 0);
  for (std::int64_t k = 0; k < n; ++k, at += inner) {
    for (std::int64_t i = 0; i < inner; ++i) {
      const bool better = kLargest ? at[i] > best[i] : at[i] < best[i];
      best[i] = better ? at[i] : best[i];
      places[i] = better ? k : places[i];
    }
  }
}

template <bool kLargest>
void arg_extreme(Call& call) {
  const Tensor x = call.input(0);
  const Tensor given = call.input(1);
  require(given.rank() == 0, "dim must be a scalar");
  const int axis = wrap_axis(scalar_int(given, "dim"), x.rank(), "dimension");
  require(x.dim(axis) > 0, "Reduction axis is empty");
  Dims dims(x.dims().begin(), x.dims().end());
  dims.erase(dims.begin() + axis);
  const Tensor y = call.output(0, dims);
  if (y.count() == 0) return;
  const std::int64_t n = x.dim(axis);
  const std::int64_t inner = span_of(x.dims(), axis + 1, x.rank());
  auto* places = call.scratch<std::int64_t>(y.count());
  with_values(call, x, [&](const auto* all) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(all)>>;
    T* best = inner > 1 ? call.scratch<T>(y.count()) : nullptr;
    parallel(y.count() / inner, n * inner, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        const T* at = all + k * n * inner;
        if (inner == 1) places[k] = extreme_place<kLargest>(at, n);
        else extreme_places<kLargest>(at, n, inner, best + k * inner, places + k * inner);
      }
    });
  });
  with_index(y.dtype(),
             [&](auto type) { std::copy_n(places, y.count(), y.write<decltype(type)>()); });
}

struct Sum {
  static constexpr int kNeutral = 0;
  template <class T>
  static T of(T a, T b) { return wrapping_add(a, b); }
};
struct Product {
  static constexpr int kNeutral = 1;
  template <class T>
  static T of(T a, T b) { return wrapping_multiply(a, b); }
};
// The logarithm of the sum of two exponentials, without overflow.
struct LogSumExp {
  static constexpr float kNeutral = -std::numeric_limits<float>::infinity();
  template <class T>
  static T of(T a, T b) {
    if (a == b) return a + std::numbers::ln2_v<T>;  // also of infinities
    const T gap = a - b;
    if (gap > 0) return a + std::log1p(std::exp(-gap));
    if (gap <= 0) return b + std::log1p(std::exp(gap));
    return gap;  // NaN
  }
};

template <class Op, class T>
class Scan {
 public:
  explicit Scan(const Node& node)
      : exclusive_(node.boolean("exclusive")), reverse_(node.boolean("reverse")) {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    const Tensor given = call.input(1);
    require(given.rank() == 0, "ScanOp: axis must be a scalar");
    const int axis = wrap_axis(scalar_int(given, "axis"), x.rank());
    const Tensor y = call.output(0, x.dims(), exclusive_ ? -1 : 0);
    if (y.count() == 0) return;
    const std::int64_t n = x.dim(axis);
    const std::int64_t inner = span_of(x.dims(), axis + 1, x.rank());
    const std::int64_t strips = (inner + kStrip - 1) / kStrip;
    parallel(x.count() / n / inner * strips, n * std::min(inner, kStrip),
             [&](std::int64_t begin, std::int64_t end) {
               for (std::int64_t k = begin; k < end; ++k) {
                 const std::int64_t first = k % strips * kStrip;
                 const std::int64_t at = k / strips * n * inner + first;
                 strip(x.as<T>() + at, y.write<T>() + at, n, inner,
                       std::min(kStrip, inner - first));
               }
             });
  }

 private:
  static constexpr std::int64_t kStrip = 64;

  // `width` neighbouring columns of n elements that are `step` apart.
  void strip(const T* x, T* y, std::int64_t n, std::int64_t step, std::int64_t width) const {
    Wide<T> sums[kStrip];
    for (std::int64_t row = 0; row < n; ++row) {
      const std::int64_t at = (reverse_ ? n - 1 - row : row) * step;
      const std::int64_t from = exclusive_ ? at + (reverse_ ? step : -step) : at;
      if (row == 0) {
        for (std::int64_t i = 0; i < width; ++i)
          sums[i] = exclusive_ ? Wide<T>(Op::kNeutral) : widen(x[from + i]);
      } else {
        // An exclusive scan begins with the neutral element as its first sum.
        for (std::int64_t i = 0; i < width; ++i) sums[i] = Op::of(sums[i], widen(x[from + i]));
      }
      for (std::int64_t i = 0; i < width; ++i) y[at + i] = narrow<T>(sums[i]);
    }
  }
  bool exclusive_;
  bool reverse_;
};

template <class Op>
void add_float_scan(const char* op) {
  add<Scan<Op, float>>(op, {{"T", {TF_FLOAT}}});
  add<Scan<Op, double>>(op, {{"T", {TF_DOUBLE}}});
  add<Scan<Op, Half>>(op, {{"T", {TF_HALF}}});
  add<Scan<Op, BFloat16>>(op, {{"T", {TF_BFLOAT16}}});
}

template <class Op>
void add_scan(const char* op) {
  add_float_scan<Op>(op);
  add<Scan<Op, std::int32_t>>(op, {{"T", {TF_INT32}}});
  add<Scan<Op, std::int64_t>>(op, {{"T", {TF_INT64}}});
  add<Scan<Op, std::int8_t>>(op, {{"T", {TF_INT8}}});
  add<Scan<Op, std::uint8_t>>(op, {{"T", {TF_UINT8}}});
  add<Scan<Op, std::int16_t>>(op, {{"T", {TF_INT16}}});
}

void rank_targets(Call& call, std::int64_t k) {
  const Tensor predictions = call.input(0);
  const Tensor targets = call.input(1);
  require(predictions.rank() == 2, "predictions must be 2-dimensional");
  require(targets.rank() == 1 && targets.dim(0) == predictions.dim(0),
          "there must be one target for each row");
  const std::int64_t classes = predictions.dim(1);
  const Tensor y = call.output(0, targets.dims());
  for (std::int64_t row = 0; row < y.count(); ++row) {
    const float* at = predictions.as<float>() + row * classes;
    const std::int64_t target = integer_at(targets, row);
    const bool is_class = target >= 0 && target < classes;
    std::int64_t better = 0;
    bool finite = is_class;
    for (std::int64_t i = 0; finite && i < classes; ++i) {
      finite = std::isfinite(at[i]);
      better += at[i] > at[target] ? 1 : 0;
    }
    y.write<bool>()[row] = finite && better < k;
  }
}

class InTopK {
 public:
  explicit InTopK(const Node& node) : k_(node.integer("k")) {}
  void compute(Call& call) const { rank_targets(call, k_); }

 private:
  std::int64_t k_;
};

void in_top_k_v2(Call& call) {
  require(call.input(2).rank() == 0, "k must be a scalar");
  rank_targets(call, scalar_int(call.input(2), "k"));
}

}  // namespace

const Family registered([] {
  add<TopK>("TopK", {{"T", ordered_types()}});
  add<top_k_v2>("TopKV2", {{"T", ordered_types()}});
  std::vector<TF_DataType> types = ordered_types();
  types.push_back(TF_BOOL);
  add<arg_extreme<true>>("ArgMax", {{"T", types}});
  add<arg_extreme<false>>("ArgMin", {{"T", types}});
  add<where>("Where", {{"T", plain_types()}});
  add_scan<Sum>("Cumsum");
  add_scan<Product>("Cumprod");
  add_float_scan<LogSumExp>("CumulativeLogsumexp");
  add<InTopK>("InTopK");
  add<in_top_k_v2>("InTopKV2");
});

}  // namespace drystone::cpu
