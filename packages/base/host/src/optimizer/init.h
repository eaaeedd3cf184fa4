// Entry symbols of the optimizer module: TF_InitGraph, and TF_InitGraphPlugin of the RFC.
#ifndef DRYSTONE_HOST_OPTIMIZER_INIT_H_
#define DRYSTONE_HOST_OPTIMIZER_INIT_H_

#include "core/library.h"

namespace drystone::host {

// Call the library's TF_InitGraph, check what it fills in, register its optimizer. Throws Failure.
void init_optimizer(Library& library, void* function);

// DS_OrderOptimizer: where the library's optimizer runs. Does nothing the second time.
void init_order(Library& library, void* function);

// The same as init_optimizer for TF_InitGraphPlugin; does nothing for a library that exports
// TF_InitGraph as well.
void init_optimizer_rfc(Library& library, void* function);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_OPTIMIZER_INIT_H_
