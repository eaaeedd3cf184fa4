// Platforms, their devices, and the registry of both.
#ifndef DRYSTONE_HOST_DEVICE_PLATFORM_H_
#define DRYSTONE_HOST_DEVICE_PLATFORM_H_

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "device/padded_struct.h"
#include "drystone/device.h"
#include "drystone_host/device.h"

namespace drystone::host {

class Lane;
class Platform;

}  // namespace drystone::host

// One device: the tables that its plugin filled in. Made when first asked for, and then kept.
struct DS_Device {
  explicit DS_Device(drystone::host::Platform& platform) : platform(platform) {}
  DS_Device(const DS_Device&) = delete;
  DS_Device& operator=(const DS_Device&) = delete;

  const SP_Device* sp() { return device.get(); }

  drystone::host::Platform& platform;
  drystone::host::PaddedStruct<SP_Device> device = DRYSTONE_PADDED_STRUCT(SP_Device, SP_DEVICE_STRUCT_SIZE);
  drystone::host::PaddedStruct<SP_DeviceFns> facts =
      DRYSTONE_PADDED_STRUCT(SP_DeviceFns, SP_DEVICE_FNS_STRUCT_SIZE);
  drystone::host::PaddedStruct<SP_StreamExecutor> executor =
      DRYSTONE_PADDED_STRUCT(SP_StreamExecutor, SP_STREAMEXECUTOR_STRUCT_SIZE);
  drystone::host::PaddedStruct<SP_TimerFns> timer = DRYSTONE_PADDED_STRUCT(SP_TimerFns, SP_TIMER_FNS_STRUCT_SIZE);
  std::size_t executor_size = 0;  // as the plugin stated it
  bool has_timer = false;
  // How many of device, facts, executor and timer the plugin has made, in this order.
  int made = 0;
  std::string name;  // "/device:TYPE:ORDINAL"
  std::mutex blocks_mutex;
  std::unordered_set<const void*> blocks;  // that have not been given back
  std::mutex left_mutex;
  std::vector<std::shared_ptr<drystone::host::Lane>> left;  // lanes whose work may be under way still
};

namespace drystone::host {

// What one library registered with SE_InitPlugin.
class Platform {
 public:
  using Init = void (*)(SE_PlatformRegistrationParams*, TF_Status*);

  // Calls `init` and checks what it filled in. `is_watched`: its functions may take forever. Throws Failure.
  Platform(std::string library, bool is_watched, Init init);
  Platform(const Platform&) = delete;
  Platform& operator=(const Platform&) = delete;

  const std::string& library() const { return library_; }
  const std::string& name() const { return name_; }
  const std::string& type() const { return type_; }
  const std::array<int, 3>& version() const { return version_; }
  const SP_Platform& sp() { return *platform_; }
  bool unified_memory() { return platform_->supports_unified_memory != 0; }

  // How many devices there are now. Throws Failure when the plugin cannot tell, or was left before as it did not
  // return.
  int device_count();
  // The device, made if need be. Throws Failure.
  DS_Device& device(int ordinal);
  // Calls `body` for each device made so far; for none while a call that was left is under way.
  void each_device(const std::function<void(DS_Device&)>& body);
  // Destroys devices and platform through the plugin; the object is of no use afterwards.
  void destroy() noexcept;

 private:
  void check(const SE_PlatformRegistrationParams& params);
  template <class Result>
  Result locked(const char* what, std::function<Result()> body);
  DS_Device& made_device(int ordinal);
  int ask_count();  // with mutex_ held, as the next two
  std::unique_ptr<DS_Device> make_device(int ordinal);
  void fill_device(DS_Device& device, int ordinal);
  void destroy_device(DS_Device& device) noexcept;

  std::string library_;
  bool is_watched_;
  std::string name_;
  std::string type_;
  std::array<int, 3> version_{};
  PaddedStruct<SP_Platform> platform_ = DRYSTONE_PADDED_STRUCT(SP_Platform, SP_PLATFORM_STRUCT_SIZE);
  PaddedStruct<SP_PlatformFns> fns_ = DRYSTONE_PADDED_STRUCT(SP_PlatformFns, SP_PLATFORM_FNS_STRUCT_SIZE);
  void (*destroy_platform_)(SP_Platform*) = nullptr;
  void (*destroy_platform_fns_)(SP_PlatformFns*) = nullptr;
  std::mutex mutex_;
  std::vector<std::unique_ptr<DS_Device>> devices_;
};

// Brings an executor of any known layout to today's and fails when a required member is missing.
void settle_executor(DS_Device& device, bool unified_memory);

// Takes a platform; ALREADY_EXISTS, naming both libraries, and not taken, when its name or type is
// there already.
void add_platform(std::unique_ptr<Platform>& platform);
// Every platform, in order of registration. They are never removed, only emptied by shutdown.
std::vector<Platform*> all_platforms();
// The platform of a device type. Throws Failure (NOT_FOUND) with the known types.
Platform& platform_of(const std::string& type);
// Destroys all platforms and forgets them.
void destroy_platforms() noexcept;

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_DEVICE_PLATFORM_H_
