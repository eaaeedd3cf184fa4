// The variables that a call holds while it changes them.
#ifndef DRYSTONE_HOST_KERNELS_LOCKS_H_
#define DRYSTONE_HOST_KERNELS_LOCKS_H_

#include <vector>

#include "kernels/variable.h"

namespace drystone::host::kernels {

// A kernel asks for its variables one after the other, in any order. Two calls that ask crosswise would
// wait for each other, so the first time that a call asks for one, all that its inputs stand for are
// locked, in the order of their numbers.
class Locks {
 public:
  Locks() = default;
  ~Locks() { release(); }
  Locks(const Locks&) = delete;
  Locks& operator=(const Locks&) = delete;

  bool empty() const { return held_.empty(); }
  // Lock these, NULL among them or one twice allowed. Fails as Variable::lock does.
  void lock_all(std::vector<VariablePtr> variables, const void* owner, const Deadline& deadline);
  // Whether it is locked here. From now on it counts as asked for.
  bool ask(const Variable& variable) noexcept;
  // Whether it is locked here, and it has not been asked for.
  bool is_spare(const Variable& variable) const noexcept;
  void release() noexcept;

 private:
  struct Held {
    VariablePtr variable;
    bool is_asked = false;
  };
  std::vector<Held> held_;
};

}  // namespace drystone::host::kernels

#endif  // DRYSTONE_HOST_KERNELS_LOCKS_H_
