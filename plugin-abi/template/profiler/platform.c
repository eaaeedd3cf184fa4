/* What processor and which ABI version this library was built for, read before it is opened. */
#include "drystone/platform_strings.h"

TF_PLATFORM_STRINGS()
