/* TensorFlow's path of drystone/platform.h.
 * Plugin sources written for TensorFlow include this name. Since 1.0. */
#ifndef DRYSTONE_FORWARD_TSL_PLATFORM_PLATFORM_H_
#define DRYSTONE_FORWARD_TSL_PLATFORM_PLATFORM_H_

#include "drystone/platform.h"

#endif /* DRYSTONE_FORWARD_TSL_PLATFORM_PLATFORM_H_ */
