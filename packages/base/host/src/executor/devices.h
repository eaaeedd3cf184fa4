// Devices of plugins in runs: see Lane in device/lane.h.
#ifndef DRYSTONE_HOST_EXECUTOR_DEVICES_H_
#define DRYSTONE_HOST_EXECUTOR_DEVICES_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "device/lane.h"
#include "executor/plan.h"

namespace drystone::host::executor {

class Trace;

// Lanes of a session that no run uses. Threads: any.
class IdleLanes {
 public:
  std::shared_ptr<Lane> take(DS_Device& device);
  void give(std::shared_ptr<Lane> lane);

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<Lane>> lanes_;
};

// The lanes of one run, and what must stay as it is until their work is done. Belongs to the run's thread.
class RunDevices {
 public:
  // `measures`: how long work takes on the devices, for tell().
  RunDevices(IdleLanes& idle, const std::vector<ProgramDevice>& devices, bool measures);
  // Waits for what is under way.
  ~RunDevices();
  RunDevices(const RunDevices&) = delete;
  RunDevices& operator=(const RunDevices&) = delete;

  // The lane of device number 1, 2, ...
  Lane& lane(std::int16_t number);
  // A kernel that was given up goes on using it.
  void leave(std::int16_t number);

  // Copies a value to the device `in.device`, or from where it is to the host; a new tensor. A copy to the
  // host is done when wait() has returned.
  TF_Tensor* copied(const Instruction& in, TF_Tensor* from);

  // Holds a tensor, which the caller does not own, until work that uses it is done, if it lies on a device.
  void keep(TF_Tensor* tensor);

  // Until all work is done. Fails with the node whose work failed.
  void wait();
  // How long work took and how much memory, once it is done.
  void tell(Trace& trace);

 private:
  Lane& lane_on(const DS_Device& device);

  IdleLanes& idle_;
  const std::vector<ProgramDevice>& devices_;
  const bool measures_;
  std::vector<std::shared_ptr<Lane>> lanes_;
};

// A device of a plugin, by its whole name. Throws Failure.
ProgramDevice find_device(std::string_view name);

}  // namespace drystone::host::executor

#endif  // DRYSTONE_HOST_EXECUTOR_DEVICES_H_
