// The registry of ops: see ops/registry.h.
#include "ops/registry.h"

#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "core/failure.h"
#include "core/library.h"
#include "ops/services.h"

namespace drystone::host {
namespace ops {
namespace {

using Entry = std::shared_ptr<const PluginOp>;

struct Registry {
  std::shared_mutex lock;  // of ops
  std::map<std::string, Entry, std::less<>> ops;
};

// Never destroyed: threads of plugins may outlive main().
Registry& registry() {
  static auto& only = *new Registry;
  return only;
}

std::atomic<std::int64_t> changes{0};

[[noreturn]] void refuse(const OpDef& def, const std::string& present_in, const std::string& by) {
  fail(TF_ALREADY_EXISTS, "op " + def.name + " is registered by " + by +
                              ", but has another definition already, of " + present_in +
                              "; an op must have one definition");
}

// Fails where the embedder has a different definition.
void compare_with_embedder(const OpDef& def, const std::string& library) {
  const auto present = find_embedder_op(def.name);
  if (present && !same(parse_op_def(*present), def)) refuse(def, "the host program", library);
}

void note(const std::string& op) {
  if (Library* library = current_library()) library->ops.push_back(op);
}

}  // namespace

void add(OpDef def, ShapeFunction shape_function, std::string library) {
  compare_with_embedder(def, library);
  auto entry = std::make_shared<PluginOp>();
  entry->bytes = serialize(def);
  entry->def = std::move(def);
  entry->library = std::move(library);
  entry->shape_function = shape_function;
  entry->is_watched = current_library() != nullptr && !current_library()->is_vouched_for;
  const std::string name = entry->def.name;
  {
    const std::unique_lock alone(registry().lock);
    Entry& slot = registry().ops[name];
    if (slot != nullptr && !same(slot->def, entry->def)) {
      refuse(entry->def, slot->library, entry->library);
    }
    if (slot == nullptr || (slot->shape_function == nullptr && shape_function != nullptr)) {
      slot = std::move(entry);
      changes.fetch_add(1, std::memory_order_release);
    }
  }
  note(name);
}

Entry find_plugin_op(std::string_view name) {
  const std::shared_lock shared(registry().lock);
  const auto found = registry().ops.find(name);
  return found == registry().ops.end() ? nullptr : found->second;
}

std::vector<Entry> plugin_ops() {
  const std::shared_lock shared(registry().lock);
  std::vector<Entry> all;
  all.reserve(registry().ops.size());
  for (const auto& [name, entry] : registry().ops) all.push_back(entry);
  return all;
}

std::int64_t generation() noexcept { return changes.load(std::memory_order_acquire); }

}  // namespace ops

std::optional<std::string> find_op_def(std::string_view name) {
  if (const auto found = ops::find_plugin_op(name)) return found->bytes;
  return ops::find_embedder_op(name);
}

}  // namespace drystone::host
