// A network transport, {{scheme}}://HOST:PORT: messages over TCP. What it does is in engine.h.
#include "drystone/network.h"
#include "drystone/platform_strings.h"
#include "engine.h"

TF_PLATFORM_STRINGS()

namespace {

constexpr DS_NetworkFns kFns = drystone::sdk::network_fns<{{name}}::Engine>();

constexpr DS_NetworkTransport kTransport = {
    DS_NETWORK_TRANSPORT_STRUCT_SIZE, nullptr, "{{scheme}}", 0, DS_NETWORK_ORDERED, &kFns,
};

constexpr const DS_NetworkTransport* kAll[] = {&kTransport};

}  // namespace

void DS_InitNetwork(DS_NetworkRegistrationParams* params, TF_Status* /*status*/) {
  params->major_version = DS_NETWORK_MAJOR;
  params->minor_version = DS_NETWORK_MINOR;
  params->patch_version = DS_NETWORK_PATCH;
  params->num_transports = 1;
  params->transports = kAll;
}
