// NcclReplace: one node that reduces or broadcasts becomes a pair of collectives on each device.
#ifndef PASSES_CPP_NCCL_REPLACE_H_
#define PASSES_CPP_NCCL_REPLACE_H_

#include "calls.h"

namespace example {

Error nccl_replace(GraphEdit& graph);

}  // namespace example

#endif  // PASSES_CPP_NCCL_REPLACE_H_
