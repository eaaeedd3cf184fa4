// The messages that a default value may hold. Source: the proto files of drystone-plugin-abi.
#include "ops/text_schema.h"

#include <array>

namespace drystone::host::ops {
namespace {

using K = FieldKind;

extern const MessageType kListValue;
extern const MessageType kNameAttrList;

constexpr std::array kDimFields = {
    FieldType{"size", 1, K::int64},
    FieldType{"name", 2, K::text},
};
constinit const MessageType kDim = {"TensorShapeProto.Dim", kDimFields};

constinit const std::array kShapeFields = {
    FieldType{"dim", 2, K::message, true, &kDim},
    FieldType{"unknown_rank", 3, K::boolean},
};
constinit const MessageType kShape = {"TensorShapeProto", kShapeFields};

constinit const std::array kTensorFields = {
    FieldType{"dtype", 1, K::dtype},
    FieldType{"tensor_shape", 2, K::message, false, &kShape},
    FieldType{"version_number", 3, K::int32},
    FieldType{"tensor_content", 4, K::text},
    FieldType{"float_val", 5, K::float32, true},
    FieldType{"double_val", 6, K::float64, true},
    FieldType{"int_val", 7, K::int32, true},
    FieldType{"string_val", 8, K::text, true},
    FieldType{"scomplex_val", 9, K::float32, true},
    FieldType{"int64_val", 10, K::int64, true},
    FieldType{"bool_val", 11, K::boolean, true},
    FieldType{"dcomplex_val", 12, K::float64, true},
    FieldType{"half_val", 13, K::int32, true},
    FieldType{"uint32_val", 16, K::uint32, true},
    FieldType{"uint64_val", 17, K::uint64, true},
    FieldType{"float8_val", 18, K::text},
};
constinit const MessageType kTensor = {"TensorProto", kTensorFields};

constinit const std::array kAttrEntryFields = {
    FieldType{"key", 1, K::text},
    FieldType{"value", 2, K::message, false, &kAttrValue},
};
constinit const MessageType kAttrEntry = {"NameAttrList.attr", kAttrEntryFields, false, true};

constinit const std::array kNameAttrListFields = {
    FieldType{"name", 1, K::text},
    FieldType{"attr", 2, K::message, true, &kAttrEntry},
};
constinit const MessageType kNameAttrList = {"NameAttrList", kNameAttrListFields};

constinit const std::array kListValueFields = {
    FieldType{"s", 2, K::text, true},
    FieldType{"i", 3, K::int64, true},
    FieldType{"f", 4, K::float32, true},
    FieldType{"b", 5, K::boolean, true},
    FieldType{"type", 6, K::dtype, true},
    FieldType{"shape", 7, K::message, true, &kShape},
    FieldType{"tensor", 8, K::message, true, &kTensor},
    FieldType{"func", 9, K::message, true, &kNameAttrList},
};
constinit const MessageType kListValue = {"AttrValue.ListValue", kListValueFields};

constinit const std::array kAttrValueFields = {
    FieldType{"list", 1, K::message, false, &kListValue},
    FieldType{"s", 2, K::text},
    FieldType{"i", 3, K::int64},
    FieldType{"f", 4, K::float32},
    FieldType{"b", 5, K::boolean},
    FieldType{"type", 6, K::dtype},
    FieldType{"shape", 7, K::message, false, &kShape},
    FieldType{"tensor", 8, K::message, false, &kTensor},
    FieldType{"placeholder", 9, K::text},
    FieldType{"func", 10, K::message, false, &kNameAttrList},
};

// Attribute types, and the fields that hold their values.
struct TypeField {
  std::string_view type;
  std::string_view field;
};
constexpr std::array kTypeFields = {
    TypeField{"string", "s"},   TypeField{"int", "i"},      TypeField{"float", "f"},
    TypeField{"bool", "b"},     TypeField{"type", "type"},  TypeField{"shape", "shape"},
    TypeField{"tensor", "tensor"}, TypeField{"func", "func"},
};

}  // namespace

constinit const MessageType kAttrValue = {"AttrValue", kAttrValueFields, true};

const FieldType* MessageType::find(std::string_view field) const {
  for (const FieldType& candidate : fields) {
    if (candidate.name == field) return &candidate;
  }
  return nullptr;
}

const FieldType* value_field(std::string_view type, bool list) {
  for (const TypeField& entry : kTypeFields) {
    if (entry.type == type) return (list ? kListValue : kAttrValue).find(entry.field);
  }
  return nullptr;
}

}  // namespace drystone::host::ops
