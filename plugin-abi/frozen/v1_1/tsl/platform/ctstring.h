/* TensorFlow's path of drystone/tstring.h.
 * Plugin sources written for TensorFlow include this name. Since 1.0. */
#ifndef DRYSTONE_FORWARD_TSL_PLATFORM_CTSTRING_H_
#define DRYSTONE_FORWARD_TSL_PLATFORM_CTSTRING_H_

#include "drystone/tstring.h"

#endif /* DRYSTONE_FORWARD_TSL_PLATFORM_CTSTRING_H_ */
