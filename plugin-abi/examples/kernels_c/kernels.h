/* What the parts of this plugin offer to plugin.c: each registers its op and kernels. */
#ifndef EXAMPLE_KERNELS_H_
#define EXAMPLE_KERNELS_H_

#include "drystone/status.h"

void register_weighted_sum(TF_Status* status);
void register_total(TF_Status* status);
void register_relu(TF_Status* status);
void register_send(TF_Status* status);
void register_recv(TF_Status* status);

#endif /* EXAMPLE_KERNELS_H_ */
