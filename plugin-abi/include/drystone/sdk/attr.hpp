// Attributes of nodes: reading the bytes of an AttrValue, and building them.
//
// Since ABI 1.0. An AttrView owns nothing and lives as long as the bytes it was made of. Every
// accessor answers "not that kind" (nullopt, an empty list) rather than guessing, and malformed bytes
// are of kind `none`.
//
//   if (view.attr(node, "transpose_a").boolean().value_or(false)) ...
//   graph.set_attr(node, "epsilon", attr::real(1e-3f));
#ifndef DRYSTONE_SDK_ATTR_HPP_
#define DRYSTONE_SDK_ATTR_HPP_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drystone/datatype.h"
#include "drystone/sdk/error.hpp"
#include "drystone/sdk/shape.hpp"
#include "drystone/sdk/tensor_proto.hpp"
#include "drystone/sdk/wire.hpp"

namespace drystone::sdk {

// What an attribute holds; the numbers are those of the fields of AttrValue.
enum class AttrKind : std::uint8_t {
  none = 0,
  list = 1,
  string = 2,
  integer = 3,
  real = 4,
  boolean = 5,
  type = 6,
  shape = 7,
  tensor = 8,
  placeholder = 9,
  function = 10,
};

class AttrView {
 public:
  // An attribute that is not there.
  AttrView() = default;
  explicit AttrView(std::string_view proto) : bytes_(proto), present_(true) {
    wire::Reader fields(proto);
    while (fields.next()) {
      if (fields.field() > 10) continue;
      kind_ = static_cast<AttrKind>(fields.field());
      field_ = fields;
    }
    if (!fields.ok()) kind_ = AttrKind::none;
  }

  // Whether the node has the attribute at all.
  bool present() const { return present_; }
  AttrKind kind() const { return kind_; }
  // The bytes of the AttrValue: hand them to set_attr to copy an attribute as it is.
  std::string_view bytes() const { return bytes_; }

  std::optional<std::string_view> string() const {
    if (kind_ != AttrKind::string) return std::nullopt;
    return field_.bytes();
  }
  std::optional<std::int64_t> integer() const {
    if (kind_ != AttrKind::integer) return std::nullopt;
    return field_.int64();
  }
  std::optional<float> real() const {
    if (kind_ != AttrKind::real) return std::nullopt;
    return field_.float32();
  }
  std::optional<bool> boolean() const {
    if (kind_ != AttrKind::boolean) return std::nullopt;
    return field_.boolean();
  }
  std::optional<TF_DataType> type() const {
    if (kind_ != AttrKind::type) return std::nullopt;
    return static_cast<TF_DataType>(field_.int32());
  }
  std::optional<Shape> shape() const {
    if (kind_ != AttrKind::shape) return std::nullopt;
    return Shape::parse(field_.bytes());
  }
  std::optional<TensorProtoView> tensor() const {
    if (kind_ != AttrKind::tensor) return std::nullopt;
    return TensorProtoView(field_.bytes());
  }
  // The name of an attribute of the function that this node stands in.
  std::optional<std::string_view> placeholder() const {
    if (kind_ != AttrKind::placeholder) return std::nullopt;
    return field_.bytes();
  }
  // The name of a function.
  std::optional<std::string_view> function() const {
    if (kind_ != AttrKind::function) return std::nullopt;
    return function_name(field_.bytes());
  }

  std::vector<std::string_view> strings() const { return views(2); }
  std::vector<std::int64_t> integers() const {
    std::vector<std::int64_t> out;
    each(3, [&](const wire::Reader& field) {
      for (wire::Varints all(field); all.next();) {
        out.push_back(static_cast<std::int64_t>(all.value()));
      }
    });
    return out;
  }
  std::vector<float> reals() const {
    std::vector<float> out;
    each(4, [&](const wire::Reader& field) {
      if (field.type() == wire::Type::fixed32) out.push_back(field.float32());
      std::string_view packed = field.bytes();
      for (; packed.size() >= 4; packed.remove_prefix(4)) {
        float one = 0;
        std::memcpy(&one, packed.data(), sizeof one);
        out.push_back(one);
      }
    });
    return out;
  }
  std::vector<bool> booleans() const {
    std::vector<bool> out;
    each(5, [&](const wire::Reader& field) {
      for (wire::Varints all(field); all.next();) out.push_back(all.value() != 0);
    });
    return out;
  }
  std::vector<TF_DataType> types() const {
    std::vector<TF_DataType> out;
    each(6, [&](const wire::Reader& field) {
      out.reserve(out.size() + field.bytes().size());  // of packed types, which take a byte each
      for (wire::Varints all(field); all.next();) {
        out.push_back(static_cast<TF_DataType>(static_cast<std::int32_t>(all.value())));
      }
    });
    return out;
  }
  std::vector<Shape> shapes() const {
    std::vector<Shape> out;
    for (std::string_view one : views(7)) out.push_back(Shape::parse(one));
    return out;
  }
  std::vector<TensorProtoView> tensors() const {
    std::vector<TensorProtoView> out;
    for (std::string_view one : views(8)) out.emplace_back(one);
    return out;
  }
  std::vector<std::string_view> functions() const {
    std::vector<std::string_view> out;
    for (std::string_view one : views(9)) out.push_back(function_name(one));
    return out;
  }

 private:
  static std::string_view function_name(std::string_view proto) {
    std::string_view name;
    wire::Reader fields(proto);
    while (fields.next()) {
      if (fields.field() == 1) name = fields.bytes();
    }
    return fields.ok() ? name : std::string_view();
  }

  // Call `use` with each element field of the list; a list may come in several pieces.
  template <class Use>
  void each(std::uint32_t element, Use use) const {
    if (kind_ != AttrKind::list) return;
    wire::Reader outer(bytes_);
    while (outer.next()) {
      if (outer.field() != 1) continue;
      wire::Reader inner(outer.bytes());
      while (inner.next()) {
        if (inner.field() == element) use(inner);
      }
    }
  }

  std::vector<std::string_view> views(std::uint32_t element) const {
    std::vector<std::string_view> out;
    each(element, [&](const wire::Reader& field) { out.push_back(field.bytes()); });
    return out;
  }

  std::string_view bytes_;
  wire::Reader field_{std::string_view()};
  AttrKind kind_ = AttrKind::none;
  bool present_ = false;
};

// The bytes of an AttrValue, for GraphEdit::set_attr and NewNode::attr.
namespace attr {

inline std::string message(AttrKind kind, std::string_view bytes) {
  std::string out;
  wire::Writer(&out).bytes(static_cast<std::uint32_t>(kind), bytes);
  return out;
}
inline std::string number(AttrKind kind, std::int64_t value) {
  std::string out;
  wire::Writer(&out).int64(static_cast<std::uint32_t>(kind), value);
  return out;
}

inline std::string string(std::string_view value) { return message(AttrKind::string, value); }
inline std::string integer(std::int64_t value) { return number(AttrKind::integer, value); }
inline std::string boolean(bool value) { return number(AttrKind::boolean, value ? 1 : 0); }
inline std::string type(TF_DataType value) { return number(AttrKind::type, value); }
inline std::string shape(const Shape& value) { return message(AttrKind::shape, value.proto()); }
inline std::string real(float value) {
  std::string out;
  wire::Writer(&out).float32(static_cast<std::uint32_t>(AttrKind::real), value);
  return out;
}
// `proto`: the bytes of a TensorProto.
inline std::string tensor(std::string_view proto) { return message(AttrKind::tensor, proto); }
inline std::string function(std::string_view name) {
  std::string out;
  wire::Writer(&out).bytes(1, name);
  return message(AttrKind::function, out);
}

inline std::string strings(const std::vector<std::string_view>& values) {
  std::string list;
  for (std::string_view value : values) wire::Writer(&list).bytes(2, value);
  return message(AttrKind::list, list);
}
template <class T>
std::string packed_list(std::uint32_t field, const std::vector<T>& values) {
  std::string packed;
  for (T value : values) {
    wire::Writer::pack(&packed, static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
  }
  std::string list;
  if (!values.empty()) wire::Writer(&list).bytes(field, packed);
  return message(AttrKind::list, list);
}
inline std::string integers(const std::vector<std::int64_t>& values) {
  return packed_list(3, values);
}
inline std::string booleans(const std::vector<bool>& values) {
  return packed_list(5, std::vector<std::int64_t>(values.begin(), values.end()));
}
inline std::string types(const std::vector<TF_DataType>& values) { return packed_list(6, values); }
inline std::string reals(const std::vector<float>& values) {
  std::string list;
  for (float value : values) wire::Writer(&list).float32(4, value);
  return message(AttrKind::list, list);
}
inline std::string shapes(const std::vector<Shape>& values) {
  std::string list;
  for (const Shape& value : values) wire::Writer(&list).bytes(7, value.proto());
  return message(AttrKind::list, list);
}

}  // namespace attr

// The bytes of a TensorProto with the elements given, for attr::tensor. One of `values` may stand for
// all: it is repeated to fill the shape.
template <class T>
std::string tensor_proto(const Shape& shape, const std::vector<T>& values) {
  std::string content;
  for (T value : values) {
    content.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  if (values.size() == 1) {
    const std::string one = content;
    for (std::int64_t i = 1; i < shape.element_count(); ++i) content += one;
  }
  std::string out;
  wire::Writer writer(&out);
  writer.varint(1, dtype_of<T>::value);
  writer.bytes(2, shape.proto());
  writer.bytes(4, content);
  return out;
}

}  // namespace drystone::sdk

#endif  // DRYSTONE_SDK_ATTR_HPP_
