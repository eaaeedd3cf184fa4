// Registered kernels: see kernels/registry.h.
#include "kernels/registry.h"

#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "core/dtype_names.h"
#include "core/failure.h"
#include "core/quoted.h"
#include "drystone/sdk/wire.hpp"

namespace drystone::host::kernels {
namespace {

struct Registry {
  std::shared_mutex mutex;
  std::int64_t next = 0;
  std::map<std::int64_t, RegisteredPtr> by_id;
  std::map<std::string, std::vector<RegisteredPtr>, std::less<>> by_op;
  std::unordered_multimap<std::size_t, RegisteredPtr> by_place;  // by place_hash()
};

Registry& registry() {
  static auto* only = new Registry();  // never destroyed: plugins' threads may outlive main
  return *only;
}

std::string describe(const Definition& definition) {
  std::string out = "op " + definition.op + " on device " + definition.device;
  for (const Constraint& constraint : definition.constraints) {
    out += ", " + constraint.attr + " in";
    for (const int type : constraint.types) out.append(" ").append(dtype_name(type));
  }
  if (!definition.label.empty()) out += ", label " + definition.label;
  return out + ", priority " + std::to_string(definition.priority);
}

void refuse(const Registered& added, const Registered& there) {
  fail(TF_ALREADY_EXISTS, "kernel " + quoted(added.name) + " of " + added.library + " for " +
                              describe(added.definition) + " is registered already: kernel " +
                              quoted(there.name) + " of " + there.library +
                              "; give one of them another priority or label");
}

}  // namespace

RegisteredPtr add(Registered kernel) {
  Registry& all = registry();
  const std::unique_lock lock(all.mutex);
  const std::size_t place = place_hash(kernel.definition);
  const auto [first, last] = all.by_place.equal_range(place);
  for (auto at = first; at != last; ++at) {
    if (same_place(kernel.definition, at->second->definition)) refuse(kernel, *at->second);
  }
  kernel.id = all.next++;
  const auto made = std::make_shared<Registered>(std::move(kernel));
  made->owner = {made->library.c_str(), made->name.c_str()};
  const RegisteredPtr added = made;
  all.by_op[added->definition.op].push_back(added);
  all.by_place.emplace(place, added);
  all.by_id.emplace(added->id, added);
  return added;
}

RegisteredPtr find(std::int64_t id) {
  Registry& all = registry();
  const std::shared_lock lock(all.mutex);
  const auto found = all.by_id.find(id);
  return found == all.by_id.end() ? nullptr : found->second;
}

std::vector<RegisteredPtr> kernels_of(std::string_view op) {
  Registry& all = registry();
  const std::shared_lock lock(all.mutex);
  const auto found = all.by_op.find(op);
  return found == all.by_op.end() ? std::vector<RegisteredPtr>() : found->second;
}

std::vector<RegisteredPtr> all_kernels() {
  Registry& all = registry();
  const std::shared_lock lock(all.mutex);
  std::vector<RegisteredPtr> out;
  out.reserve(all.by_id.size());
  for (const auto& [id, kernel] : all.by_id) out.push_back(kernel);
  return out;
}

std::int64_t next_id() {
  Registry& all = registry();
  const std::shared_lock lock(all.mutex);
  return all.next;
}

void forget_since(std::int64_t before, std::string_view library) {
  Registry& all = registry();
  const std::unique_lock lock(all.mutex);
  const auto theirs = [&](const RegisteredPtr& kernel) {
    return kernel->id >= before && kernel->library == library;
  };
  for (auto& [op, siblings] : all.by_op) std::erase_if(siblings, theirs);
  const auto is_theirs = [&](const auto& entry) { return theirs(entry.second); };
  std::erase_if(all.by_id, is_theirs);
  std::erase_if(all.by_place, is_theirs);
}

std::string kernel_list(const char* op) {
  std::string out;
  for (const RegisteredPtr& kernel : op == nullptr ? all_kernels() : kernels_of(op)) {
    wire::Writer(&out).bytes(1, serialize(kernel->definition));
  }
  return out;
}

}  // namespace drystone::host::kernels
