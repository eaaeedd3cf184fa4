/* TensorFlow's path of drystone/env.h.
 * Plugin sources written for TensorFlow include this name. Since 1.0. */
#ifndef DRYSTONE_FORWARD_TENSORFLOW_C_ENV_H_
#define DRYSTONE_FORWARD_TENSORFLOW_C_ENV_H_

#include "drystone/env.h"

#endif /* DRYSTONE_FORWARD_TENSORFLOW_C_ENV_H_ */
