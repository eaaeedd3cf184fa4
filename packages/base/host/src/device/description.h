// What devices say of their memory.
#ifndef DRYSTONE_HOST_DEVICE_DESCRIPTION_H_
#define DRYSTONE_HOST_DEVICE_DESCRIPTION_H_

#include <string>

#include "core/json.h"
#include "device/platform.h"

namespace drystone::host {

// Members of an object that is open: "free", "total" and "allocator", as DS_DescribeDevice has them.
void describe_memory(Json& json, DS_Device& device);

// The same for people, to go behind a sentence; "" of a device that does not say.
std::string usage_of(DS_Device& device);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_DEVICE_DESCRIPTION_H_
