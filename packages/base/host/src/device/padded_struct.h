// A struct of the contract that a plugin of any release fills in.
#ifndef DRYSTONE_HOST_DEVICE_PADDED_STRUCT_H_
#define DRYSTONE_HOST_DEVICE_PADDED_STRUCT_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "core/guarded.h"
#include "drystone/device.h"

namespace drystone::host {

// From where on a struct has members of one byte: a size may end between any of them. Everywhere
// else a size that cuts a member in two must not leave half a pointer.
template <class T>
inline constexpr std::size_t kBytesFrom = sizeof(T);
template <>
inline constexpr std::size_t kBytesFrom<SP_Platform> =
    offsetof(SP_Platform, supports_unified_memory);

// Zeroed memory for a T that begins with struct_size, with spare room behind it: a plugin built for
// a later release writes its longer struct without harm. settle() then brings what came back to the
// T that this host knows.
template <class T>
class PaddedStruct {
 public:
  PaddedStruct(const char* name, const char* macro, std::size_t size)
      : name_(name), macro_(macro), size_(size) {
    padded_->value.struct_size = size;
  }

  T* get() { return &padded_->value; }
  T* operator->() { return get(); }
  T& operator*() { return *get(); }
  const char* name() const { return name_; }

  // Fails (INTERNAL) where the plugin wrote outside of it and the room behind it.
  void check() const { padded_.check(name_); }

  // Checks guards and size, makes null what lies beyond the size that the plugin states, and
  // returns that size. Throws Failure.
  std::size_t settle() {
    check();
    const std::size_t stated = get()->struct_size;
    const std::string what = std::string(name_) + ".struct_size is " + std::to_string(stated);
    if (stated < kLeast) {
      fail(TF_FAILED_PRECONDITION, what + "; it must be set to " + macro_ + ", which is " +
                                       std::to_string(size_) + " here");
    }
    if (stated > kMost) fail(TF_FAILED_PRECONDITION, what + ", which no release can mean");
    forget_beyond(stated);
    return stated;
  }

 private:
  static constexpr std::size_t kLeast = 2 * sizeof(void*);  // struct_size and ext
  static constexpr std::size_t kMost = 1 << 16;
  static constexpr std::size_t kSpare = 256;
  struct Padded {
    T value;
    unsigned char spare[kSpare];
  };

  void forget_beyond(std::size_t stated) {
    auto* bytes = reinterpret_cast<unsigned char*>(padded_.get());
    const std::size_t own = std::min(std::max(stated, sizeof(T)), sizeof(Padded));
    if (std::any_of(bytes + own, bytes + sizeof(Padded), [](unsigned char b) { return b != 0; })) {
      fail(TF_INTERNAL, std::string("the plugin wrote outside the ") + name_ + " of " +
                            std::to_string(stated) + " bytes that it states");
    }
    const bool cut = stated < size_ && stated < kBytesFrom<T>;
    const std::size_t kept = std::min(cut ? stated & ~(sizeof(void*) - 1) : stated, sizeof(Padded));
    std::memset(bytes + kept, 0, sizeof(Padded) - kept);
  }

  Guarded<Padded> padded_;
  const char* name_;
  const char* macro_;
  std::size_t size_;
};

}  // namespace drystone::host

// DRYSTONE_PADDED_STRUCT(SP_Platform, SP_PLATFORM_STRUCT_SIZE) padded; names struct and macro once.
#define DRYSTONE_PADDED_STRUCT(Type, MACRO) \
  ::drystone::host::PaddedStruct<Type> { #Type, #MACRO, MACRO }

#endif  // DRYSTONE_HOST_DEVICE_PADDED_STRUCT_H_
