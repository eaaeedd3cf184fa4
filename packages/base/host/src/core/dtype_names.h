// Names of data types: "float" in specs, "DT_FLOAT" in the text format.
#ifndef DRYSTONE_HOST_CORE_DTYPE_NAMES_H_
#define DRYSTONE_HOST_CORE_DTYPE_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "drystone/sdk/dtype.hpp"

namespace drystone::host {

// The number for a name in specs ("float", "int32"), 0 for no data type.
int dtype_of_spec(std::string_view name);

// The number for a name in the text format ("DT_FLOAT", "DT_FLOAT_REF"), -1 for none.
int dtype_of_enum(std::string_view name);

using sdk::dtype_name;

// Whether the number is a data type other than a reference.
bool is_dtype(int number);

// The types of "numbertype" (also spelt "numerictype"), "realnumbertype" or "quantizedtype", in the
// order in which definitions list them; empty for any other name.
const std::vector<int>& dtype_set(std::string_view name);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_DTYPE_NAMES_H_
