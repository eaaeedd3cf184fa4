// Constants, as GraphDef carries them: a view of the bytes of a TensorProto.
//
// Since ABI 1.0. The view owns nothing: it lives as long as the bytes it was made of. Values are
// decoded on request and never trusted: a shape that claims more elements than the caller allows
// gives an error, not an allocation.
//
//   if (auto axis = TensorProtoView(bytes).integer()) use(*axis);
//   Result<std::vector<float>> weights = TensorProtoView(bytes).values<float>(1 << 20);
#ifndef DRYSTONE_SDK_TENSOR_PROTO_HPP_
#define DRYSTONE_SDK_TENSOR_PROTO_HPP_

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "drystone/datatype.h"
#include "drystone/sdk/dtype.hpp"
#include "drystone/sdk/error.hpp"
#include "drystone/sdk/shape.hpp"
#include "drystone/sdk/wire.hpp"

namespace drystone::sdk {

// The C++ type that holds one element of a dtype in memory: dtype_of<float>::value == TF_FLOAT.
template <class T>
struct dtype_of;
template <TF_DataType D>
using dtype_constant = std::integral_constant<TF_DataType, D>;
template <>
struct dtype_of<float> : dtype_constant<TF_FLOAT> {};
template <>
struct dtype_of<double> : dtype_constant<TF_DOUBLE> {};
template <>
struct dtype_of<std::int8_t> : dtype_constant<TF_INT8> {};
template <>
struct dtype_of<std::int16_t> : dtype_constant<TF_INT16> {};
template <>
struct dtype_of<std::int32_t> : dtype_constant<TF_INT32> {};
template <>
struct dtype_of<std::int64_t> : dtype_constant<TF_INT64> {};
template <>
struct dtype_of<std::uint8_t> : dtype_constant<TF_UINT8> {};
template <>
struct dtype_of<std::uint16_t> : dtype_constant<TF_UINT16> {};
template <>
struct dtype_of<std::uint32_t> : dtype_constant<TF_UINT32> {};
template <>
struct dtype_of<std::uint64_t> : dtype_constant<TF_UINT64> {};
template <>
struct dtype_of<bool> : dtype_constant<TF_BOOL> {};

class TensorProtoView {
 public:
  TensorProtoView() = default;
  explicit TensorProtoView(std::string_view proto) : proto_(proto) {
    wire::Reader fields(proto);
    while (fields.next()) {
      if (fields.field() == 1) dtype_ = static_cast<TF_DataType>(fields.int32());
      if (fields.field() == 2) shape_ = Shape::parse(fields.bytes());
      if (fields.field() == 4) content_ = fields.bytes();
    }
    well_formed_ = fields.ok();
  }

  // False when the bytes are no message; everything else is then empty.
  bool ok() const { return well_formed_; }
  TF_DataType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  // The elements as they lie in memory, where the proto has them so; "" where it lists them.
  std::string_view content() const { return content_; }
  std::string_view bytes() const { return proto_; }

  // The elements, at most `most` of them. A list shorter than the shape repeats its last element, an
  // absent one is all zero, as everywhere in GraphDef. T must be the dtype's own type.
  template <class T>
  Result<std::vector<T>> values(std::int64_t most = std::int64_t{1} << 24) const {
    if (!well_formed_) return invalid_argument("the bytes of a TensorProto are malformed");
    if (dtype_of<T>::value != dtype_) {
      return invalid_argument("a constant of dtype " + dtype_name(dtype_) +
                              " was asked for values of dtype " +
                              dtype_name(dtype_of<T>::value));
    }
    const std::int64_t count = shape_.element_count();
    if (count < 0 || count > most) {
      return invalid_argument("a constant has no known number of elements, or more than " +
                              std::to_string(most));
    }
    return content_.empty() ? listed<T>(static_cast<std::size_t>(count))
                            : stored<T>(static_cast<std::size_t>(count));
  }

  // The only element of an integer constant (int32 or int64, scalar or of one element).
  std::optional<std::int64_t> integer() const {
    if (shape_.element_count() != 1) return std::nullopt;
    if (dtype_ == TF_INT32) return only<std::int32_t, std::int64_t>();
    if (dtype_ == TF_INT64) return only<std::int64_t, std::int64_t>();
    return std::nullopt;
  }

  // The only element of a float or double constant.
  std::optional<double> real() const {
    if (shape_.element_count() != 1) return std::nullopt;
    if (dtype_ == TF_FLOAT) return only<float, double>();
    if (dtype_ == TF_DOUBLE) return only<double, double>();
    return std::nullopt;
  }

 private:
  template <class T, class Wide>
  std::optional<Wide> only() const {
    Result<std::vector<T>> all = values<T>(1);
    if (!all.ok() || all->empty()) return std::nullopt;
    return static_cast<Wide>(all->front());
  }

  template <class T>
  Result<std::vector<T>> stored(std::size_t count) const {
    if (content_.size() != count * sizeof(T)) {
      return invalid_argument("a constant of " + std::to_string(count) + " elements has " +
                              std::to_string(content_.size()) + " bytes");
    }
    std::vector<T> out(count);
    for (std::size_t i = 0; i < count; ++i) {
      T one{};
      if constexpr (std::is_same_v<T, bool>) {
        one = content_[i] != 0;
      } else {
        std::memcpy(&one, content_.data() + i * sizeof(T), sizeof(T));
      }
      out[i] = one;
    }
    return out;
  }

  template <class T>
  Result<std::vector<T>> listed(std::size_t count) const {
    std::vector<T> out;
    wire::Reader fields(proto_);
    while (fields.next() && out.size() < count) {
      if (fields.field() == list_field<T>()) append(fields, count, &out);
    }
    const T last = out.empty() ? T{} : static_cast<T>(out.back());
    out.resize(count, last);
    return out;
  }

  template <class T>
  static void append(const wire::Reader& field, std::size_t count, std::vector<T>* out) {
    if constexpr (std::is_floating_point_v<T>) {
      append_fixed(field, count, out);
    } else {
      for (wire::Varints all(field); out->size() < count && all.next();) {
        out->push_back(static_cast<T>(all.value()));
      }
    }
  }

  template <class T>
  static void append_fixed(const wire::Reader& field, std::size_t count, std::vector<T>* out) {
    std::string_view packed = field.bytes();
    if (field.type() != wire::Type::bytes) {
      out->push_back(static_cast<T>(sizeof(T) == 4 ? field.float32() : field.float64()));
    }
    for (; packed.size() >= sizeof(T) && out->size() < count; packed.remove_prefix(sizeof(T))) {
      T one{};
      packed.copy(reinterpret_cast<char*>(&one), sizeof(T));
      out->push_back(one);
    }
  }

  template <class T>
  static constexpr std::uint32_t list_field() {
    if (std::is_same_v<T, float>) return 5;
    if (std::is_same_v<T, double>) return 6;
    if (std::is_same_v<T, std::int64_t>) return 10;
    if (std::is_same_v<T, bool>) return 11;
    if (std::is_same_v<T, std::uint32_t>) return 16;
    if (std::is_same_v<T, std::uint64_t>) return 17;
    return 7;  // every smaller integer shares int_val
  }

  std::string_view proto_;
  std::string_view content_;
  Shape shape_{std::initializer_list<std::int64_t>{}};
  TF_DataType dtype_ = static_cast<TF_DataType>(0);
  bool well_formed_ = false;
};

}  // namespace drystone::sdk

#endif  // DRYSTONE_SDK_TENSOR_PROTO_HPP_
