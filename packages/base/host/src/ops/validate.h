// The rules that an op definition must keep as a whole.
#ifndef DRYSTONE_HOST_OPS_VALIDATE_H_
#define DRYSTONE_HOST_OPS_VALIDATE_H_

#include "ops/op_def.h"

namespace drystone::host::ops {

// Fails with INVALID_ARGUMENT.
void validate(const OpDef& def);

}  // namespace drystone::host::ops

#endif  // DRYSTONE_HOST_OPS_VALIDATE_H_
