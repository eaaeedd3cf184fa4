// The plugin: a subgraph backend whose regions run on an NVIDIA GPU.
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include "device.h"
#include "drystone/platform_strings.h"
#include "drystone/sdk/guard.hpp"
#include "drystone/sdk/status.hpp"
#include "drystone/subgraph.h"
#include "executable.h"

TF_PLATFORM_STRINGS()

namespace {

using drystone::gpu::Executable;
using drystone::sdk::Error;

// What a function of the interface does, without an exception that leaves it.
template <class Body>
void guarded(const char* place, TF_Status* status, Body body) {
  const Error error = drystone::sdk::guarded(place, [&]() -> Error {
    try {
      body();
    } catch (const drystone::gpu::Refused& refused) {
      return {TF_UNIMPLEMENTED, refused.what()};
    } catch (const std::runtime_error& failed) {
      return {TF_INTERNAL, failed.what()};
    }
    return {};
  });
  if (!error.ok()) drystone::sdk::store(error, status);
}

unsigned char wants(const DS_SubgraphBackend*, void*, const DS_SubgraphNode* node) {
  std::string why;
  return drystone::gpu::takes(*node, &why) ? 1 : 0;
}

// Copies of what goes in and comes out cost more than a few element-wise ops.
bool takes_small() {
  const char* value = std::getenv("DRYSTONE_GPU_SMALL_REGIONS");
  const std::string_view said = value == nullptr ? "" : value;
  return said == "1" || said == "true" || said == "yes" || said == "on";
}

unsigned char accept(const DS_SubgraphBackend*, const DS_SubgraphRegion* region,
                     TF_Status* status) {
  unsigned char accepted = 0;
  guarded("accept", status, [&] {
    bool worth = false;
    drystone::gpu::computable(*region, &worth);
    if (!worth && !takes_small()) {
      throw drystone::gpu::Refused("no product or convolution in it: not worth the copies");
    }
    accepted = 1;
  });
  return accepted;
}

void review(const DS_SubgraphBackend*, const DS_SubgraphRegion* region, unsigned char* keep,
            TF_Buffer*, TF_Status* status) {
  guarded("review", status, [&] {
    bool worth = false;
    const std::vector<bool> can = drystone::gpu::computable(*region, &worth);
    for (std::size_t k = 0; k < can.size(); ++k) keep[k] = can[k] ? 1 : 0;
  });
}

void* compile(const DS_SubgraphBackend*, const DS_SubgraphRegion* region, TF_Status* status) {
  void* made = nullptr;
  guarded("compile", status, [&] { made = new Executable(*region); });
  return made;
}

void execute(const DS_SubgraphBackend*, void* executable, TF_Tensor* const* inputs, int32_t,
             TF_Tensor** outputs, int32_t, TF_Status* status) {
  guarded("execute", status, [&] { static_cast<Executable*>(executable)->run(inputs, outputs); });
}

void destroy(const DS_SubgraphBackend*, void* executable) {
  delete static_cast<Executable*>(executable);
}

void update(const DS_SubgraphBackend*, void* executable, TF_Tensor* const* inputs, int32_t,
            const unsigned char* changed, TF_Status* status) {
  guarded("update", status, [&] { static_cast<Executable*>(executable)->update(inputs, changed); });
}

}  // namespace

TF_CAPI_EXPORT void DS_InitSubgraph(DS_SubgraphRegistrationParams* params, TF_Status* status) {
  if (const drystone::gpu::Found& found = drystone::gpu::found(); found.devices == 0) {
    TF_SetStatus(status, TF_UNAVAILABLE, ("0 devices: " + found.reason).c_str());
    return;
  }
  params->major_version = DS_SUBGRAPH_MAJOR;
  params->minor_version = DS_SUBGRAPH_MINOR;
  params->patch_version = DS_SUBGRAPH_PATCH;
  params->backend->struct_size = DS_SUBGRAPH_BACKEND_STRUCT_SIZE;
  params->backend->name = "gpu";
  params->backend->minimum_size = 1;
  params->backend->version = "0.1.0";
  params->selector_fns->struct_size = DS_SUBGRAPH_SELECTOR_FNS_STRUCT_SIZE;
  params->selector_fns->select = wants;
  params->fns->struct_size = DS_SUBGRAPH_FNS_STRUCT_SIZE;
  params->fns->accept = accept;
  params->fns->review = review;
  params->fns->compile = compile;
  params->fns->execute = execute;
  params->fns->destroy_executable = destroy;
  params->fns->update = update;
}
