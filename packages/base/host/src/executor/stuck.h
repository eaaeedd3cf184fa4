// Nodes of a session whose kernels have not returned to runs that went on without them.
#ifndef DRYSTONE_HOST_EXECUTOR_STUCK_H_
#define DRYSTONE_HOST_EXECUTOR_STUCK_H_

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "executor/plan.h"

namespace drystone::host::executor {

class Stuck {
 public:
  bool any() const noexcept { return count_.load(std::memory_order_relaxed) != 0; }
  // `who`: whatever remove() will be called with. Throws bad_alloc.
  void add(const void* who, const Instruction& in);
  void remove(const void* who) noexcept;
  // Fails with UNAVAILABLE where the program has one of these nodes.
  void refuse(const Program& program);

 private:
  struct Node {
    const void* who;
    std::string name;
    std::string op;
    std::chrono::steady_clock::time_point since;
  };
  std::atomic<int> count_{0};
  std::mutex mutex_;
  std::vector<Node> nodes_;
};

}  // namespace drystone::host::executor

#endif  // DRYSTONE_HOST_EXECUTOR_STUCK_H_
