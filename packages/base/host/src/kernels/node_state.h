// What the kernels of nodes keep for a session: see drystone/kernel_state.h.
#ifndef DRYSTONE_HOST_KERNELS_NODE_STATE_H_
#define DRYSTONE_HOST_KERNELS_NODE_STATE_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "drystone/kernel_state.h"
#include "drystone_host/kernels.h"

namespace drystone::host::kernels {

// A plugin's object with what destroys it.
class Object {
 public:
  Object(const DS_ObjectKind* kind, void* object) noexcept
      : kind_(kind), destroy_(kind->destroy), object_(object) {}
  ~Object();
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  const DS_ObjectKind* kind() const { return kind_; }
  void* get() const { return object_; }

 private:
  const DS_ObjectKind* kind_;
  void (*destroy_)(void*);
  void* object_;
};

}  // namespace drystone::host::kernels

struct DS_NodeStates {
 public:
  // The object of a node; fails with RESOURCE_EXHAUSTED when it cannot be made.
  void* get(std::string_view node, const DS_ObjectKind& kind, void* (*create)(void*),
            void* argument);

  // A kernel has changed what all runs read; the first to tell stays.
  void note_damage(const std::string& text);
  bool is_damaged() const noexcept { return is_damaged_.load(std::memory_order_relaxed); }
  std::string damage();

 private:
  std::atomic<bool> is_damaged_{false};
  std::string damage_;
  using Key = std::pair<const DS_ObjectKind*, std::string>;
  std::mutex mutex_;
  std::map<Key, std::unique_ptr<drystone::host::kernels::Object>> objects_;
};

#endif  // DRYSTONE_HOST_KERNELS_NODE_STATE_H_
