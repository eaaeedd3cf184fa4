// AttrValue bytes, as far as op definitions need them understood.
#ifndef DRYSTONE_HOST_OPS_ATTR_VALUE_H_
#define DRYSTONE_HOST_OPS_ATTR_VALUE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op_def.h"

namespace drystone::host::ops {

// A decoded value; it points into the bytes.
struct AttrValue {
  std::string_view type;              // "int", "list(type)", ...; "list" for an empty list,
                                      // "placeholder", "" for no value, "mixed" for a mixed list
  std::size_t length = 0;             // of a list
  std::vector<std::int64_t> numbers;  // of int, bool and type
  std::vector<std::string_view> strings;
};

// Fails with INVALID_ARGUMENT for bytes that are no AttrValue.
AttrValue decode_value(std::string_view bytes);

// Fails with INVALID_ARGUMENT unless the value is of the attribute's type, among its allowed
// values, not below its minimum, and names no reference types.
void check_value(const AttrDef& attr, std::string_view bytes);

}  // namespace drystone::host::ops

#endif  // DRYSTONE_HOST_OPS_ATTR_VALUE_H_
