// Entry symbols of the device module: SE_InitPlugin and TF_InitProfiler.
#ifndef DRYSTONE_HOST_DEVICE_INIT_H_
#define DRYSTONE_HOST_DEVICE_INIT_H_

#include "core/library.h"

namespace drystone::host {

// Call the library's SE_InitPlugin, check what it fills in and register its platform. Throws
// Failure.
void init_device(Library& library, void* function);

// The same for TF_InitProfiler and its profiler.
void init_profiler(Library& library, void* function);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_DEVICE_INIT_H_
