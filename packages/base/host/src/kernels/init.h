// Entry symbol of the kernels module: TF_InitKernel.
#ifndef DRYSTONE_HOST_KERNELS_INIT_H_
#define DRYSTONE_HOST_KERNELS_INIT_H_

#include "core/library.h"

namespace drystone::host {

// Call the library's TF_InitKernel. When it throws, what it registered is taken back. Throws
// Failure.
void init_kernels(Library& library, void* function);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_KERNELS_INIT_H_
