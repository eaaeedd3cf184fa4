// Distinct elements, how often they occur, and rows dealt out by number.
#include <algorithm>
#include <cstring>
#include <limits>

#include "core/family.h"
#include "core/moving_text.h"
#include "plain/combine.h"

namespace drystone::cpu {
namespace {

// Rows of bytes that are equal exactly where their numbers are: -0 is 0, and NaN equals nothing.
class Keys {
 public:
  Keys(const Call& call, TF_DataType dtype, const char* rows, std::int64_t count,
       std::int64_t width)
      : count_(count), bytes_(width * static_cast<std::int64_t>(element_size(dtype))), rows_(rows) {
    switch (dtype) {
      case TF_FLOAT: normalize<std::uint32_t>(call, width, 0x7f800000u); break;
      case TF_DOUBLE: normalize<std::uint64_t>(call, width, 0x7ff0000000000000u); break;
      case TF_HALF: normalize<std::uint16_t>(call, width, 0x7c00u); break;
      case TF_BFLOAT16: normalize<std::uint16_t>(call, width, 0x7f80u); break;
      case TF_COMPLEX64: normalize<std::uint32_t>(call, 2 * width, 0x7f800000u); break;
      case TF_COMPLEX128: normalize<std::uint64_t>(call, 2 * width, 0x7ff0000000000000u); break;
      default: break;
    }
  }
  std::int64_t count() const { return count_; }
  const char* row(std::int64_t k) const { return rows_ + k * bytes_; }
  std::int64_t bytes() const { return bytes_; }
  // Whether the row equals not even itself.
  bool lonely(std::int64_t k) const { return lonely_ != nullptr && lonely_[k] != 0; }
  std::uint64_t hash(std::int64_t k) const {
    std::uint64_t out = 0;
    const char* at = row(k);
    for (std::int64_t left = bytes_; left > 0; left -= 8, at += 8) {
      std::uint64_t piece = 0;
      std::memcpy(&piece, at, static_cast<std::size_t>(std::min<std::int64_t>(left, 8)));
      out = (out ^ piece) * 0x9e3779b97f4a7c15u;
      out ^= out >> 29;
    }
    return out;
  }

 private:
  template <class Word>
  void normalize(const Call& call, std::int64_t words, Word infinity) {
    auto* rows = call.scratch<Word>(count_ * words);
    auto* lonely = call.scratch<char>(count_);
    const auto* in = reinterpret_cast<const PackedBits<Word>*>(rows_);
    const auto size = static_cast<Word>(static_cast<Word>(~Word{0}) >> 1);
    for (std::int64_t k = 0; k < count_; ++k) {
      lonely[k] = 0;
      for (std::int64_t i = k * words; i < (k + 1) * words; ++i) {
        const Word bits = in[i].value;
        rows[i] = (bits & size) == 0 ? Word{0} : bits;
        if ((bits & size) > infinity) lonely[k] = 1;
      }
    }
    rows_ = reinterpret_cast<const char*>(rows);
    lonely_ = lonely;
  }
  std::int64_t count_;
  std::int64_t bytes_;
  const char* rows_;
  const char* lonely_ = nullptr;
};

// Numbers the distinct rows in order of their first occurrence.
class Classes {
 public:
  Classes(const Call& call, const Keys& keys) : keys_(keys) {
    std::int64_t room = 16;
    while (room < 2 * keys.count()) room *= 2;
    mask_ = static_cast<std::uint64_t>(room - 1);
    slots_ = call.scratch<std::int64_t>(room);
    std::fill_n(slots_, room, -1);
    firsts_ = call.scratch<std::int64_t>(keys.count());
  }
  std::int64_t count() const { return count_; }
  std::int64_t first(std::int64_t number) const { return firsts_[number]; }

  // The class of a row, a new one where it has not occurred.
  std::int64_t put(std::int64_t k) {
    std::int64_t* slot = keys_.lonely(k) ? nullptr : find(keys_, k);
    if (slot != nullptr && *slot >= 0) return *slot;
    if (slot != nullptr) *slot = count_;
    firsts_[count_] = k;
    return count_++;
  }
  // Whether a row of others, of the same size, has a class.
  bool has(const Keys& others, std::int64_t k) const {
    return !others.lonely(k) && *find(others, k) >= 0;
  }

 private:
  std::int64_t* find(const Keys& others, std::int64_t k) const {
    const auto bytes = static_cast<std::size_t>(others.bytes());
    for (std::uint64_t at = others.hash(k);; ++at) {
      std::int64_t& slot = slots_[at & mask_];
      if (slot < 0 || std::memcmp(keys_.row(firsts_[slot]), others.row(k), bytes) == 0)
        return &slot;
    }
  }
  const Keys& keys_;
  std::uint64_t mask_ = 0;
  std::int64_t* slots_;
  std::int64_t* firsts_;
  std::int64_t count_ = 0;
};

void put_integer(const Tensor& out, std::int64_t k, std::int64_t value) {
  if (out.dtype() == TF_INT64) out.write<std::int64_t>()[k] = value;
  else out.write<std::int32_t>()[k] = static_cast<std::int32_t>(value);
}

void add_integer(const Tensor& out, std::int64_t k) {
  if (out.dtype() == TF_INT64) ++out.write<std::int64_t>()[k];
  else ++out.write<std::int32_t>()[k];
}

// Slices of x along an axis: distinct ones, the class of each, and sizes of classes where wanted.
void unique(const Call& call, int axis) {
  const Tensor x = call.input(0);
  const auto size = static_cast<std::int64_t>(element_size(x.dtype()));
  const std::int64_t rows = x.dim(axis);
  const std::int64_t outer = span_of(x.dims(), 0, axis);
  const std::int64_t inner = span_of(x.dims(), axis + 1, x.rank());
  const char* in = x.as<char>();
  if (outer > 1) {
    auto* turned = call.scratch<char>(x.count() * size);
    const std::int64_t dims[] = {rows, outer, inner};
    const std::int64_t steps[] = {inner * size, rows * inner * size, size};
    gather_box(static_cast<std::size_t>(size), dims, turned, in, steps);
    in = turned;
  }
  const Keys keys(call, x.dtype(), in, rows, outer * inner);
  Classes classes(call, keys);
  const std::int64_t count[] = {rows};
  const Tensor numbers = call.output(1, count);
  for (std::int64_t k = 0; k < rows; ++k) put_integer(numbers, k, classes.put(k));
  Dims dims(x.dims().begin(), x.dims().end());
  dims[static_cast<std::size_t>(axis)] = classes.count();
  const Tensor values = call.output(0, dims);
  for (std::int64_t o = 0; o < outer && inner > 0; ++o) {
    for (std::int64_t k = 0; k < classes.count(); ++k) {
      std::memcpy(values.write<char>() + (o * classes.count() + k) * inner * size,
                  x.as<char>() + (o * rows + classes.first(k)) * inner * size,
                  static_cast<std::size_t>(inner * size));
    }
  }
  if (call.outputs() < 3) return;
  const std::int64_t found[] = {classes.count()};
  const Tensor counts = call.output(2, found);
  for (std::int64_t k = 0; k < classes.count(); ++k) put_integer(counts, k, 0);
  for (std::int64_t k = 0; k < rows; ++k) add_integer(counts, integer_at(numbers, k));
}

void unique_of_vector(Call& call) {
  require(call.input(0).rank() == 1, "unique expects a 1D vector.");
  unique(call, 0);
}

void unique_along_axis(Call& call) {
  const Tensor axis = call.input(1);
  require(axis.rank() == 1, "axis expects a 1D vector.");
  require(axis.count() <= 1, "axis does not support input tensors larger than 1 elements");
  if (axis.count() == 0) return unique_of_vector(call);
  unique(call, wrap_axis(integer_at(axis, 0), call.input(0).rank()));
}

void list_diff(Call& call) {
  const Tensor x = call.input(0);
  const Tensor y = call.input(1);
  require(x.rank() == 1 && y.rank() == 1, "x and y should be 1D vectors.");
  const Keys known(call, y.dtype(), y.as<char>(), y.count(), 1);
  const Keys keys(call, x.dtype(), x.as<char>(), x.count(), 1);
  Classes classes(call, known);
  for (std::int64_t k = 0; k < y.count(); ++k) classes.put(k);
  auto* places = call.scratch<std::int64_t>(x.count());
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < x.count(); ++k) {
    if (!classes.has(keys, k)) places[count++] = k;
  }
  const std::int64_t dims[] = {count};
  const Tensor out = call.output(0, dims);
  const Tensor where = call.output(1, dims);
  const auto size = static_cast<std::int64_t>(element_size(x.dtype()));
  for (std::int64_t k = 0; k < count; ++k) {
    std::memcpy(out.write<char>() + k * size, x.as<char>() + places[k] * size,
                static_cast<std::size_t>(size));
    put_integer(where, k, places[k]);
  }
}

class DynamicPartition {
 public:
  explicit DynamicPartition(const Node& node) : parts_(node.integer("num_partitions")) {}
  void compute(Call& call) const {
    const Tensor data = call.input(0);
    const Tensor numbers = call.input(1);
    bool fits = data.rank() >= numbers.rank();
    for (int k = 0; fits && k < numbers.rank(); ++k) fits = data.dim(k) == numbers.dim(k);
    require(fits, "data.shape must start with partitions.shape");
    check_below(numbers, parts_, "partitions");
    std::vector<std::int64_t> counts(static_cast<std::size_t>(parts_), 0);
    const auto* at = numbers.as<std::int32_t>();
    for (std::int64_t k = 0; k < numbers.count(); ++k) ++counts[static_cast<std::size_t>(at[k])];
    Dims dims(data.dims().begin() + numbers.rank(), data.dims().end());
    const std::int64_t bytes =
        data.count() == 0 ? 0 : product(dims) * static_cast<std::int64_t>(element_size(data.dtype()));
    dims.insert(dims.begin(), 0);
    std::vector<char*> ends;
    for (std::size_t part = 0; part < counts.size(); ++part) {
      dims[0] = counts[part];
      ends.push_back(call.output(static_cast<int>(part), dims).write<char>());
    }
    for (std::int64_t k = 0; k < numbers.count() && bytes > 0; ++k) {
      char*& end = ends[static_cast<std::size_t>(at[k])];
      std::memcpy(end, data.as<char>() + k * bytes, static_cast<std::size_t>(bytes));
      end += bytes;
    }
  }

 private:
  std::int64_t parts_;
};

// Rows from several tensors at the places that go with them; the last that is written stays.
void dynamic_stitch(Call& call) {
  const int count = call.inputs() / 2;
  std::int64_t rows = 0;
  Dims dims;
  for (int i = 0; i < count; ++i) {
    const Tensor at = call.input(i);
    const Tensor data = call.input(count + i);
    bool fits = data.rank() >= at.rank();
    for (int k = 0; fits && k < at.rank(); ++k) fits = data.dim(k) == at.dim(k);
    Dims row;
    if (fits) row.assign(data.dims().begin() + at.rank(), data.dims().end());
    if (i == 0) dims = row;
    if (!fits || row != dims) {
      fail(TF_INVALID_ARGUMENT, "data[" + std::to_string(i) + "].shape = " + text(data.dims()) +
                                    " does not start with indices.shape = " + text(at.dims()) +
                                    " and end with " + text(dims));
    }
    for (std::int64_t k = 0; k < at.count(); ++k)
      rows = std::max<std::int64_t>(rows, at.as<std::int32_t>()[k] + std::int64_t{1});
  }
  require(rows <= std::numeric_limits<std::int32_t>::max(), "the rows must fit 32 bits");
  for (int i = 0; i < count; ++i) check_below(call.input(i), rows);
  const std::int64_t width = product(dims);
  dims.insert(dims.begin(), rows);
  check_dims(dims);
  const Tensor y = call.output(0, dims);
  if (y.count() == 0) return;
  const auto bytes = width * static_cast<std::int64_t>(element_size(y.dtype()));
  std::memset(y.write<char>(), 0, static_cast<std::size_t>(rows * bytes));
  for (int i = 0; i < count; ++i) {
    const Tensor at = call.input(i);
    const char* data = call.input(count + i).as<char>();
    for (std::int64_t k = 0; k < at.count(); ++k) {
      std::memcpy(y.write<char>() + at.as<std::int32_t>()[k] * bytes, data + k * bytes,
                  static_cast<std::size_t>(bytes));
    }
  }
}

}  // namespace

const Family registered([] {
  const std::vector<Constraint> any = {{"T", plain_types()}};
  add<unique_of_vector>("Unique", any);
  add<unique_of_vector>("UniqueWithCounts", any);
  add<unique_along_axis>("UniqueV2", any);
  add<unique_along_axis>("UniqueWithCountsV2", any);
  add<list_diff>("ListDiff", any);
  add_moving<DynamicPartition>("DynamicPartition");
  add_moving<dynamic_stitch>("DynamicStitch");
  add_moving<dynamic_stitch>("ParallelDynamicStitch");
});

}  // namespace drystone::cpu
