/* TensorFlow's path of drystone/kernels_experimental.h.
 * Plugin sources written for TensorFlow include this name. Since 1.0. */
#ifndef DRYSTONE_FORWARD_TENSORFLOW_C_KERNELS_EXPERIMENTAL_H_
#define DRYSTONE_FORWARD_TENSORFLOW_C_KERNELS_EXPERIMENTAL_H_

#include "drystone/kernels_experimental.h"

#endif /* DRYSTONE_FORWARD_TENSORFLOW_C_KERNELS_EXPERIMENTAL_H_ */
