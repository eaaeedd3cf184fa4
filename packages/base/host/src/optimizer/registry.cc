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

std::mutex mutex;

std::map<std::string, std::shared_ptr<const Optimizer>, std::less<>>& registered() {
  static auto* all = new std::map<std::string, std::shared_ptr<const Optimizer>, std::less<>>;
  return *all;  // never destroyed: plugins may still be called while the process exits
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
  json->integer("arguments", optimizer.four_arguments ? 4 : 5);
  json->key("configs");
  json->object();
  for (std::size_t k = 0; k < kToggles.size(); ++k) {
    if (optimizer.configs[k] == TF_TriState_Default) continue;
    json->text(kToggles[k], optimizer.configs[k] == TF_TriState_On ? "on" : "off");
  }
  json->close();
  json->close();
}

}  // namespace

void add_optimizer(Optimizer optimizer) {
  const std::lock_guard lock(mutex);
  const auto present = registered().find(optimizer.device);
  if (present != registered().end()) {
    fail(TF_ALREADY_EXISTS, "device type " + optimizer.device + " has an optimizer already, of " +
                                present->second->library + "; that of " + optimizer.library +
                                " was refused: use only one of the two plugins");
  }
  std::string device = optimizer.device;
  registered().emplace(std::move(device), std::make_shared<const Optimizer>(std::move(optimizer)));
}

std::shared_ptr<const Optimizer> optimizer_of(std::string_view device) {
  const std::lock_guard lock(mutex);
  const auto found = registered().find(device);
  if (found != registered().end()) return found->second;
  std::string known;
  for (const auto& [name, _] : registered()) known += (known.empty() ? "" : ", ") + name;
  fail(TF_NOT_FOUND, "no optimizer is registered for device type " + std::string(device) +
                         "; there are: " + (known.empty() ? "none" : known));
}

std::vector<std::shared_ptr<const Optimizer>> all_optimizers() {
  const std::lock_guard lock(mutex);
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
