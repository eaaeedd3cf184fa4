/* TensorFlow's path of drystone/status.h.
 * Plugin sources written for TensorFlow include this name. Since 1.0. */
#ifndef DRYSTONE_FORWARD_XLA_TSL_C_TSL_STATUS_H_
#define DRYSTONE_FORWARD_XLA_TSL_C_TSL_STATUS_H_

#include "drystone/status.h"

#endif /* DRYSTONE_FORWARD_XLA_TSL_C_TSL_STATUS_H_ */
