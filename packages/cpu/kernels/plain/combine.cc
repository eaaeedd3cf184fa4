// Operations on runs of elements: see plain/combine.h.
#include "plain/combine.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <type_traits>

#include "core/widen.h"

namespace drystone::cpu {
namespace {

struct Add {
  template <class T>
  static T of(T a, T b) { return wrapping_add(a, b); }
};
struct Sub {
  template <class T>
  static T of(T a, T b) { return wrapping_subtract(a, b); }
};
struct Mul {
  template <class T>
  static T of(T a, T b) { return wrapping_multiply(a, b); }
};
struct Div {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      return b == -1 ? wrapping_subtract(T{0}, a) : static_cast<T>(a / b);
    } else {
      return static_cast<T>(a / b);
    }
  }
};
struct Min {
  template <class T>
  static T of(T a, T b) { return a < b || a != a ? a : b; }
};
struct Max {
  template <class T>
  static T of(T a, T b) { return a > b || a != a ? a : b; }
};
struct Lesser {
  template <class T>
  static T of(T a, T b) { return b < a ? b : a; }
};
struct Greater {
  template <class T>
  static T of(T a, T b) { return a < b ? b : a; }
};

template <class T, class Op>
void run(void* out, const void* in, std::int64_t count, std::int64_t step) {
  T* to = static_cast<T*>(out);
  const T* from = static_cast<const T*>(in);
  if (step == 1) {
    for (std::int64_t k = 0; k < count; ++k)
      to[k] = narrow<T>(Op::of(widen(to[k]), widen(from[k])));
    return;
  }
  const auto value = widen(*from);
  for (std::int64_t k = 0; k < count; ++k) to[k] = narrow<T>(Op::of(widen(to[k]), value));
}

template <class T>
constexpr bool kIsComplex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

template <class T>
Combine pick(Operation operation) {
  switch (operation) {
    case Operation::kAdd: return run<T, Add>;
    case Operation::kSub: return run<T, Sub>;
    case Operation::kMul: return run<T, Mul>;
    case Operation::kDiv: return run<T, Div>;
    default: break;
  }
  if constexpr (!kIsComplex<T>) {
    if (operation == Operation::kMin) return run<T, Min>;
    if (operation == Operation::kMax) return run<T, Max>;
    if (operation == Operation::kLesser) return run<T, Lesser>;
    if (operation == Operation::kGreater) return run<T, Greater>;
  }
  return nullptr;
}

template <std::size_t kSize>
void replace(void* out, const void* in, std::int64_t count, std::int64_t step) {
  if (step == 1) {
    std::memcpy(out, in, static_cast<std::size_t>(count) * kSize);
    return;
  }
  for (std::int64_t k = 0; k < count; ++k)
    std::memcpy(static_cast<char*>(out) + k * kSize, in, kSize);
}

Combine replacing(std::size_t size) {
  switch (size) {
    case 1: return replace<1>;
    case 2: return replace<2>;
    case 4: return replace<4>;
    case 8: return replace<8>;
    default: return replace<16>;
  }
}

std::string vector_text(const Tensor& indices, std::int64_t row, std::int64_t depth) {
  Dims out;
  for (std::int64_t k = 0; k < depth; ++k) out.push_back(integer_at(indices, row * depth + k));
  return text(out);
}

}  // namespace

Combine combine_of(Operation operation, TF_DataType dtype) {
  if (operation == Operation::kUpdate) return replacing(element_size(dtype));
  switch (dtype) {
    case TF_FLOAT: return pick<float>(operation);
    case TF_DOUBLE: return pick<double>(operation);
    case TF_HALF: return pick<Half>(operation);
    case TF_BFLOAT16: return pick<BFloat16>(operation);
    case TF_INT32: return pick<std::int32_t>(operation);
    case TF_INT64: return pick<std::int64_t>(operation);
    case TF_INT16: return pick<std::int16_t>(operation);
    case TF_INT8: return pick<std::int8_t>(operation);
    case TF_UINT8: return pick<std::uint8_t>(operation);
    case TF_UINT16: return pick<std::uint16_t>(operation);
    case TF_UINT32: return pick<std::uint32_t>(operation);
    case TF_UINT64: return pick<std::uint64_t>(operation);
    case TF_COMPLEX64: return pick<std::complex<float>>(operation);
    case TF_COMPLEX128: return pick<std::complex<double>>(operation);
    default: return nullptr;
  }
}

std::vector<TF_DataType> types_of(Operation operation) {
  std::vector<TF_DataType> out;
  for (const TF_DataType dtype : plain_types()) {
    if (combine_of(operation, dtype) != nullptr) out.push_back(dtype);
  }
  return out;
}

namespace {

// Whether an element is zero, of either sign: floats without their sign, `parts` to an element.
template <class Bits>
bool has_zero(const void* data, std::int64_t count, int parts) {
  const auto* values = static_cast<const Bits*>(data);
  for (std::int64_t k = 0; k < count * parts; k += parts) {
    Bits any = 0;
    for (int part = 0; part < parts; ++part) any |= static_cast<Bits>(values[k + part] << 1);
    if (any == 0) return true;
  }
  return false;
}

}  // namespace

bool divides_by_zero(Operation operation, const Tensor& by, bool floats_too) {
  if (operation != Operation::kDiv) return false;
  const std::int64_t count = by.count();
  switch (by.dtype()) {
    case TF_HALF: case TF_BFLOAT16: return floats_too && has_zero<std::uint16_t>(by.data(), count, 1);
    case TF_FLOAT: return floats_too && has_zero<std::uint32_t>(by.data(), count, 1);
    case TF_DOUBLE: return floats_too && has_zero<std::uint64_t>(by.data(), count, 1);
    case TF_COMPLEX64: return floats_too && has_zero<std::uint32_t>(by.data(), count, 2);
    case TF_COMPLEX128: return floats_too && has_zero<std::uint64_t>(by.data(), count, 2);
    default: break;
  }
  bool found = false;
  with_real(by.dtype(), [&](auto type) {
    const auto* values = by.as<decltype(type)>();
    found = std::find(values, values + count, decltype(type){0}) != values + count;
  });
  return found;
}

const std::int64_t* row_numbers(const Call& call, const Tensor& indices, DimsView limits,
                                bool ignores) {
  const auto depth = static_cast<std::int64_t>(limits.size());
  const std::int64_t rows = span_of(indices.dims(), 0, indices.rank() - 1);
  auto* out = call.scratch<std::int64_t>(rows);
  with_index(indices.dtype(), [&](auto type) {
    const auto* at = indices.as<decltype(type)>();
    for (std::int64_t row = 0; row < rows; ++row, at += depth) {
      std::int64_t number = 0;
      bool inside = true;
      for (std::int64_t k = 0; k < depth; ++k) {
        const std::int64_t limit = limits[static_cast<std::size_t>(k)];
        inside = inside && at[k] >= 0 && static_cast<std::int64_t>(at[k]) < limit;
        number = inside ? number * limit + static_cast<std::int64_t>(at[k]) : -1;
      }
      if (!inside && !ignores) {
        fail(TF_INVALID_ARGUMENT, "indices[" + std::to_string(row) +
                                      "] = " + vector_text(indices, row, depth) +
                                      " does not index into shape " + text(limits));
      }
      out[row] = number;
    }
  });
  return out;
}

void check_below(const Tensor& indices, std::int64_t limit, const char* what) {
  with_index(indices.dtype(), [&](auto type) {
    const auto* at = indices.as<decltype(type)>();
    bool outside = false;
    for (std::int64_t k = 0; k < indices.count(); ++k)
      outside |= at[k] < 0 || static_cast<std::int64_t>(at[k]) >= limit;
    for (std::int64_t k = 0; outside && k < indices.count(); ++k) {
      if (at[k] >= 0 && static_cast<std::int64_t>(at[k]) < limit) continue;
      fail(TF_INVALID_ARGUMENT, std::string(what) + "[" + std::to_string(k) +
                                    "] = " + std::to_string(at[k]) + " is not in [0, " +
                                    std::to_string(limit) + ")");
    }
  });
}

}  // namespace drystone::cpu
