/* Record what processor and which ABI version this library was built for. A C macro, so a C file:
 * Zig compiles it along. */
#include "drystone/platform_strings.h"

TF_PLATFORM_STRINGS()
