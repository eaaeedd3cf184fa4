// Devices of nodes that state none: filled in for a plugin, taken off its answer.
#ifndef DRYSTONE_HOST_OPTIMIZER_DEFAULT_DEVICE_H_
#define DRYSTONE_HOST_OPTIMIZER_DEFAULT_DEVICE_H_

#include <string>
#include <string_view>
#include <unordered_set>

namespace drystone::host {

// A GraphDef in which every node states a device.
struct DeviceFill {
  std::string graph;
  std::string device;  // "" when devices were left alone
  std::unordered_set<std::string> stated;  // nodes that stated that very device themselves
};

// Give every node of a GraphDef without a device `device`, unless that is empty. Fails
// (INVALID_ARGUMENT) for bytes that are no GraphDef.
DeviceFill fill_device(std::string_view graph, std::string_view device);

// The GraphDef without the device of `fill`, except at nodes that stated it before. Fails
// (INTERNAL) for bytes that are no GraphDef.
std::string strip_device(std::string_view graph, const DeviceFill& fill);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_OPTIMIZER_DEFAULT_DEVICE_H_
