// A plugin whose entry function lets a C++ exception out.
#include <stdexcept>

#include "drystone/kernels.h"
#include "drystone/platform_strings.h"

TF_PLATFORM_STRINGS()

extern "C" TF_CAPI_EXPORT void TF_InitKernel() { throw std::runtime_error("thrown on purpose"); }
