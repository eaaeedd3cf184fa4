/* TensorFlow's path of drystone/buffer.h.
 * Plugin sources written for TensorFlow include this name. Since 1.0. */
#ifndef DRYSTONE_FORWARD_TENSORFLOW_C_TF_BUFFER_H_
#define DRYSTONE_FORWARD_TENSORFLOW_C_TF_BUFFER_H_

#include "drystone/buffer.h"

#endif /* DRYSTONE_FORWARD_TENSORFLOW_C_TF_BUFFER_H_ */
