// Rows with one number folded together, sorted or not, gathered or not. Floats of 16 bits are
// folded as float and rounded once.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "core/family.h"
#include "core/widen.h"
#include "plain/combine.h"

namespace drystone::cpu {
namespace {

using enum Operation;

bool is_narrow(TF_DataType dtype) { return dtype == TF_HALF || dtype == TF_BFLOAT16; }

// A tensor in the dtype that it is folded in.
struct Folded {
  TF_DataType dtype;
  char* data;
  std::int64_t size;  // bytes of an element
};

const char* widened(const Call& call, const Tensor& x) {
  if (!is_narrow(x.dtype())) return x.as<char>();
  auto* out = call.scratch<float>(x.count());
  for (std::int64_t k = 0; k < x.count(); ++k) {
    out[k] = x.dtype() == TF_HALF ? to_float(x.as<Half>()[k]) : to_float(x.as<BFloat16>()[k]);
  }
  return reinterpret_cast<const char*>(out);
}

// Where the output is made: itself, or what is rounded to it by narrow_to.
Folded folded(const Call& call, const Tensor& y) {
  if (!is_narrow(y.dtype()))
    return {y.dtype(), y.write<char>(), static_cast<std::int64_t>(element_size(y.dtype()))};
  return {TF_FLOAT, reinterpret_cast<char*>(call.scratch<float>(y.count())), 4};
}

void narrow_to(const Tensor& y, const Folded& work) {
  const auto* in = reinterpret_cast<const float*>(work.data);
  for (std::int64_t k = 0; y.dtype() == TF_HALF && k < y.count(); ++k)
    y.write<Half>()[k] = to_half(in[k]);
  for (std::int64_t k = 0; y.dtype() == TF_BFLOAT16 && k < y.count(); ++k)
    y.write<BFloat16>()[k] = to_bfloat16(in[k]);
}

// The finite number that every other of the dtype beats, 0 or 1, in the dtype it is folded in.
template <class T>
T start_of(Operation operation, TF_DataType dtype) {
  if (operation == kMul) return T{1};
  if (operation != kMin && operation != kMax) return T{0};
  if constexpr (std::is_same_v<T, float>) {
    const float most = dtype == TF_HALF       ? 65504.0f
                       : dtype == TF_BFLOAT16 ? 0x1.fep127f
                                              : std::numeric_limits<float>::max();
    return operation == kMin ? most : -most;
  } else {
    return operation == kMin ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
  }
}

template <class T>
void put_all(const Folded& work, std::int64_t count, T value) {
  std::fill_n(reinterpret_cast<T*>(work.data), count, value);
}

void begin_with(const Folded& work, std::int64_t count, Operation operation, TF_DataType dtype) {
  const float one = operation == kMul ? 1 : 0;
  if (work.dtype == TF_COMPLEX64) return put_all(work, count, std::complex<float>(one));
  if (work.dtype == TF_COMPLEX128) return put_all(work, count, std::complex<double>(one));
  with_real(work.dtype,
            [&](auto type) { put_all(work, count, start_of<decltype(type)>(operation, dtype)); });
}

std::int64_t count_of(const Tensor& given, const Tensor& ids) {
  require(given.rank() == 0, "num_segments must be a scalar");
  const std::int64_t count = scalar_int(given, "num_segments");
  require(count >= 0, "num_segments must be non-negative");
  for (std::int64_t k = 0; k < ids.count(); ++k)
    require(integer_at(ids, k) < count, "segment ids must be < num_segments");
  return count;
}

void check_sorted(const Tensor& ids, std::int64_t rows) {
  require(ids.rank() == 1, "segment_ids should be a vector.");
  require(ids.count() == rows, "segment_ids should be the same size as dimension 0 of input.");
  for (std::int64_t k = 0; k < rows; ++k) {
    require(integer_at(ids, k) >= (k == 0 ? 0 : integer_at(ids, k - 1)),
            "segment ids are not increasing");
  }
}

Dims with_rows(const Tensor& data, int skipped, std::int64_t count) {
  Dims dims(data.dims().begin() + skipped, data.dims().end());
  dims.insert(dims.begin(), count);
  check_dims(dims);
  return dims;
}

// Divides a row of floats, complex numbers or integers (towards zero).
void divide_row(const Folded& work, char* row, std::int64_t width, std::int64_t count,
                bool by_root) {
  const double by = by_root ? std::sqrt(static_cast<double>(count)) : static_cast<double>(count);
  const auto divide = [&](auto divisor) { combine_of(kDiv, work.dtype)(row, &divisor, width, 0); };
  if (work.dtype == TF_COMPLEX64) return divide(std::complex<float>(static_cast<float>(by)));
  if (work.dtype == TF_COMPLEX128) return divide(std::complex<double>(by));
  with_real(work.dtype, [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) {
      // A count may be beyond a small dtype.
      T* at = reinterpret_cast<T*>(row);
      for (std::int64_t k = 0; k < width; ++k) {
        if constexpr (std::is_signed_v<T>) at[k] = static_cast<T>(at[k] / count);
        else at[k] = static_cast<T>(at[k] / static_cast<std::uint64_t>(count));
      }
    } else {
      divide(static_cast<T>(by));
    }
  });
}

enum class Scale { kNone, kMean, kRoot };

// Folds row at(k) of `data` into the segment of ids[k], which do not decrease; others stay as the
// caller made them.
template <class At>
void fold_sorted(const Folded& work, const Tensor& ids, std::int64_t width, const char* data,
                 Operation operation, Scale scale, At&& at) {
  const Combine combine = combine_of(operation, work.dtype);
  const std::int64_t bytes = width * work.size;
  for (std::int64_t k = 0; k < ids.count();) {
    const std::int64_t id = integer_at(ids, k);
    const std::int64_t first = k;
    char* row = work.data + id * bytes;
    std::memcpy(row, data + at(k) * bytes, static_cast<std::size_t>(bytes));
    for (++k; k < ids.count() && integer_at(ids, k) == id; ++k)
      combine(row, data + at(k) * bytes, width, 1);
    if (scale != Scale::kNone) divide_row(work, row, width, k - first, scale == Scale::kRoot);
  }
}

template <Operation kOperation, Scale kScale>
void sorted_segments(Call& call) {
  const Tensor data = call.input(0);
  const Tensor ids = call.input(1);
  require(data.rank() > 0, "input must be at least rank 1");
  check_sorted(ids, data.dim(0));
  const std::int64_t rows = ids.count();
  const std::int64_t count = call.inputs() > 2 ? count_of(call.input(2), ids)
                             : rows == 0       ? 0
                                               : integer_at(ids, rows - 1) + 1;
  const Tensor y = call.output(0, with_rows(data, 1, count));
  const Folded work = folded(call, y);
  begin_with(work, y.count(), kOperation == kMul ? kMul : kAdd, y.dtype());
  const char* in = widened(call, data);
  if (y.count() > 0)
    fold_sorted(work, ids, y.count() / count, in, kOperation, kScale,
                [](std::int64_t k) { return k; });
  narrow_to(y, work);
}

template <Operation kOperation>
void unsorted_segments(Call& call) {
  const Tensor data = call.input(0);
  const Tensor ids = call.input(1);
  bool fits = data.rank() >= ids.rank();
  for (int k = 0; fits && k < ids.rank(); ++k) fits = data.dim(k) == ids.dim(k);
  if (!fits)
    fail(TF_INVALID_ARGUMENT, "data.shape = " + text(data.dims()) +
                                  " does not start with segment_ids.shape = " + text(ids.dims()));
  const std::int64_t count = count_of(call.input(2), ids);
  const Tensor y = call.output(0, with_rows(data, ids.rank(), count));
  const Folded work = folded(call, y);
  begin_with(work, y.count(), kOperation, y.dtype());
  const char* in = widened(call, data);
  const Combine combine = combine_of(kOperation, work.dtype);
  const std::int64_t width = y.count() > 0 ? y.count() / count : 0;
  for (std::int64_t k = 0; k < ids.count() && width > 0; ++k) {
    const std::int64_t id = integer_at(ids, k);
    if (id >= 0) combine(work.data + id * width * work.size, in + k * width * work.size, width, 1);
  }
  narrow_to(y, work);
}

template <Scale kScale>
void sparse_segments(Call& call) {
  const Tensor data = call.input(0);
  const Tensor indices = call.input(1);
  const Tensor ids = call.input(2);
  require(data.rank() > 0, "input must be at least rank 1");
  require(indices.rank() == 1, "indices should be a vector.");
  check_sorted(ids, indices.count());
  const std::int64_t rows = ids.count();
  const std::int64_t count = call.inputs() > 3 ? count_of(call.input(3), ids)
                             : rows == 0       ? 0
                                               : integer_at(ids, rows - 1) + 1;
  check_below(indices, data.dim(0));
  const Tensor y = call.output(0, with_rows(data, 1, count));
  const Folded work = folded(call, y);
  begin_with(work, y.count(), kAdd, y.dtype());
  const char* in = widened(call, data);
  if (y.count() > 0) {
    fold_sorted(work, ids, y.count() / count, in, kAdd, kScale,
                [&](std::int64_t k) { return integer_at(indices, k); });
  }
  narrow_to(y, work);
}

// The gradient with respect to the data: each gathered row gets its segment's gradient.
template <Scale kScale>
void sparse_segments_grad(Call& call) {
  const Tensor grad = call.input(0);
  const Tensor indices = call.input(1);
  const Tensor ids = call.input(2);
  const Tensor given = call.input(3);
  require(indices.rank() == 1 && std::ranges::equal(ids.dims(), indices.dims()),
          "segment_ids and indices should have same size.");
  require(grad.rank() > 0, "the gradient must have rows");
  require(given.rank() == 0, "output_dim0 should be a scalar.");
  const std::int64_t rows = scalar_int(given, "output_dim0");
  require(rows >= 0, "output_dim0 must not be negative");
  check_below(ids, grad.dim(0), "segment_ids");
  check_below(indices, rows);
  const Tensor y = call.output(0, with_rows(grad, 1, rows));
  const Folded work = folded(call, y);
  begin_with(work, y.count(), kAdd, y.dtype());
  if (y.count() == 0 || grad.count() == 0) return narrow_to(y, work);
  const std::int64_t width = y.count() / rows;
  const std::int64_t bytes = width * work.size;
  auto* scaled = call.scratch<char>(grad.dim(0) * bytes);
  auto* sizes = call.scratch<std::int64_t>(grad.dim(0));
  std::memcpy(scaled, widened(call, grad), static_cast<std::size_t>(grad.dim(0) * bytes));
  std::fill_n(sizes, grad.dim(0), 0);
  for (std::int64_t k = 0; k < ids.count(); ++k) ++sizes[integer_at(ids, k)];
  for (std::int64_t k = 0; kScale != Scale::kNone && k < grad.dim(0); ++k) {
    divide_row(work, scaled + k * bytes, width, std::max<std::int64_t>(sizes[k], 1),
               kScale == Scale::kRoot);
  }
  const Combine combine = combine_of(kAdd, work.dtype);
  for (std::int64_t k = 0; k < ids.count(); ++k) {
    combine(work.data + integer_at(indices, k) * bytes, scaled + integer_at(ids, k) * bytes, width,
            1);
  }
  narrow_to(y, work);
}

template <Operation kOperation>
void add_folds(const std::string& name) {
  const std::vector<Constraint> types = {{"T", types_of(kOperation)}};
  add<sorted_segments<kOperation, Scale::kNone>>(("Segment" + name).c_str(), types);
  add<sorted_segments<kOperation, Scale::kNone>>(("Segment" + name + "V2").c_str(), types);
  add<unsorted_segments<kOperation>>(("UnsortedSegment" + name).c_str(), types);
}

template <Scale kScale>
void add_sparse(const std::string& name, const std::vector<TF_DataType>& types) {
  add<sparse_segments<kScale>>(("SparseSegment" + name).c_str(), {{"T", types}});
  add<sparse_segments<kScale>>(("SparseSegment" + name + "WithNumSegments").c_str(),
                               {{"T", types}});
  add<sparse_segments_grad<kScale>>(("SparseSegment" + name + "Grad").c_str(),
                                    {{"T", {TF_FLOAT, TF_DOUBLE, TF_HALF, TF_BFLOAT16}}});
}

}  // namespace

const Family registered([] {
  add_folds<kAdd>("Sum");
  add_folds<kMul>("Prod");
  add_folds<kMin>("Min");
  add_folds<kMax>("Max");
  add<sorted_segments<kAdd, Scale::kMean>>("SegmentMean", {{"T", types_of(kAdd)}});
  add_sparse<Scale::kNone>("Sum", types_of(kMin));
  add_sparse<Scale::kMean>("Mean", {TF_FLOAT, TF_DOUBLE, TF_HALF, TF_BFLOAT16});
  add_sparse<Scale::kRoot>("SqrtN", {TF_FLOAT, TF_DOUBLE, TF_HALF, TF_BFLOAT16});
});

}  // namespace drystone::cpu
