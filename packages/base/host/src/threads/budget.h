// How many threads there are for work, also when others use the machine.
#ifndef DRYSTONE_HOST_THREADS_BUDGET_H_
#define DRYSTONE_HOST_THREADS_BUDGET_H_

#include <string>

namespace drystone::host {

inline constexpr int kMostThreads = 256;

// $DRYSTONE_NUM_THREADS, else the cores that this process may run on, or fewer where its control group
// has a quota of processor time. At least 1.
int default_threads();

// The cores' worth of time that the control groups above a process allow, rounded up; 0: no limit.
// `root`: where /proc and /sys are looked for, "" for the machine's.
int quota_of_groups(const std::string& root);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_THREADS_BUDGET_H_
