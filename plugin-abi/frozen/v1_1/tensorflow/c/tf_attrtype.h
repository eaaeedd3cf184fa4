/* TensorFlow's path of drystone/attrtype.h.
 * Plugin sources written for TensorFlow include this name. Since 1.0. */
#ifndef DRYSTONE_FORWARD_TENSORFLOW_C_TF_ATTRTYPE_H_
#define DRYSTONE_FORWARD_TENSORFLOW_C_TF_ATTRTYPE_H_

#include "drystone/attrtype.h"

#endif /* DRYSTONE_FORWARD_TENSORFLOW_C_TF_ATTRTYPE_H_ */
