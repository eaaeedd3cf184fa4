/* TensorFlow's path of drystone/file_statistics.h.
 * Plugin sources written for TensorFlow include this name. Since 1.0. */
#ifndef DRYSTONE_FORWARD_TENSORFLOW_C_TF_FILE_STATISTICS_H_
#define DRYSTONE_FORWARD_TENSORFLOW_C_TF_FILE_STATISTICS_H_

#include "drystone/file_statistics.h"

#endif /* DRYSTONE_FORWARD_TENSORFLOW_C_TF_FILE_STATISTICS_H_ */
