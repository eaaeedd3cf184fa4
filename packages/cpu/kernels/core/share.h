// Loops that threads share: the host's, or those that a library of kernels keeps awake.
#ifndef DRYSTONE_CPU_CORE_SHARE_H_
#define DRYSTONE_CPU_CORE_SHARE_H_

#include <cstdint>

#include "drystone/threads.h"

namespace drystone::cpu {

// Runs body(argument, begin, end) for ranges of [0, count) on threads of its own and gives 1, or does
// nothing and gives 0. `cost` is as parallel() has it.
using Team = int (*)(std::int64_t count, std::int64_t cost, DS_RangeBody body, void* argument);

// Loops of this library go to the team from now on, where that takes them.
void use_team(Team team);
// By the team, else by the host's threads.
void share(std::int64_t count, std::int64_t cost, DS_RangeBody body, void* argument);

}  // namespace drystone::cpu

// The same for who has opened the library.
extern "C" __attribute__((visibility("default"))) void drystone_cpu_use_team(drystone::cpu::Team team);

#endif  // DRYSTONE_CPU_CORE_SHARE_H_
