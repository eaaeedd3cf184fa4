// Memory that a plugin is given to fill, with guard bytes around it.
#ifndef DRYSTONE_HOST_CORE_GUARDED_H_
#define DRYSTONE_HOST_CORE_GUARDED_H_

#include <cstddef>
#include <cstring>
#include <memory>

#include "core/failure.h"

namespace drystone::host {

// Holds a zeroed T between two runs of guard bytes. A plugin that writes past the sizes it was told
// hits those instead of the host's stack, and is found out by check().
template <class T>
class Guarded {
 public:
  Guarded() : block_(std::make_unique<Block>()) {
    std::memset(block_->before, kPattern, kGuard);
    std::memset(&block_->value, 0, sizeof(T));
    std::memset(block_->after, kPattern, kGuard);
  }

  T* operator->() { return &block_->value; }
  T& operator*() { return block_->value; }
  T* get() { return &block_->value; }

  // Fails (INTERNAL) naming the struct when bytes outside it were changed.
  void check(const char* name) const {
    if (!intact(block_->before) || !intact(block_->after)) {
      fail(TF_INTERNAL, std::string("the plugin wrote outside the ") + name + " it was given");
    }
  }

 private:
  static constexpr std::size_t kGuard = 512;
  static constexpr unsigned char kPattern = 0xD5;
  struct alignas(64) Block {
    unsigned char before[kGuard];
    T value;
    unsigned char after[kGuard];
  };

  static bool intact(const unsigned char* guard) {
    for (std::size_t k = 0; k < kGuard; ++k) {
      if (guard[k] != kPattern) return false;
    }
    return true;
  }

  std::unique_ptr<Block> block_;
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_GUARDED_H_
