// Values in protobuf's text format, as attribute specs state defaults.
#ifndef DRYSTONE_HOST_OPS_TEXT_VALUE_H_
#define DRYSTONE_HOST_OPS_TEXT_VALUE_H_

#include <string>
#include <string_view>

#include "ops/cursor.h"

namespace drystone::host::ops {

// Reads a value of an attribute type ("int", "list(shape)") and returns AttrValue bytes. Throws
// SpecError.
std::string parse_value(Cursor& in, std::string_view type);

// Reads a string in single or double quotes and returns what it stands for. Throws SpecError.
std::string parse_quoted(Cursor& in);

}  // namespace drystone::host::ops

#endif  // DRYSTONE_HOST_OPS_TEXT_VALUE_H_
