/* TensorFlow's path of drystone/tensor.h.
 * Plugin sources written for TensorFlow include this name. Since 1.0. */
#ifndef DRYSTONE_FORWARD_TENSORFLOW_C_TF_TENSOR_H_
#define DRYSTONE_FORWARD_TENSORFLOW_C_TF_TENSOR_H_

#include "drystone/tensor.h"

#endif /* DRYSTONE_FORWARD_TENSORFLOW_C_TF_TENSOR_H_ */
