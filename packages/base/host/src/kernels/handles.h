// Numbers that stand for objects in the memory of resource and variant tensors.
#ifndef DRYSTONE_HOST_KERNELS_HANDLES_H_
#define DRYSTONE_HOST_KERNELS_HANDLES_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "core/tensor.h"

namespace drystone::host::kernels {

// Objects by number. A plugin may copy the number, keep it too long or make one up: it is looked
// up, never followed. Numbers carry a tag, so that those of another table, or small ones, are
// unknown.
template <class T>
class Handles {
 public:
  explicit Handles(std::uint32_t tag) : next_(static_cast<std::uint64_t>(tag) << 32) {}

  std::uint64_t add(const std::shared_ptr<T>& object) {
    const std::lock_guard lock(mutex_);
    objects_.emplace(++next_, object);
    return next_;
  }
  // The object, or NULL when it is gone or never was.
  std::shared_ptr<T> find(std::uint64_t number) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(number);
    return found == objects_.end() ? nullptr : found->second.lock();
  }
  void forget(std::uint64_t number) noexcept {
    const std::lock_guard lock(mutex_);
    objects_.erase(number);
  }

 private:
  mutable std::mutex mutex_;
  std::uint64_t next_;
  std::unordered_map<std::uint64_t, std::weak_ptr<T>> objects_;
};

// A scalar tensor of the number, which keeps `object` alive.
TF_Tensor* handle_tensor(TF_DataType dtype, std::uint64_t number, std::shared_ptr<void> object);

// The number at an element; fails with INVALID_ARGUMENT for another dtype or a bad index.
std::uint64_t handle_at(const TF_Tensor& tensor, TF_DataType dtype, std::int64_t index);

}  // namespace drystone::host::kernels

#endif  // DRYSTONE_HOST_KERNELS_HANDLES_H_
