/* TensorFlow's path of drystone/tstring.h.
 * Plugin sources written for TensorFlow include this name. Since 1.0. */
#ifndef DRYSTONE_FORWARD_TENSORFLOW_C_TF_TSTRING_H_
#define DRYSTONE_FORWARD_TENSORFLOW_C_TF_TSTRING_H_

#include "drystone/tstring.h"

#endif /* DRYSTONE_FORWARD_TENSORFLOW_C_TF_TSTRING_H_ */
