/* TensorFlow's path of drystone/platform_strings.h.
 * Plugin sources written for TensorFlow include this name. Since 1.0. */
#ifndef DRYSTONE_FORWARD_TENSORFLOW_CORE_PLATFORM_PLATFORM_STRINGS_H_
#define DRYSTONE_FORWARD_TENSORFLOW_CORE_PLATFORM_PLATFORM_STRINGS_H_

#include "drystone/platform_strings.h"

#endif /* DRYSTONE_FORWARD_TENSORFLOW_CORE_PLATFORM_PLATFORM_STRINGS_H_ */
