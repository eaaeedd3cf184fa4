// Specs of attributes and arguments, such as "T: {float, double} = DT_FLOAT" and "x: N * T".
// The grammar: docs/reference/spec/op_spec_grammar.md.
#ifndef DRYSTONE_HOST_OPS_SPEC_H_
#define DRYSTONE_HOST_OPS_SPEC_H_

#include <string_view>

#include "ops/op_def.h"

namespace drystone::host::ops {

// Throws SpecError (ops/cursor.h).
AttrDef parse_attr_spec(std::string_view spec);

// The argument, which may refer to `attrs`. Attributes that become lengths get a minimum of 1 where
// they have none. Throws SpecError.
ArgDef parse_arg_spec(std::string_view spec, std::vector<AttrDef>& attrs);

}  // namespace drystone::host::ops

#endif  // DRYSTONE_HOST_OPS_SPEC_H_
