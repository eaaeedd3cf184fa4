/* TensorFlow's path of drystone/logging.h.
 * Plugin sources written for TensorFlow include this name. Since 1.0. */
#ifndef DRYSTONE_FORWARD_TENSORFLOW_C_LOGGING_H_
#define DRYSTONE_FORWARD_TENSORFLOW_C_LOGGING_H_

#include "drystone/logging.h"

#endif /* DRYSTONE_FORWARD_TENSORFLOW_C_LOGGING_H_ */
