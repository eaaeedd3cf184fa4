// Where values lie among others: bounds in sorted rows, buckets, histograms, the n-th of a row.
#include <algorithm>
#include <cmath>

#include "core/family.h"
#include "core/moving.h"
#include "core/widen.h"

namespace drystone::cpu {
namespace {

// Output 0 is of int32 or int64, as it was made.
void put(const Tensor& out, std::int64_t k, std::int64_t value) {
  if (out.dtype() == TF_INT64) {
    out.write<std::int64_t>()[k] = value;
    return;
  }
  require(std::in_range<std::int32_t>(value), "a place does not fit into int32");
  out.write<std::int32_t>()[k] = static_cast<std::int32_t>(value);
}

template <bool kUpper>
void bound(Call& call) {
  const Tensor rows = call.input(0);
  const Tensor values = call.input(1);
  require(rows.rank() == 2 && values.rank() == 2 && rows.dim(0) == values.dim(0),
          "sorted_inputs and values must be matrices of equally many rows");
  const Tensor y = call.output(0, values.dims());
  with_real(rows.dtype(), [&](auto type) {
    using T = decltype(type);
    const std::int64_t width = rows.dim(1);
    for (std::int64_t k = 0; k < values.count(); ++k) {
      const T* row = rows.as<T>() + k / values.dim(1) * width;
      const T value = values.as<T>()[k];
      const T* place = kUpper ? std::upper_bound(row, row + width, value)
                              : std::lower_bound(row, row + width, value);
      put(y, k, place - row);
    }
  });
}

class Bucketize {
 public:
  explicit Bucketize(const Node& node) : edges_(node.reals("boundaries")) {
    require(std::is_sorted(edges_.begin(), edges_.end()), "Expected sorted boundaries");
  }
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    auto* out = call.output(0, x.dims()).write<std::int32_t>();
    with_real(x.dtype(), [&](auto type) {
      for (std::int64_t k = 0; k < x.count(); ++k) {
        const auto value = static_cast<double>(x.as<decltype(type)>()[k]);
        const auto place = std::upper_bound(edges_.begin(), edges_.end(), value);
        out[k] = static_cast<std::int32_t>(place - edges_.begin());
      }
    });
  }

 private:
  std::vector<float> edges_;
};

// Values outside the range fall into the outer bins.
void histogram(Call& call) {
  const Tensor values = call.input(0);
  const Tensor range = call.input(1);
  require(range.rank() == 1 && range.count() == 2, "value_range must be two numbers");
  require(call.input(2).rank() == 0, "nbins must be a scalar");
  const std::int64_t bins = scalar_int(call.input(2), "nbins");
  require(bins > 0, "nbins should be a positive number");
  auto* counts = call.scratch<std::int64_t>(bins);
  std::fill_n(counts, bins, 0);
  with_real(values.dtype(), [&](auto type) {
    using T = decltype(type);
    const auto low = static_cast<double>(range.as<T>()[0]);
    const auto high = static_cast<double>(range.as<T>()[1]);
    require(low < high, "value_range should satisfy value_range[0] < value_range[1]");
    const double step = (high - low) / static_cast<double>(bins);
    for (std::int64_t k = 0; k < values.count(); ++k) {
      const double place = (static_cast<double>(values.as<T>()[k]) - low) / step;
      require(place == place, "values must not be NaN");
      const double bin = std::floor(std::clamp(place, 0.0, static_cast<double>(bins - 1)));
      ++counts[static_cast<std::size_t>(bin)];
    }
  });
  const Tensor y = call.output(0, {{bins}});
  for (std::int64_t k = 0; k < bins; ++k) put(y, k, counts[k]);
}

// NaN is larger than any number.
template <class T>
bool smaller(T a, T b) {
  const Wide<T> x = widen(a);
  const Wide<T> y = widen(b);
  return x < y || (y != y && x == x);
}

template <class T>
class NthElement {
 public:
  explicit NthElement(const Node& node) : reverse_(node.boolean("reverse")) {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    const Tensor n = call.input(1);
    require(n.rank() == 0, "N must be scalar");
    const std::int64_t given = integer_at(n, 0);
    require(x.rank() >= 1 && given >= 0 && given < x.dim(x.rank() - 1),
            "Input must have at least n+1 columns");
    const std::int64_t width = x.dim(x.rank() - 1);
    const std::int64_t place = reverse_ ? width - 1 - given : given;
    T* out = call.output(0, x.dims().first(x.dims().size() - 1)).template write<T>();
    parallel(x.count() / width, width * 4, [&](std::int64_t begin, std::int64_t end) {
      std::vector<T> row(static_cast<std::size_t>(width));
      for (std::int64_t k = begin; k < end; ++k) {
        std::copy_n(x.as<T>() + k * width, width, row.begin());
        std::nth_element(row.begin(), row.begin() + place, row.end(), smaller<T>);
        out[k] = row[static_cast<std::size_t>(place)];
      }
    });
  }

 private:
  bool reverse_;
};

template <class... T>
void add_nth(std::initializer_list<TF_DataType> types) {
  const TF_DataType* type = types.begin();
  (add<NthElement<T>>("NthElement", {{"T", {*type++}}}), ...);
}

}  // namespace

const Family registered([] {
  add<bound<false>>("LowerBound", {{"T", real_types()}});
  add<bound<true>>("UpperBound", {{"T", real_types()}});
  const std::vector<Constraint> numbers = {{"T", {TF_INT32, TF_INT64, TF_FLOAT, TF_DOUBLE}}};
  add<Bucketize>("Bucketize", numbers);
  add<histogram>("HistogramFixedWidth", numbers);
  add_nth<float, double, std::int32_t, std::int64_t, std::int8_t, std::int16_t, std::uint8_t,
          std::uint16_t, std::uint32_t, std::uint64_t, Half, BFloat16>(
      {TF_FLOAT, TF_DOUBLE, TF_INT32, TF_INT64, TF_INT8, TF_INT16, TF_UINT8, TF_UINT16, TF_UINT32,
       TF_UINT64, TF_HALF, TF_BFLOAT16});
});

}  // namespace drystone::cpu
