// The entry function: "tcp://", "unix://" and "shm://".
#include "drystone/network.h"
#include "drystone/platform_strings.h"
#include "drystone/sdk/network.hpp"
#include "engine.h"

TF_PLATFORM_STRINGS()

namespace drystone::net {
namespace {

constexpr DS_NetworkFns kFns = sdk::network_fns<Engine>();
Kind kinds[] = {Kind::kTcp, Kind::kUnix, Kind::kShared};

constexpr DS_NetworkTransport transport(const char* scheme, Kind* kind, int more) {
  return {DS_NETWORK_TRANSPORT_STRUCT_SIZE, kind, scheme, 0,
          static_cast<uint32_t>(DS_NETWORK_ORDERED | DS_NETWORK_ZERO_COPY | more), &kFns};
}

constexpr DS_NetworkTransport kTransports[] = {
    transport("tcp", &kinds[0], 0), transport("unix", &kinds[1], DS_NETWORK_ONE_MACHINE),
    transport("shm", &kinds[2], DS_NETWORK_ONE_MACHINE)};
constexpr const DS_NetworkTransport* kAll[] = {&kTransports[0], &kTransports[1], &kTransports[2]};

}  // namespace
}  // namespace drystone::net

void DS_InitNetwork(DS_NetworkRegistrationParams* params, TF_Status*) {
  params->major_version = DS_NETWORK_MAJOR;
  params->minor_version = DS_NETWORK_MINOR;
  params->patch_version = DS_NETWORK_PATCH;
  params->num_transports = 3;
  params->transports = drystone::net::kAll;
}
