// Locks of a call: see kernels/locks.h.
#include "kernels/locks.h"

#include <algorithm>

namespace drystone::host::kernels {

void Locks::lock_all(std::vector<VariablePtr> variables, const void* owner,
                     const Deadline& deadline) {
  std::erase(variables, nullptr);
  const auto number = [](const VariablePtr& variable) { return variable->number(); };
  std::ranges::sort(variables, {}, number);
  const auto repeats = std::ranges::unique(variables, {}, number);
  variables.erase(repeats.begin(), repeats.end());
  held_.reserve(held_.size() + variables.size());
  for (VariablePtr& variable : variables) {
    variable->lock(owner, deadline);
    held_.push_back({std::move(variable), false});
  }
}

bool Locks::ask(const Variable& variable) noexcept {
  const auto found = std::ranges::find(held_, &variable, [](const Held& held) { return held.variable.get(); });
  if (found == held_.end()) return false;
  found->is_asked = true;
  return true;
}

bool Locks::is_spare(const Variable& variable) const noexcept {
  return std::ranges::any_of(held_, [&](const Held& held) {
    return held.variable.get() == &variable && !held.is_asked;
  });
}

void Locks::release() noexcept {
  for (const Held& held : held_) held.variable->unlock();
  held_.clear();
}

}  // namespace drystone::host::kernels
