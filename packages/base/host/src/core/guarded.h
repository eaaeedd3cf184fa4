// Memory that a plugin is given to fill, with guard bytes around it.
#ifndef DRYSTONE_HOST_CORE_GUARDED_H_
#define DRYSTONE_HOST_CORE_GUARDED_H_

#include <cstddef>
#include <cstring>
#include <memory>

#include "core/failure.h"
#include "core/memory_guards.h"

namespace drystone::host {

// Holds a zeroed T between two runs of guard bytes. A plugin that writes past the sizes it was told
// hits those instead of the host's stack, and is found out by check().
template <class T>
class Guarded {
 public:
  Guarded() : block_(std::make_unique<Block>()) {
    std::memset(&block_->value, 0, sizeof(T));
    renew();
  }

  T* operator->() { return &block_->value; }
  T& operator*() { return block_->value; }
  T* get() { return &block_->value; }

  // Whether nothing outside of it was changed. Ends the process where all guard bytes of a side were.
  bool is_whole(const char* whose) const noexcept {
    constexpr std::size_t kLast = 8;
    if (!is_guard(block_->before, kLast) || !is_guard(block_->after + kGuard - kLast, kLast)) end_harmed(whose);
    return is_guard(block_->before, kGuard) && is_guard(block_->after, kGuard);
  }

  // Sets the guard bytes again.
  void renew() const noexcept {
    fill_guard(block_->before, kGuard);
    fill_guard(block_->after, kGuard);
  }

  // Fails (INTERNAL) naming the struct when bytes outside it were changed.
  void check(const char* name) const {
    if (!is_whole("a plugin")) {
      fail(TF_INTERNAL, std::string("the plugin wrote outside the ") + name + " it was given");
    }
  }

 private:
  static constexpr std::size_t kGuard = 512;
  struct alignas(64) Block {
    unsigned char before[kGuard];
    T value;
    unsigned char after[kGuard];
  };

  std::unique_ptr<Block> block_;
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_GUARDED_H_
