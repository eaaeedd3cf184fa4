// Why a run is over before its end, and where it was.
#ifndef DRYSTONE_HOST_EXECUTOR_RUN_STOP_H_
#define DRYSTONE_HOST_EXECUTOR_RUN_STOP_H_

#include <atomic>
#include <cstdint>

#include "core/failure.h"
#include "executor/plan.h"
#include "subgraph/operator.h"
#include "threads/stop.h"

namespace drystone::host::executor {

// What the kernel has not done yet of a run that goes on without it.
enum class Awaited : std::uint8_t { nothing, its_return, done };

// How runs fail that are over before their end: at the instruction, or before the first.
[[noreturn]] void fail_late(const Instruction* in, Awaited awaited = Awaited::nothing);
[[noreturn]] void fail_cancelled(const Instruction* in, const char* where, Awaited awaited = Awaited::nothing);
[[noreturn]] void fail_interrupted(const Instruction* in, const char* where, Awaited awaited = Awaited::nothing);

class RunStop : public Stop {
 public:
  enum class Why : std::uint8_t { none, time, cancelled, interrupted };

  // The first reason stays.
  void end(Why why) noexcept {
    Why none = Why::none;
    why_.compare_exchange_strong(none, why, std::memory_order_relaxed);
    set();
  }
  // The node that runs, for what runs it to say.
  using Now = std::atomic<const Instruction*>;
  Now& place_of_now() noexcept { return now_; }
  const Instruction* now() const noexcept { return now_.load(std::memory_order_relaxed); }

  // Fails with what the reason is. `awaited`: what the kernel of the node that runs still owes.
  [[noreturn]] void fail_in_node(Awaited awaited = Awaited::nothing) const {
    const Instruction* const in = now();
    switch (why_.load(std::memory_order_relaxed)) {
      case Why::time: fail_late(in, awaited);
      case Why::interrupted: fail_interrupted(in, "in", awaited);
      default: fail_cancelled(in, "in", awaited);
    }
  }

 private:
  std::atomic<Why> why_{Why::none};
  Now now_{nullptr};
};

}  // namespace drystone::host::executor

#endif  // DRYSTONE_HOST_EXECUTOR_RUN_STOP_H_
