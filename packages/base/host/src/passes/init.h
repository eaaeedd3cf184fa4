// Entry symbol of the passes module: DS_InitPasses.
#ifndef DRYSTONE_HOST_PASSES_INIT_H_
#define DRYSTONE_HOST_PASSES_INIT_H_

#include "core/library.h"

namespace drystone::host {

// Call the library's DS_InitPasses and register what it gives. Throws Failure.
void init_passes(Library& library, void* function);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_PASSES_INIT_H_
