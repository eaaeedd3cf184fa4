// Ending the device module in good order.
#ifndef DRYSTONE_HOST_DEVICE_SHUTDOWN_H_
#define DRYSTONE_HOST_DEVICE_SHUTDOWN_H_

namespace drystone::host {

// Destroy what is registered through the plugins, and forget it.
void destroy_platforms() noexcept;
void destroy_profilers() noexcept;

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_DEVICE_SHUTDOWN_H_
