/* TensorFlow's path of drystone/ops.h.
 * Plugin sources written for TensorFlow include this name. Since 1.0. */
#ifndef DRYSTONE_FORWARD_TENSORFLOW_C_OPS_H_
#define DRYSTONE_FORWARD_TENSORFLOW_C_OPS_H_

#include "drystone/ops.h"

#endif /* DRYSTONE_FORWARD_TENSORFLOW_C_OPS_H_ */
