// The messages that a default value may hold: fields with numbers and kinds.
#ifndef DRYSTONE_HOST_OPS_TEXT_SCHEMA_H_
#define DRYSTONE_HOST_OPS_TEXT_SCHEMA_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace drystone::host::ops {

enum class FieldKind : std::uint8_t {
  int32, int64, uint32, uint64, float32, float64, boolean, text, dtype, message
};

struct MessageType;

struct FieldType {
  std::string_view name;
  std::uint32_t number;
  FieldKind kind;
  bool repeated = false;
  const MessageType* message = nullptr;
};

struct MessageType {
  std::string_view name;
  std::span<const FieldType> fields;
  bool oneof = false;      // one field at most, written even when it is 0
  bool map_entry = false;  // field 1 is the key
  const FieldType* find(std::string_view field) const;
};

extern const MessageType kAttrValue;

// The field of AttrValue (with `list` false) or AttrValue.ListValue that holds a type's values;
// NULL for a name that is no attribute type.
const FieldType* value_field(std::string_view type, bool list);

}  // namespace drystone::host::ops

#endif  // DRYSTONE_HOST_OPS_TEXT_SCHEMA_H_
