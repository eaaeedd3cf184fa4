// The threads that oneDNN's primitives share their work among, for loops of other kernels: between a
// network's layers they wait a while before they sleep (decision 0054), and the host's would have to
// be woken on cores that they are on.
#ifndef DRYSTONE_CPU_DNNL_TEAM_H_
#define DRYSTONE_CPU_DNNL_TEAM_H_

#include "core/share.h"

namespace drystone::cpu::dnnl_part {

// How many threads this thread's primitives may run on.
int most_threads();

// This thread's primitives run on several threads from now on.
void begin_team();

}  // namespace drystone::cpu::dnnl_part

// A Team: takes loops of threads that have begun one, where there is something to do for each.
extern "C" __attribute__((visibility("default"))) int drystone_cpu_dnnl_share(
    std::int64_t count, std::int64_t cost, DS_RangeBody body, void* argument);

#endif  // DRYSTONE_CPU_DNNL_TEAM_H_
