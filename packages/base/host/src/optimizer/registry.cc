// The registry of optimizers: see optimizer/registry.h, and DS_ListOptimizers.
#include "optimizer/registry.h"

#include <map>
#include <mutex>
#include <utility>

#include "core/buffer.h"
#include "core/failure.h"
#include "core/json.h"
#include "drystone_host/optimizer.h"

namespace drystone::host {
namespace {

std::mutex registered_mutex;

// By device type and library.
using Registered =
    std::map<std::pair<std::string, std::string>, std::shared_ptr<const Optimizer>>;

Registered& registered() {
  static auto* all = new Registered;
  return *all;  // never destroyed: plugins may still be called while the process exits
}

// The first of a device type for which `wanted` holds, or NULL.
template <class Wanted>
std::shared_ptr<const Optimizer> first_of(std::string_view device, Wanted&& wanted) {
  for (const auto& [key, optimizer] : registered()) {
    if (key.first == device && wanted(*optimizer)) return optimizer;
  }
  return nullptr;
}

void refuse(const Optimizer& optimizer, const Optimizer& present) {
  fail(TF_ALREADY_EXISTS, "device type " + optimizer.device + " has an optimizer already, of " +
                              present.library + "; that of " + optimizer.library +
                              " was refused: use only one of the two plugins, or ones that say "
                              "where they run (DS_OrderOptimizer)");
}

void describe(const Optimizer& optimizer, Json* json) {
  json->object();
  json->text("device", optimizer.device);
  json->text("library", optimizer.library);
  json->text("entry", optimizer.entry);
  json->key("version");
  json->array();
  for (const int part : optimizer.version) json->integer(part);
  json->close();
  json->key("sizes");
  json->object();
  json->integer("params", static_cast<std::int64_t>(optimizer.params_size));
  json->integer("configs", static_cast<std::int64_t>(optimizer.configs_size));
  json->integer("optimizer", static_cast<std::int64_t>(optimizer.optimizer_size));
  json->close();
  json->key("configs");
  json->object();
  for (std::size_t k = 0; k < kToggles.size(); ++k) {
    if (optimizer.configs[k] == TF_TriState_Default) continue;
    json->text(kToggles[k], optimizer.configs[k] == TF_TriState_On ? "on" : "off");
  }
  json->close();
  json->boolean("ordered", optimizer.has_order);
  json->text("phase", optimizer.phase);
  json->integer("priority", optimizer.priority);
  json->close();
}

}  // namespace

void add_optimizer(Optimizer optimizer) {
  const std::lock_guard lock(registered_mutex);
  const auto in_its_way = [&](const Optimizer& other) {
    return other.library == optimizer.library || (!other.has_order && !optimizer.has_order);
  };
  const auto present = first_of(optimizer.device, in_its_way);
  if (present != nullptr) refuse(optimizer, *present);
  std::pair<std::string, std::string> key(optimizer.device, optimizer.library);
  registered().emplace(std::move(key), std::make_shared<const Optimizer>(std::move(optimizer)));
}

std::shared_ptr<const Optimizer> optimizer_of(std::string_view device, std::string_view library) {
  const std::lock_guard lock(registered_mutex);
  const auto is_wanted = [&](const Optimizer& one) {
    return library.empty() ? !one.has_order : one.library == library;
  };
  auto found = first_of(device, is_wanted);
  if (found == nullptr && library.empty()) {
    found = first_of(device, [](const auto&) { return true; });
  }
  if (found != nullptr) return found;
  std::string known;
  for (const auto& [key, _] : registered()) known += (known.empty() ? "" : ", ") + key.first;
  const std::string of = library.empty() ? "" : " by " + std::string(library);
  fail(TF_NOT_FOUND, "no optimizer is registered for device type " + std::string(device) + of +
                         "; there are: " + (known.empty() ? "none" : known));
}

std::vector<std::shared_ptr<const Optimizer>> all_optimizers() {
  const std::lock_guard lock(registered_mutex);
  std::vector<std::shared_ptr<const Optimizer>> out;
  for (const auto& [_, optimizer] : registered()) out.push_back(optimizer);
  return out;
}

}  // namespace drystone::host

extern "C" void DS_ListOptimizers(TF_Buffer* json, TF_Status* status) {
  using namespace drystone::host;
  guarded(status, "DS_ListOptimizers", [&] {
    Json list;
    list.array();
    for (const auto& optimizer : all_optimizers()) describe(*optimizer, &list);
    list.close();
    fill(json, list.str());
  });
}
