// Axes and positions under other layouts, rows changed in a copy, diagonals of any rank, crosses.
#include <algorithm>
#include <cstring>
#include <limits>

#include "core/family.h"
#include "core/widen.h"
#include "plain/combine.h"

namespace drystone::cpu {
namespace {

struct Formats {
  explicit Formats(const Node& node)
      : source(node.string("src_format")), target(node.string("dst_format")) {
    std::string a = source;
    std::string b = target;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    require((a.size() == 4 || a.size() == 5) && a == b &&
                std::adjacent_find(a.begin(), a.end()) == a.end(),
            "formats must be permutations of each other, of 4 or 5 letters");
  }
  std::string source;
  std::string target;
};

template <class T>
class DimMap {
 public:
  explicit DimMap(const Node& node) : formats_(node) {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    const auto rank = static_cast<T>(formats_.source.size());
    T* out = call.output(0, x.dims()).template write<T>();
    for (std::int64_t k = 0; k < x.count(); ++k) {
      const T axis = x.as<T>()[k];
      require(axis >= -rank && axis < rank, "an axis must lie in [-rank, rank)");
      const char letter = formats_.source[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)];
      out[k] = static_cast<T>(formats_.target.find(letter));
    }
  }

 private:
  Formats formats_;
};

class VecPermute {
 public:
  explicit VecPermute(const Node& node) : formats_(node) {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    require(x.rank() == 1 || (x.rank() == 2 && x.dim(1) == 2),
            "input must be a vector or a matrix of pairs");
    std::string source = formats_.source;
    std::string target = formats_.target;
    const auto rows = static_cast<std::size_t>(x.dim(0));
    if (rows + 2 == source.size()) {
      for (std::string* form : {&source, &target})
        std::erase_if(*form, [](char letter) { return letter == 'N' || letter == 'C'; });
    }
    require(rows == source.size(), "input must hold one entry for each dimension");
    const auto size = static_cast<std::size_t>(x.count()) / rows * element_size(x.dtype());
    char* out = call.output(0, x.dims()).write<char>();
    for (std::size_t k = 0; k < rows; ++k)
      std::memcpy(out + k * size, x.as<char>() + source.find(target[k]) * size, size);
  }

 private:
  Formats formats_;
};

template <class T>
void unravel_index(Call& call) {
  const Tensor indices = call.input(0);
  const Dims dims = int_vector(call.input(1), "dims");
  require(indices.rank() <= 1 && indices.count() > 0,
          "indices must be a scalar or a vector that is not empty");
  std::int64_t total = 1;
  for (const std::int64_t dim : dims) {
    require(dim > 0, "Input dims cannot contain a dim of zero");
    require(!__builtin_mul_overflow(total, dim, &total), "Input dims product is causing overflow");
  }
  require(total <= std::numeric_limits<T>::max(), "Input dims product is causing overflow");
  check_below(indices, total);
  Dims shape(indices.dims().begin(), indices.dims().end());
  shape.insert(shape.begin(), static_cast<std::int64_t>(dims.size()));
  T* out = call.output(0, shape).template write<T>();
  for (std::int64_t k = 0; k < indices.count(); ++k) {
    auto rest = static_cast<std::int64_t>(indices.as<T>()[k]);
    for (std::size_t d = dims.size(); d-- > 0; rest /= dims[d])
      out[static_cast<std::int64_t>(d) * indices.count() + k] = static_cast<T>(rest % dims[d]);
  }
}

// A copy of x with rows replaced, raised or lowered; row numbers are taken modulo their count.
template <Operation kOperation>
void change_rows(Call& call) {
  const Tensor x = call.input(0);
  const Dims rows = int_vector(call.input(1), "i");
  const Tensor values = call.input(2);
  require(x.rank() >= 1 && values.rank() == x.rank() &&
              values.dim(0) == static_cast<std::int64_t>(rows.size()) &&
              std::ranges::equal(values.dims().subspan(1), x.dims().subspan(1)),
          "v must hold one row of x for each row number");
  require(x.dim(0) > 0 || rows.empty(), "x must have rows to change");
  const Tensor y = call.output(0, x.dims());
  const auto size = static_cast<std::int64_t>(element_size(x.dtype()));
  copy_bytes(y.write<char>(), x.data(), x.count() * size);
  if (values.count() == 0) return;
  const std::int64_t width = x.count() / x.dim(0);
  const Combine combine = combine_of(kOperation, x.dtype());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::int64_t row = (rows[k] % x.dim(0) + x.dim(0)) % x.dim(0);
    combine(y.write<char>() + row * width * size,
            values.as<char>() + static_cast<std::int64_t>(k) * width * size, width, 1);
  }
}

// [d1, ..., dk] -> [d1, ..., dk, d1, ..., dk], zero off the diagonal.
void diag(Call& call) {
  const Tensor x = call.input(0);
  require(x.rank() >= 1, "input must be at least 1-D");
  Dims dims(x.dims().begin(), x.dims().end());
  dims.insert(dims.end(), x.dims().begin(), x.dims().end());
  check_dims(dims);
  const Tensor y = call.output(0, dims);
  const std::size_t size = element_size(x.dtype());
  std::memset(y.write<char>(), 0, static_cast<std::size_t>(y.count()) * size);
  for (std::int64_t k = 0; k < x.count(); ++k) {
    std::memcpy(y.write<char>() + static_cast<std::size_t>(k * (x.count() + 1)) * size,
                x.as<char>() + static_cast<std::size_t>(k) * size, size);
  }
}

void diag_part(Call& call) {
  const Tensor x = call.input(0);
  const auto half = static_cast<std::size_t>(x.rank() / 2);
  require(x.rank() > 0 && x.rank() % 2 == 0 &&
              std::ranges::equal(x.dims().first(half), x.dims().subspan(half)),
          "input must have an even rank and the same dims twice");
  const Tensor y = call.output(0, x.dims().first(half));
  const std::size_t size = element_size(x.dtype());
  for (std::int64_t k = 0; k < y.count(); ++k) {
    std::memcpy(y.write<char>() + static_cast<std::size_t>(k) * size,
                x.as<char>() + static_cast<std::size_t>(k * (y.count() + 1)) * size, size);
  }
}

template <class T>
T product_of(T a, T b) {
  if constexpr (kIsNarrow<T>) return narrow<T>(widen(a) * widen(b));
  else return wrapping_multiply(a, b);
}

template <class T>
T difference_of(T a, T b) {
  if constexpr (kIsNarrow<T>) return narrow<T>(widen(a) - widen(b));
  else return wrapping_subtract(a, b);
}

template <class T>
void cross(Call& call) {
  const Tensor a = call.input(0);
  const Tensor b = call.input(1);
  require(a.rank() > 0 && std::ranges::equal(a.dims(), b.dims()),
          "Both inputs must be of same shape");
  if (a.dim(a.rank() - 1) != 3)
    fail(TF_FAILED_PRECONDITION, "Cross-products are only defined for 3-element vectors.");
  T* out = call.output(0, a.dims()).template write<T>();
  const T* x = a.as<T>();
  const T* y = b.as<T>();
  for (std::int64_t k = 0; k < a.count(); k += 3) {
    for (std::int64_t i = 0; i < 3; ++i) {
      const std::int64_t j = k + (i + 1) % 3;
      const std::int64_t l = k + (i + 2) % 3;
      out[k + i] = difference_of(product_of(x[j], y[l]), product_of(x[l], y[j]));
    }
  }
}

template <class... T>
void add_cross(std::initializer_list<TF_DataType> types) {
  const TF_DataType* type = types.begin();
  (add<cross<T>>("Cross", {{"T", {*type++}}}), ...);
}

}  // namespace

const Family registered([] {
  add<DimMap<std::int32_t>>("DataFormatDimMap", {{"T", {TF_INT32}}});
  add<DimMap<std::int64_t>>("DataFormatDimMap", {{"T", {TF_INT64}}});
  add<VecPermute>("DataFormatVecPermute");
  add<unravel_index<std::int32_t>>("UnravelIndex", {{"Tidx", {TF_INT32}}});
  add<unravel_index<std::int64_t>>("UnravelIndex", {{"Tidx", {TF_INT64}}});
  add<change_rows<Operation::kUpdate>>("InplaceUpdate", {{"T", types_of(Operation::kUpdate)}});
  add<change_rows<Operation::kAdd>>("InplaceAdd", {{"T", types_of(Operation::kAdd)}});
  add<change_rows<Operation::kSub>>("InplaceSub", {{"T", types_of(Operation::kSub)}});
  add<diag>("Diag", {{"T", plain_types()}});
  add<diag_part>("DiagPart", {{"T", plain_types()}});
  add_cross<float, double, std::int32_t, std::int64_t, std::int8_t, std::int16_t, std::uint8_t,
            std::uint16_t, std::uint32_t, std::uint64_t, Half, BFloat16>(
      {TF_FLOAT, TF_DOUBLE, TF_INT32, TF_INT64, TF_INT8, TF_INT16, TF_UINT8, TF_UINT16, TF_UINT32,
       TF_UINT64, TF_HALF, TF_BFLOAT16});
});

}  // namespace drystone::cpu
