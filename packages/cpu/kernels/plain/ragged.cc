// Ragged tensors: row splits, nested, and flat values.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/family.h"
#include "core/moving_text.h"
#include "core/widen.h"
#include "plain/combine.h"

namespace drystone::cpu {
namespace {

// How many numbers a range has, from `first` to before `last`.
template <class T>
std::int64_t range_length(Wide<T> first, Wide<T> last, Wide<T> step) {
  require(step != 0, "Requires delta != 0");
  if (step > 0 ? last <= first : last >= first) return 0;
  if constexpr (std::is_integral_v<T>) {
    const auto low = static_cast<std::uint64_t>(step > 0 ? first : last);
    const std::uint64_t apart = static_cast<std::uint64_t>(step > 0 ? last : first) - low;
    const auto by =
        step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
    const std::uint64_t count = (apart - 1) / by + 1;
    require(count <= INT64_MAX, "Requires ((limit - start) / delta) <= 2^63 - 1");
    return static_cast<std::int64_t>(count);
  } else {
    const double count = std::ceil((static_cast<double>(last) - static_cast<double>(first)) /
                                   static_cast<double>(step));
    require(count < 0x1p63, "Requires ((limit - start) / delta) to be finite");  // also of NaN
    return static_cast<std::int64_t>(count);
  }
}

template <class T>
void write_range(T* out, std::int64_t count, Wide<T> first, Wide<T> step) {
  for (std::int64_t k = 0; k < count; ++k) {
    if constexpr (std::is_integral_v<T>) {
      out[k] = wrapping_add(first, wrapping_multiply(static_cast<T>(k), step));
    } else {  // rounded after each operation
      const Wide<T> moved =
          widen(narrow<T>(widen(narrow<T>(static_cast<Wide<T>>(k))) * step));
      out[k] = narrow<T>(first + moved);
    }
  }
}

template <class Split>
void put_splits(Call& call, int output, const std::vector<std::int64_t>& splits) {
  const auto count = static_cast<std::int64_t>(splits.size());
  auto* out = call.output(output, {{count}}).template write<Split>();
  for (const std::int64_t split : splits) {
    require(std::in_range<Split>(split), "row splits do not fit into their dtype");
    *out++ = static_cast<Split>(split);
  }
}

template <class T, class Split>
void ragged_range(Call& call) {
  std::int64_t count = -1;
  for (int i = 0; i < 3; ++i) {
    const Tensor part = call.input(i);
    require(part.rank() <= 1, "starts, limits and deltas must be scalars or vectors");
    if (part.rank() == 0) continue;
    require(count < 0 || part.count() == count,
            "starts, limits, and deltas must have the same shape");
    count = part.count();
  }
  if (count < 0) count = 1;
  const auto at = [&call](int i, std::int64_t k) {
    const Tensor part = call.input(i);
    return widen(part.as<T>()[part.rank() == 0 ? 0 : k]);
  };
  std::vector<std::int64_t> splits = {0};
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t end = 0;
    const std::int64_t length = range_length<T>(at(0, k), at(1, k), at(2, k));
    if (__builtin_add_overflow(splits.back(), length, &end)) fail_too_many("all ranges together");
    splits.push_back(end);
  }
  T* out = call.output(1, {{splits.back()}}).template write<T>();
  put_splits<Split>(call, 0, splits);
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t begin = splits[static_cast<std::size_t>(k)];
    const std::int64_t end = splits[static_cast<std::size_t>(k) + 1];
    write_range<T>(out + begin, end - begin, at(0, k), at(2, k));
  }
}

// The numbers of row splits, which must rise from 0 to `size`.
std::vector<std::int64_t> splits_of(const Tensor& given, std::int64_t size) {
  std::vector<std::int64_t> out = int_vector(given, "row splits");
  bool fits = !out.empty() && out.front() == 0 && out.back() == size;
  for (std::size_t k = 1; fits && k < out.size(); ++k) fits = out[k] >= out[k - 1];
  require(fits, "row splits must rise from 0 to the number of values");
  return out;
}

// All levels of splits, of `levels` inputs from `first` on, and the values after them.
std::vector<std::vector<std::int64_t>> nested_splits(const Call& call, int first, int levels,
                                                     const Tensor& values) {
  require(levels > 0 && values.rank() >= 1, "there must be row splits, and values that have rows");
  std::vector<std::vector<std::int64_t>> out;
  for (int k = 0; k < levels; ++k) {
    const std::int64_t size =
        k + 1 < levels ? call.input(first + k + 1).count() - 1 : values.dim(0);
    out.push_back(splits_of(call.input(first + k), size));
  }
  return out;
}

std::int64_t row_bytes(const Tensor& values) {
  return static_cast<std::int64_t>(element_size(values.dtype())) *
         span_of(values.dims(), 1, values.rank());
}

template <class Split>
class RaggedGather {
 public:
  explicit RaggedGather(const Node& node)
      : levels_(static_cast<int>(node.integer("PARAMS_RAGGED_RANK"))),
        wanted_(node.integer("OUTPUT_RAGGED_RANK")) {}
  void compute(Call& call) const {
    const Tensor values = call.input(levels_);
    const Tensor indices = call.input(levels_ + 1);
    require(indices.rank() > 0, "indices must not be a scalar");
    const auto nested = nested_splits(call, 0, levels_, values);
    check_below(indices, static_cast<std::int64_t>(nested[0].size()) - 1);
    require(wanted_ == levels_ + indices.rank() - 1,
            "OUTPUT_RAGGED_RANK must be the rank of indices and that of params, less one");
    int output = 0;
    std::int64_t rows = 1;
    for (int k = 0; k + 1 < indices.rank(); ++k) {
      rows *= indices.dim(k);
      std::vector<std::int64_t> even;
      for (std::int64_t row = 0; row <= rows; ++row) even.push_back(row * indices.dim(k + 1));
      put_splits<Split>(call, output++, even);
    }
    // Spans of the level at hand that are gathered; one of each index to begin with.
    std::vector<std::pair<std::int64_t, std::int64_t>> spans;
    for (const std::int64_t index : integers(indices)) spans.emplace_back(index, index + 1);
    for (const auto& splits : nested) put_splits<Split>(call, output++, deeper(splits, spans));
    put_values(call, output, values, spans);
  }

 private:
  // The splits of the rows in the spans, which become spans of the next level.
  static std::vector<std::int64_t> deeper(
      const std::vector<std::int64_t>& splits,
      std::vector<std::pair<std::int64_t, std::int64_t>>& spans) {
    std::vector<std::int64_t> out = {0};
    for (auto& [begin, end] : spans) {
      for (std::int64_t row = begin; row < end; ++row) {
        const auto at = static_cast<std::size_t>(row);
        out.push_back(out.back() + splits[at + 1] - splits[at]);
      }
      begin = splits[static_cast<std::size_t>(begin)];
      end = splits[static_cast<std::size_t>(end)];
    }
    return out;
  }
  static void put_values(Call& call, int output, const Tensor& values,
                         const std::vector<std::pair<std::int64_t, std::int64_t>>& spans) {
    Dims dims(values.dims().begin(), values.dims().end());
    dims[0] = 0;
    for (const auto& [begin, end] : spans) dims[0] += end - begin;
    char* out = call.output(output, dims).template write<char>();
    const std::int64_t bytes = row_bytes(values);
    for (const auto& [begin, end] : spans) {
      const auto size = static_cast<std::size_t>((end - begin) * bytes);
      std::memcpy(out, values.as<char>() + begin * bytes, size);
      out += size;
    }
  }
  int levels_;
  std::int64_t wanted_;
};

class RaggedTensorToSparse {
 public:
  explicit RaggedTensorToSparse(const Node& node)
      : levels_(static_cast<int>(node.integer("RAGGED_RANK"))) {}
  void compute(Call& call) const {
    const Tensor values = call.input(levels_);
    const auto nested = nested_splits(call, 0, levels_, values);
    const std::int64_t rank = levels_ + values.rank();
    auto* out = call.output(0, {{values.count(), rank}}).write<std::int64_t>();
    put_indices(nested, values, out);
    call.share(1, levels_, {{values.count()}});
    auto* shape = call.output(2, {{rank}}).write<std::int64_t>();
    *shape++ = static_cast<std::int64_t>(nested[0].size()) - 1;
    for (const auto& splits : nested) {
      std::int64_t longest = 0;
      for (std::size_t k = 1; k < splits.size(); ++k)
        longest = std::max(longest, splits[k] - splits[k - 1]);
      *shape++ = longest;
    }
    std::copy(values.dims().begin() + 1, values.dims().end(), shape);
  }

 private:
  static void put_indices(const std::vector<std::vector<std::int64_t>>& nested,
                          const Tensor& values, std::int64_t* out) {
    const std::int64_t cells = span_of(values.dims(), 1, values.rank());
    std::vector<std::size_t> row(nested.size(), 0);  // at each level: the one that the value is in
    for (std::int64_t k = 0; k < values.dim(0); ++k) {
      std::int64_t inner = k;
      for (std::size_t level = nested.size(); level-- > 0;) {
        while (nested[level][row[level] + 1] <= inner) ++row[level];
        inner = static_cast<std::int64_t>(row[level]);
      }
      for (std::int64_t cell = 0; cell < cells; ++cell) {
        *out++ = static_cast<std::int64_t>(row[0]);
        for (std::size_t level = 0; level < nested.size(); ++level) {
          const std::int64_t at =
              level + 1 < nested.size() ? static_cast<std::int64_t>(row[level + 1]) : k;
          *out++ = at - nested[level][row[level]];
        }
        std::int64_t rest = cell;
        for (int d = values.rank(); d-- > 1; rest /= values.dim(d))
          out[d - 1] = rest % values.dim(d);
        out += values.rank() - 1;
      }
    }
  }
  int levels_;
};

// A level of rows: for each of its elements the row that it is in, and the place in that row.
struct Level {
  Dims rows;
  Dims places;
};

// `most`: as many elements as may lie below; -1: that is not known.
Level level_of(const Call& call, const Tensor& given, const std::string& kind, std::int64_t most) {
  Level out;
  const Dims numbers = int_vector(given, "a row partition");
  if (kind == "VALUE_ROWIDS") {
    out.rows = numbers;
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      require(numbers[k] >= (k == 0 ? 0 : numbers[k - 1]), "row ids must rise from 0 or more");
      out.places.push_back(k > 0 && numbers[k] == numbers[k - 1] ? out.places[k - 1] + 1 : 0);
    }
    return out;
  }
  require(kind == "ROW_SPLITS", "a row partition must be ROW_SPLITS or VALUE_ROWIDS");
  const Dims splits = splits_of(given, numbers.empty() ? 0 : numbers.back());
  const std::int64_t elements = splits.back();
  require(most < 0 || elements == most, "the innermost partition must deal out every value");
  call.check_room(elements, 2 * sizeof(std::int64_t));
  for (std::size_t row = 1; row < splits.size(); ++row) {
    for (std::int64_t place = 0; place < splits[row] - splits[row - 1]; ++place) {
      out.rows.push_back(static_cast<std::int64_t>(row) - 1);
      out.places.push_back(place);
    }
  }
  return out;
}

class RaggedTensorToTensor {
 public:
  explicit RaggedTensorToTensor(const Node& node) : kinds_(node.strings("row_partition_types")) {
    require(!kinds_.empty(), "there must be a row partition");
  }
  void compute(Call& call) const {
    const Tensor values = call.input(1);
    require(values.rank() >= 1 && call.input(3).count() > 0,
            "values must have rows, and row partitions must not be empty");
    std::vector<Level> levels;
    const Dims natural = natural_dims(call, values, levels);
    const Dims dims = target(call.input(0), natural, values.dims());
    check_dims(dims);
    const Tensor y = call.output(0, dims);
    if (y.count() == 0) return;
    put_default(call.input(2), values, y, natural.size());
    const std::int64_t bytes = row_bytes(values);
    for (std::int64_t k = 0; k < values.dim(0); ++k) {
      const std::int64_t row = place(levels, k, dims);
      if (row < 0) continue;
      std::memcpy(y.write<char>() + row * bytes, values.as<char>() + k * bytes,
                  static_cast<std::size_t>(bytes));
    }
  }

 private:
  Dims natural_dims(const Call& call, const Tensor& values, std::vector<Level>& levels) const {
    const bool sized = kinds_[0] == "FIRST_DIM_SIZE";
    const Tensor first = call.input(3);
    Dims out = {sized ? integer_at(first, 0) : first.count() - 1};
    std::int64_t above = out[0];
    for (std::size_t k = sized ? 1 : 0; k < kinds_.size(); ++k) {
      const std::int64_t most = k + 1 == kinds_.size() ? values.dim(0) : -1;
      Level level = level_of(call, call.input(3 + static_cast<int>(k)), kinds_[k], most);
      require(level.rows.empty() || level.rows.back() < above, "row ids must name rows");
      const auto longest = std::max_element(level.places.begin(), level.places.end());
      out.push_back(longest == level.places.end() ? 0 : *longest + 1);
      above = static_cast<std::int64_t>(level.rows.size());
      levels.push_back(std::move(level));
    }
    require(levels.empty() || above == values.dim(0),
            "the innermost partition must deal out every value");
    return out;
  }
  static Dims target(const Tensor& shape, const Dims& natural, DimsView inner) {
    Dims out = natural;
    out.insert(out.end(), inner.begin() + 1, inner.end());
    if (shape.rank() == 0) {
      require(integer_at(shape, 0) == -1, "a scalar shape must be -1");
      return out;
    }
    const Dims wanted = int_vector(shape, "shape");
    bool fits = wanted.size() == out.size();
    for (std::size_t k = 0; fits && k < out.size(); ++k) {
      fits = k < natural.size() || wanted[k] == -1 || wanted[k] == out[k];
      if (wanted[k] != -1) out[k] = wanted[k];
    }
    require(fits, "shape must fit the ragged tensor");
    return out;
  }
  // Fills the output with the default, which is broadcast to one value.
  static void put_default(const Tensor& given, const Tensor& values, const Tensor& y,
                          std::size_t outer) {
    const Dims inner(values.dims().begin() + 1, values.dims().end());
    bool fits = static_cast<std::size_t>(given.rank()) <= inner.size();
    Dims steps(y.dims().size(), 0);
    auto step = static_cast<std::int64_t>(element_size(y.dtype()));
    const std::size_t size = static_cast<std::size_t>(step);
    for (int k = given.rank(); fits && k-- > 0; step *= given.dim(k)) {
      const std::size_t at = inner.size() - static_cast<std::size_t>(given.rank() - k);
      fits = given.dim(k) == 1 || given.dim(k) == inner[at];
      if (given.dim(k) != 1) steps[outer + at] = step;
    }
    require(fits, "default_value must broadcast to one value");
    gather_box(size, y.dims(), y.write<char>(), given.data(), steps);
  }
  // The output row of value `k`; -1 for one that lies outside.
  static std::int64_t place(const std::vector<Level>& levels, std::int64_t k, const Dims& dims) {
    std::int64_t out = 0;
    std::int64_t step = 1;
    for (std::size_t level = levels.size(); level-- > 0;) {
      const std::int64_t at = levels[level].places[static_cast<std::size_t>(k)];
      if (at >= dims[level + 1]) return -1;
      out += at * step;
      step *= dims[level + 1];
      k = levels[level].rows[static_cast<std::size_t>(k)];
    }
    return k < dims[0] ? out + k * step : -1;
  }
  std::vector<std::string> kinds_;
};

template <class T>
void add_range(TF_DataType dtype) {
  add<ragged_range<T, std::int32_t>>("RaggedRange", {{"T", {dtype}}, {"Tsplits", {TF_INT32}}});
  add<ragged_range<T, std::int64_t>>("RaggedRange", {{"T", {dtype}}, {"Tsplits", {TF_INT64}}});
}

template <class Split>
void add_gather(TF_DataType splits) {
  const char* op = "RaggedGather";
  add<RaggedGather<Split>>(op, {{"Tvalues", plain_types()}, {"Tsplits", {splits}}});
  add<OfStrings<RaggedGather<Split>>>(op, {{"Tvalues", {TF_STRING}}, {"Tsplits", {splits}}});
}

}  // namespace

const Family registered([] {
  add_range<BFloat16>(TF_BFLOAT16);
  add_range<float>(TF_FLOAT);
  add_range<double>(TF_DOUBLE);
  add_range<std::int32_t>(TF_INT32);
  add_range<std::int64_t>(TF_INT64);
  add_gather<std::int32_t>(TF_INT32);
  add_gather<std::int64_t>(TF_INT64);
  add<RaggedTensorToSparse>("RaggedTensorToSparse");
  add_moving<RaggedTensorToTensor>("RaggedTensorToTensor");
});

}  // namespace drystone::cpu
