// The record of a run, for DS_RunOptions.trace: what each instruction did and what was held then.
#ifndef DRYSTONE_HOST_EXECUTOR_TRACE_H_
#define DRYSTONE_HOST_EXECUTOR_TRACE_H_

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/json.h"
#include "executor/plan.h"

namespace drystone::host::executor {

class Run;

class Trace {
 public:
  explicit Trace(const Program& program) : program_(program) {}

  static std::int64_t now() noexcept;  // nanoseconds

  // The run holds a value, once more; its memory, NULL where none counts (constants, no numbers).
  const Memory* hold(const TF_Tensor* value);
  void let_go(const Memory* memory);
  // Values of blocks with frames are not followed one by one. `change` of their bytes.
  void frames_hold(std::int64_t change);
  bool follows(const Memory* memory);

  // An instruction has ended that started at `start`. `outputs`: NULL or dead where there are none.
  // Constants are left out.
  void add(const Block& block, const Instruction& in, std::int64_t start, TF_Tensor* const* outputs);

  // Work of a node took so long on its device, in the order in which it ran; `node`: Instruction::node.
  void add_device_time(const std::string* node, const DS_Device& device, std::uint64_t nanoseconds);
  // What the run's values took there at most, of what the device has.
  void add_device(DS_Device& device, std::int64_t peak);

  std::string json();

 private:
  struct Event {
    std::int32_t block;
    std::int32_t instruction;
    std::int64_t thread;
    std::int64_t start;
    std::int64_t end;
    std::int64_t held;
    Slice outputs;
  };
  struct Output {
    std::int64_t bytes;
    std::int64_t memory;  // its number, -1: not followed
    Allocation allocation;
  };
  struct DeviceTime {
    const DS_Device& device;
    std::uint64_t nanoseconds;
  };
  struct DevicePeak {
    DS_Device& device;
    std::int64_t bytes;
  };
  struct Followed {
    std::int64_t number;
    std::int64_t uses;
  };

  void add_to(Json& out, const Event& event);
  void add_devices_to(Json& out);

  const Program& program_;
  std::mutex mutex_;
  std::unordered_map<const Memory*, Followed> followed_;
  std::int64_t next_ = 0;
  std::int64_t held_ = 0;
  std::vector<Event> events_;
  std::vector<Output> outputs_;
  std::unordered_map<const std::string*, std::deque<DeviceTime>> device_times_;
  std::vector<DevicePeak> devices_;
};

// Takes notes of one block that runs in order, or in segments on several threads.
class Recording {
 public:
  Recording(Trace& trace, const Block& block, TF_Tensor* const* values);
  ~Recording();  // the caller holds what is fetched
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // Run::run_range with notes.
  void range(Run& run, std::int32_t begin, std::int32_t end, TF_Tensor** values);
  void made(const Instruction& in, std::int64_t start, TF_Tensor* const* values);
  void dies(std::size_t value);

 private:
  Trace& trace_;
  const Block& block_;
  std::vector<const Memory*> held_;  // per value
};

// Bytes of a value's elements; 0 for a value that is no array of the host's.
std::int64_t bytes_of(const TF_Tensor* value) noexcept;

}  // namespace drystone::host::executor

#endif  // DRYSTONE_HOST_EXECUTOR_TRACE_H_
