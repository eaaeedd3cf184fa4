// The `init` functions of the schemes that this library serves.
#ifndef DRYSTONE_FILES_SCHEMES_H_
#define DRYSTONE_FILES_SCHEMES_H_

#include "drystone/filesystem.h"

namespace drystone::files {

void init_posix(TF_Filesystem* filesystem, TF_Status* status);
void init_ram(TF_Filesystem* filesystem, TF_Status* status);

}  // namespace drystone::files

#endif  // DRYSTONE_FILES_SCHEMES_H_
