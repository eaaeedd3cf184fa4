// Why a run is over before its end, and where it was.
#ifndef DRYSTONE_HOST_EXECUTOR_RUN_STOP_H_
#define DRYSTONE_HOST_EXECUTOR_RUN_STOP_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "core/failure.h"
#include "executor/plan.h"
#include "subgraph/operator.h"
#include "threads/stop.h"

namespace drystone::host::executor {

// "kernel 'MyRelu' of /path.so", of the node that runs.
inline std::string kernel_of(const Instruction* in) {
  if (in != nullptr && in->compiled != nullptr) {
    return "kernel of subgraph backend '" + std::string(in->compiled->backend().itself->name) + "'";
  }
  if (in == nullptr || in->kernel == nullptr) return "kernel";
  return "kernel '" + in->kernel->registered->name + "' of " + in->kernel->registered->library;
}

class RunStop : public Stop {
 public:
  enum class Why : std::uint8_t { none, time, cancelled, interrupted };

  // The first reason stays.
  void end(Why why) noexcept {
    Why none = Why::none;
    why_.compare_exchange_strong(none, why, std::memory_order_relaxed);
    set();
  }
  // The node that runs, for whoever runs it to say.
  using Now = std::atomic<const Instruction*>;
  Now& place_of_now() noexcept { return now_; }
  const Instruction* now() const noexcept { return now_.load(std::memory_order_relaxed); }

  // Fails with what the reason is. `more`: behind it.
  [[noreturn]] void fail_in_node(const std::string& more = {}) const {
    const Instruction* in = now();
    const std::string node = in == nullptr ? "its first node" : "node '" + in->node + "' (" + in->op + ")";
    switch (why_.load(std::memory_order_relaxed)) {
      case Why::time: fail(TF_DEADLINE_EXCEEDED, "the run was stopped at " + node + ": its time is over" + more);
      case Why::interrupted: fail(TF_CANCELLED, "the run was interrupted in " + node + more);
      default: fail(TF_CANCELLED, "the run was cancelled in " + node + more);
    }
  }

 private:
  std::atomic<Why> why_{Why::none};
  Now now_{nullptr};
};

}  // namespace drystone::host::executor

#endif  // DRYSTONE_HOST_EXECUTOR_RUN_STOP_H_
