// NVIDIA's libraries, opened when they are wanted and where pip or the system put them.
//
// Each is looked for in the folders of DRYSTONE_GPU_LIBRARIES (with colons between), then in
// nvidia/*/lib beside the plugin's site-packages, then where the system's loader looks.
#pragma once

#include <string>

namespace drystone::gpu {

// A handle of dlopen, or null; `why` says what was tried then.
void* open_nvidia(const char* name, std::string* why);

}  // namespace drystone::gpu
