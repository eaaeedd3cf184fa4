/* TensorFlow's path of drystone/optimizer.h.
 * Plugin sources written for TensorFlow include this name. Since 1.0. */
#ifndef DRYSTONE_FORWARD_TENSORFLOW_C_EXPERIMENTAL_GRAPPLER_GRAPPLER_H_
#define DRYSTONE_FORWARD_TENSORFLOW_C_EXPERIMENTAL_GRAPPLER_GRAPPLER_H_

#include "drystone/attrtype.h"
#include "drystone/buffer.h"
#include "drystone/datatype.h"
#include "drystone/optimizer.h"
#include "drystone/registry.h"
#include "drystone/status.h"
#include "drystone/tensor.h"
#include "drystone/tstring.h"

#endif /* DRYSTONE_FORWARD_TENSORFLOW_C_EXPERIMENTAL_GRAPPLER_GRAPPLER_H_ */
