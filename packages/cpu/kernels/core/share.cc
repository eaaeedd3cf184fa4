// Loops that threads share: see core/share.h.
#include "core/share.h"

#include <atomic>

namespace drystone::cpu {
namespace {

std::atomic<Team> known{nullptr};

}  // namespace

void use_team(Team team) { known.store(team, std::memory_order_release); }

void share(std::int64_t count, std::int64_t cost, DS_RangeBody body, void* argument) {
  const Team team = known.load(std::memory_order_acquire);
  if (team != nullptr && team(count, cost, body, argument) != 0) return;
  DS_ParallelFor(count, cost, body, argument);
}

}  // namespace drystone::cpu

void drystone_cpu_use_team(drystone::cpu::Team team) { drystone::cpu::use_team(team); }
