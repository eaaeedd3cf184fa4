// The registry of passes: see passes/registry.h, and DS_ListPasses.
#include "passes/registry.h"

#include <mutex>
#include <utility>

#include "core/buffer.h"
#include "core/failure.h"
#include "core/json.h"
#include "drystone_host/passes.h"

namespace drystone::host {
namespace {

std::mutex mutex;

std::vector<std::shared_ptr<const RegisteredPass>>& registered() {
  static auto* all = new std::vector<std::shared_ptr<const RegisteredPass>>;
  return *all;  // never destroyed: plugins may still be called while the process exits
}

// The mutex is held.
std::shared_ptr<const RegisteredPass> known(std::string_view name) {
  for (const auto& pass : registered()) {
    if (pass->name == name) return pass;
  }
  return nullptr;
}

void describe(const RegisteredPass& pass, Json* json) {
  json->object();
  json->text("name", pass.name);
  json->text("library", pass.library);
  json->integer("grouping", pass.grouping);
  json->integer("phase", pass.phase);
  json->texts("ops", pass.ops);
  json->boolean("is_default", pass.is_default);
  json->close();
}

}  // namespace

void add_passes(std::vector<RegisteredPass> passes) {
  const std::lock_guard lock(mutex);
  for (const RegisteredPass& pass : passes) {
    const auto present = known(pass.name);
    if (present == nullptr) continue;
    fail(TF_ALREADY_EXISTS, "pass " + pass.name + " is registered by " + present->library +
                                " already; that of " + pass.library +
                                " was refused: use only one of the two plugins");
  }
  for (RegisteredPass& pass : passes) {
    registered().push_back(std::make_shared<const RegisteredPass>(std::move(pass)));
  }
}

std::shared_ptr<const RegisteredPass> find_pass(std::string_view name) {
  const std::lock_guard lock(mutex);
  return known(name);
}

std::vector<std::shared_ptr<const RegisteredPass>> all_passes() {
  const std::lock_guard lock(mutex);
  return registered();
}

}  // namespace drystone::host

using namespace drystone::host;

extern "C" void DS_ListPasses(TF_Buffer* json, TF_Status* status) {
  guarded(status, "DS_ListPasses", [&] {
    require(json, "json");
    Json out;
    out.array();
    for (const auto& pass : all_passes()) describe(*pass, &out);
    out.close();
    fill(json, out.str());
  });
}
