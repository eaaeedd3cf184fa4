/* TensorFlow's path of drystone/macros.h.
 * Plugin sources written for TensorFlow include this name. Since 1.0. */
#ifndef DRYSTONE_FORWARD_TENSORFLOW_C_C_API_MACROS_H_
#define DRYSTONE_FORWARD_TENSORFLOW_C_C_API_MACROS_H_

#include "drystone/macros.h"

#endif /* DRYSTONE_FORWARD_TENSORFLOW_C_C_API_MACROS_H_ */
