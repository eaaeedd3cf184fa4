// Objects of one type that plugins have, told apart from what was deleted without reading it.
#ifndef DRYSTONE_HOST_CORE_LIVE_SET_H_
#define DRYSTONE_HOST_CORE_LIVE_SET_H_

#include <mutex>
#include <string>
#include <unordered_set>

#include "core/failure.h"
#include "core/memory_guards.h"

namespace drystone::host {

template <class Object>
class LiveSet {
 public:
  // `misuse` is noted where what is deleted is none.
  LiveSet(const char* what, const char* misuse) : what_(what), misuse_(misuse) {}

  Object* add(Object* object) {
    const std::lock_guard guard(lock_);
    all_.insert(object);
    return object;
  }

  // Fails with INVALID_ARGUMENT for one that is not there.
  void require(const Object* object) {
    host::require(object, what_);
    const std::lock_guard guard(lock_);
    if (!all_.contains(const_cast<Object*>(object))) {
      fail(TF_INVALID_ARGUMENT, std::string(what_) + " is not valid: it was deleted before");
    }
  }

  void erase(Object* object) noexcept {
    if (object == nullptr) return;
    {
      const std::lock_guard guard(lock_);
      if (all_.erase(object) == 0) return note_misuse(misuse_);
    }
    delete object;
  }

 private:
  const char* what_;
  const char* misuse_;
  std::mutex lock_;
  std::unordered_set<Object*> all_;
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_LIVE_SET_H_
