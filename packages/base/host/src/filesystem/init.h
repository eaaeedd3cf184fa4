// The filesystem module's entry function.
#ifndef DRYSTONE_HOST_FILESYSTEM_INIT_H_
#define DRYSTONE_HOST_FILESYSTEM_INIT_H_

#include "core/library.h"

namespace drystone::host {

// Calls `function` as TF_InitPlugin and registers the schemes that it offers. Throws Failure with
// the first error; schemes without an error are registered all the same.
void init_filesystem(Library& library, void* function);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_FILESYSTEM_INIT_H_
