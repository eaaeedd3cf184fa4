// Variables that kernels read and change.
#ifndef DRYSTONE_HOST_KERNELS_VARIABLE_H_
#define DRYSTONE_HOST_KERNELS_VARIABLE_H_

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/lane.h"
#include "drystone_host/kernels.h"
#include "kernels/handles.h"

namespace drystone::host::kernels {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

// Its value lies where it was last written: in host memory, or in that of a device. Who needs it elsewhere gets
// a copy, which serves all others there until the value changes. While it is being changed in place none is kept.
class Variable {
 public:
  // Fails with INVALID_ARGUMENT for a value of another dtype.
  static std::shared_ptr<Variable> make(std::string name, std::string container, TF_DataType dtype,
                                        const TF_Tensor* value);
  ~Variable();
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

  const std::string& name() const { return name_; }
  const std::string& container() const { return container_; }
  TF_DataType dtype() const { return dtype_; }
  std::uint64_t number() const { return number_; }

  // A new handle of the value wherever it lies, or NULL without one.
  std::unique_ptr<TF_Tensor> value() const;
  // The value where the work of `lane` finds it, NULL: in host memory. Fails with FAILED_PRECONDITION
  // without a value.
  std::unique_ptr<TF_Tensor> initialized(Lane* lane = nullptr);
  // The same for who is within no kernel: not while a kernel that holds the variable has yet to put its work on
  // the stream of the device where the value lies.
  std::unique_ptr<TF_Tensor> read(Lane* lane = nullptr);
  // A new handle of the value in host memory, as read() gives it, with its version, a number that no other value of any
  // variable has; NULL and 0 without a value.
  std::pair<std::unique_ptr<TF_Tensor>, std::int64_t> versioned();
  std::int64_t version() const;
  // Fails with FAILED_PRECONDITION without a value.
  void check_value() const;
  // What was given by changeable() or initialized() has been written to, or is about to be.
  void changed();
  // Replace the value; NULL for none.
  void set(const TF_Tensor* value);
  // Has its value lie where `lane` finds it, NULL: in host memory. Fails with FAILED_PRECONDITION without one.
  void move_to(Lane* lane);
  // Whether nothing else holds the value's memory, and it is the host's to write, or that of the lane.
  bool exclusive(const Lane* lane) const;

  // Its value for changing it in place: a handle of memory where `lane` finds it, NULL: of host memory,
  // that only the variable has besides. Fails with FAILED_PRECONDITION without a value.
  std::unique_ptr<TF_Tensor> changeable(Lane* lane = nullptr);
  // Replace the value by one that is given up.
  void take(std::unique_ptr<TF_Tensor> value);

  // Hold the variable for `owner`. Fails with FAILED_PRECONDITION when that owner holds it, and
  // DEADLINE_EXCEEDED when the time is over.
  void lock(const void* owner, const Deadline& deadline);
  void unlock() noexcept;

 private:
  void require_value() const;
  std::unique_lock<std::mutex> settled();
  std::unique_ptr<TF_Tensor> here(Lane* lane);
  std::unique_ptr<TF_Tensor> elsewhere(Lane* lane);
  void note_change();
  void replace(std::unique_ptr<TF_Tensor>& value);
  Variable(std::string name, std::string container, TF_DataType dtype);

  std::string name_;
  std::string container_;
  TF_DataType dtype_;
  std::uint64_t number_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable unlocked_;
  std::unique_ptr<TF_Tensor> value_;
  std::vector<std::unique_ptr<TF_Tensor>> copies_;  // of the value, at other places
  std::int64_t version_ = 0;
  bool was_changed_ = false;  // in place: who else holds its memory may be at it
  const void* owner_ = nullptr;
};

using VariablePtr = std::shared_ptr<Variable>;

// What element `index` of a resource tensor stands for; fails with NOT_FOUND when it is gone.
VariablePtr variable_at(const TF_Tensor& resource, std::int64_t index);
// The same; NULL for what is no variable that is alive.
VariablePtr find_variable(const TF_Tensor& resource, std::int64_t index);

// A new handle for the embedder.
DS_Variable* expose(VariablePtr variable);
// The variable of an embedder's handle, which must not be NULL.
const VariablePtr& variable_of(const DS_Variable* handle);

// Temporary variables of steps. Added: ALREADY_EXISTS; taken out: NOT_FOUND.
void add_temporary(std::int64_t step, const VariablePtr& variable);
VariablePtr take_temporary(std::int64_t step, const std::string& name);

}  // namespace drystone::host::kernels

#endif  // DRYSTONE_HOST_KERNELS_VARIABLE_H_
