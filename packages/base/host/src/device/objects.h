// What DS_New* and DS_Allocate* give: memory, streams, events and timers of a device.
#ifndef DRYSTONE_HOST_DEVICE_OBJECTS_H_
#define DRYSTONE_HOST_DEVICE_OBJECTS_H_

#include <memory>

#include "core/live.h"
#include "device/calls.h"
#include "device/platform.h"

namespace drystone::host {

// Counts an object as alive while it exists.
class Counted {
 public:
  Counted() { born(Kind::handle); }
  ~Counted() { died(Kind::handle); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
};

}  // namespace drystone::host

struct DS_DeviceMemory {
  DS_Device* device = nullptr;
  SP_DeviceMemoryBase base{};
  drystone::host::Counted counted;
};

struct DS_Stream {
  DS_Device* device = nullptr;
  SP_Stream handle = nullptr;
  drystone::host::Counted counted;
};

struct DS_Event {
  DS_Device* device = nullptr;
  SP_Event handle = nullptr;
  drystone::host::Counted counted;
};

struct DS_Timer {
  DS_Device* device = nullptr;
  SP_Timer handle = nullptr;
  drystone::host::Counted counted;
};

namespace drystone::host {

// Calls a function of the device's executor with a fresh status; "NAME WHAT: MESSAGE" on failure.
template <class Function, class... Arguments>
void execute(DS_Device& device, const char* what, Function function, Arguments... arguments) {
  call_plugin(device.name + " " + what, device.platform.library(), [&](TF_Status* status) {
    (*device.executor.*function)(device.sp(), arguments..., status);
  }, device.name);
}

// Calls one that has no status; its answer.
template <class Function, class... Arguments>
auto ask(DS_Device& device, const char* what, Function function, Arguments... arguments) {
  return in_plugin(device.name + " " + what, device.platform.library(),
                   [&] { return (*device.executor.*function)(device.sp(), arguments...); }, device.name);
}

// What a failure of the device is about.
inline Payloads about(const DS_Device& device) { return about(device.platform.library(), device.name); }

// A block of the device's memory; false where it has none. Fails with INTERNAL for one that cannot be: too
// small, or where a block is that has not been given back.
bool allocate_block(DS_Device& device, std::uint64_t size, SP_DeviceMemoryBase* block);
void free_block(DS_Device& device, SP_DeviceMemoryBase& block) noexcept;

// Fails with INVALID_ARGUMENT unless both objects are of one device.
template <class One, class Other>
void require_same_device(const One& one, const Other& other) {
  if (one.device == other.device) return;
  fail(TF_INVALID_ARGUMENT, "objects of two devices, " + one.device->name + " and " +
                                other.device->name + ", cannot be used together");
}

// Waits on the host for all that is on the stream.
void block_for_stream(DS_Stream& stream);
// Waits on the host for all that the device does.
void block_for_device(DS_Device& device);
// Tries again to wait for the lanes that could not be waited for, so that what they keep may go.
void wait_for_left(DS_Device& device) noexcept;

// Copies by the device's own copy where it has one, and over the host otherwise. `stream`: NULL: done on return.
void copy_on_device(DS_Device& device, DS_Stream* stream, SP_DeviceMemoryBase& to, const SP_DeviceMemoryBase& from,
                    std::uint64_t size);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_DEVICE_OBJECTS_H_
