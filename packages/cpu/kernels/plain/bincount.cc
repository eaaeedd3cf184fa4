// How often integers occur: in all, or in each row of a dense, ragged or sparse matrix.
#include <algorithm>

#include "core/family.h"
#include "plain/sparse.h"

namespace drystone::cpu {
namespace {

// What the ops of the family have in common: values, the number of bins, and weights or none.
template <class T>
class Counts {
 public:
  // By number: weights fit values of another shape, too, if there are as many.
  Counts(const Tensor& values, const Tensor& size, const Tensor& weights, bool marks,
         bool by_number = false)
      : values_(values), weights_(weights.count() == 0 ? nullptr : weights.as<T>()), marks_(marks) {
    require(size.rank() == 0, "Shape must be rank 0 but is another: size");
    bins_ = scalar_int(size, "size");
    require(bins_ >= 0, "size must be non-negative");
    for (std::int64_t k = 0; k < values.count(); ++k)
      require(integer_at(values, k) >= 0, "Input arr must be non-negative!");
    const bool fits = by_number ? weights.count() == values.count()
                                : std::ranges::equal(weights.dims(), values.dims());
    require(weights.count() == 0 || fits, "weights must fit the values");
  }
  std::int64_t bins() const { return bins_; }
  // The output, of zeros: [bins], or [rows, bins].
  T* start(const Call& call, const Dims& lead) const {
    Dims dims = lead;
    dims.push_back(bins_);
    check_dims(dims);
    const Tensor y = call.output(0, dims);
    std::fill_n(y.template write<T>(), y.count(), T{0});
    return y.template write<T>();
  }
  // Counts values [first, last) in one row of the output; what is beyond the last bin is left out.
  void count(std::int64_t first, std::int64_t last, T* out) const {
    for (std::int64_t k = first; k < last; ++k) {
      const std::int64_t bin = integer_at(values_, k);
      if (bin >= bins_) continue;
      out[bin] = marks_ ? T{1} : wrapping_add(out[bin], weights_ == nullptr ? T{1} : weights_[k]);
    }
  }

 private:
  Tensor values_;
  const T* weights_;
  bool marks_;
  std::int64_t bins_ = 0;
};

template <class T, bool kIsDense>
class Bincount {
 public:
  explicit Bincount(const Node& node) : marks_(kIsDense && node.boolean("binary_output")) {}
  void compute(Call& call) const {
    const Tensor values = call.input(0);
    const Counts<T> counts(values, call.input(1), call.input(2), marks_, !kIsDense);
    require(!kIsDense || values.rank() <= 2, "Shape must be at most rank 2");
    const bool by_rows = kIsDense && values.rank() == 2;
    const std::int64_t rows = by_rows ? values.dim(0) : 1;
    T* out = counts.start(call, by_rows ? Dims{rows} : Dims());
    const std::int64_t width = rows == 0 ? 0 : values.count() / rows;
    for (std::int64_t row = 0; row < rows; ++row)
      counts.count(row * width, (row + 1) * width, out + row * counts.bins());
  }

 private:
  bool marks_;
};

template <class T>
class RaggedBincount {
 public:
  explicit RaggedBincount(const Node& node) : marks_(node.boolean("binary_output")) {}
  void compute(Call& call) const {
    const Tensor values = call.input(1);
    const Counts<T> counts(values, call.input(2), call.input(3), marks_);
    const Dims splits = int_vector(call.input(0), "splits");
    require(!splits.empty() && splits.front() == 0 && splits.back() == values.count() &&
                std::ranges::is_sorted(splits),
            "splits must rise from 0 to the number of values");
    const auto rows = static_cast<std::int64_t>(splits.size()) - 1;
    T* out = counts.start(call, {rows});
    for (std::size_t row = 0; row + 1 < splits.size(); ++row, out += counts.bins())
      counts.count(splits[row], splits[row + 1], out);
  }

 private:
  bool marks_;
};

// A sparse vector gives [size], a sparse matrix [rows, size].
template <class T>
class SparseBincount {
 public:
  explicit SparseBincount(const Node& node) : marks_(node.boolean("binary_output")) {}
  void compute(Call& call) const {
    const Sparse x(call.input(0), call.input(1), call.input(2));
    const Counts<T> counts(x.values, call.input(3), call.input(4), marks_);
    require(x.rank() == 1 || x.rank() == 2, "the tensor must have rank 1 or 2");
    x.check_inside();
    const bool by_rows = x.rank() == 2;
    T* out = counts.start(call, by_rows ? Dims{x.dims[0]} : Dims());
    for (std::int64_t k = 0; k < x.count(); ++k)
      counts.count(k, k + 1, out + (by_rows ? x.row(k)[0] * counts.bins() : 0));
  }

 private:
  bool marks_;
};

template <class T>
void add_for(TF_DataType dtype) {
  const std::vector<Constraint> types = {{"T", {dtype}}};
  add<Bincount<T, false>>("Bincount", types);
  add<Bincount<T, true>>("DenseBincount", types);
  add<RaggedBincount<T>>("RaggedBincount", types);
  add<SparseBincount<T>>("SparseBincount", types);
}

}  // namespace

const Family registered([] {
  add_for<std::int32_t>(TF_INT32);
  add_for<std::int64_t>(TF_INT64);
  add_for<float>(TF_FLOAT);
  add_for<double>(TF_DOUBLE);
});

}  // namespace drystone::cpu
