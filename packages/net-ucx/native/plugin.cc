// The entry function: "ucx://", "ucx+tcp://" and "ucx+shm://".
#include "drystone/network.h"
#include "drystone/platform_strings.h"
#include "drystone/sdk/network.hpp"
#include "engine.h"

TF_PLATFORM_STRINGS()

namespace drystone::ucx {
namespace {

constexpr DS_NetworkFns kFns = sdk::network_fns<Engine>();

// Of UCX's transports those of the scheme; "": all that it has, RDMA and GPUs' among them.
char all[] = "", tcp[] = "tcp", shm[] = "shm";

constexpr DS_NetworkTransport transport(const char* scheme, char* transports) {
  return {DS_NETWORK_TRANSPORT_STRUCT_SIZE, transports, scheme, 0, DS_NETWORK_ORDERED | DS_NETWORK_ZERO_COPY, &kFns};
}

// Engines of each meet at a host and a port; so none has names of one machine to listen at.
constexpr DS_NetworkTransport kTransports[] = {transport("ucx", all), transport("ucx+tcp", tcp),
                                               transport("ucx+shm", shm)};
constexpr const DS_NetworkTransport* kAll[] = {&kTransports[0], &kTransports[1], &kTransports[2]};

}  // namespace
}  // namespace drystone::ucx

void DS_InitNetwork(DS_NetworkRegistrationParams* params, TF_Status*) {
  params->major_version = DS_NETWORK_MAJOR;
  params->minor_version = DS_NETWORK_MINOR;
  params->patch_version = DS_NETWORK_PATCH;
  params->num_transports = 3;
  params->transports = drystone::ucx::kAll;
}
