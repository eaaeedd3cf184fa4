/* TensorFlow's path of drystone/kernels.h and all that it pulled in.
 * Plugin sources written for TensorFlow include this name. Since 1.0. */
#ifndef DRYSTONE_FORWARD_TENSORFLOW_C_KERNELS_H_
#define DRYSTONE_FORWARD_TENSORFLOW_C_KERNELS_H_

#include "drystone/attrtype.h"
#include "drystone/buffer.h"
#include "drystone/datatype.h"
#include "drystone/device.h"
#include "drystone/kernels.h"
#include "drystone/platform.h"
#include "drystone/registry.h"
#include "drystone/status.h"
#include "drystone/tensor.h"
#include "drystone/tstring.h"

#endif /* DRYSTONE_FORWARD_TENSORFLOW_C_KERNELS_H_ */
