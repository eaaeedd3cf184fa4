// Handles that are given to plugins, and a check whether one that comes back is still good.
#ifndef DRYSTONE_HOST_OPS_HANDLES_H_
#define DRYSTONE_HOST_OPS_HANDLES_H_

#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/failure.h"
#include "core/live.h"

namespace drystone::host::ops {

// The handles of one type that are alive. Each belongs to an owner, or to none (NULL). A pointer
// that was never given out, or was deleted, is told apart without being read.
template <class Handle>
class Handles {
 public:
  explicit Handles(const char* what) : what_(what) {}

  // Fails with RESOURCE_EXHAUSTED where so many are alive that whoever makes them never ends.
  Handle* add(Handle value, const void* owner) {
    auto* handle = new Handle(std::move(value));
    try {
      const std::lock_guard guard(lock_);
      if (alive_.size() >= kMost) fail(TF_RESOURCE_EXHAUSTED, "a million of them are alive");
      alive_.emplace(handle, owner);
    } catch (...) {
      delete handle;
      throw;
    }
    born(Kind::handle);
    return handle;
  }

  // The handle; fails with INVALID_ARGUMENT where it is not alive.
  Handle& get(Handle* handle) {
    if (!contains(handle)) {
      fail(TF_INVALID_ARGUMENT, std::string("the ") + what_ +
                                    (handle == nullptr ? " must not be NULL"
                                                       : " is not valid: it was deleted before"));
    }
    return *handle;
  }

  bool contains(Handle* handle) {
    const std::lock_guard guard(lock_);
    return alive_.contains(handle);
  }

  // Whether it was alive; it no longer is.
  bool remove(Handle* handle) noexcept {
    {
      const std::lock_guard guard(lock_);
      if (alive_.erase(handle) == 0) return false;
    }
    delete handle;
    died(Kind::handle);
    return true;
  }

  // Delete what belongs to an owner; how many there were.
  std::size_t remove_all_of(const void* owner) {
    std::vector<Handle*> left;
    {
      const std::lock_guard guard(lock_);
      for (const auto& [handle, whose] : alive_) {
        if (whose == owner) left.push_back(handle);
      }
    }
    for (Handle* handle : left) remove(handle);
    return left.size();
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 20;

  const char* what_;
  std::mutex lock_;
  std::unordered_map<Handle*, const void*> alive_;
};

}  // namespace drystone::host::ops

#endif  // DRYSTONE_HOST_OPS_HANDLES_H_
