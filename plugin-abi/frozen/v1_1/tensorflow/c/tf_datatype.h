/* TensorFlow's path of drystone/datatype.h.
 * Plugin sources written for TensorFlow include this name. Since 1.0. */
#ifndef DRYSTONE_FORWARD_TENSORFLOW_C_TF_DATATYPE_H_
#define DRYSTONE_FORWARD_TENSORFLOW_C_TF_DATATYPE_H_

#include "drystone/datatype.h"

#endif /* DRYSTONE_FORWARD_TENSORFLOW_C_TF_DATATYPE_H_ */
