// An array that a plugin is given to fill, with guard bytes around it.
#ifndef DRYSTONE_HOST_CORE_GUARDED_BYTES_H_
#define DRYSTONE_HOST_CORE_GUARDED_BYTES_H_

#include <cstddef>
#include <memory>

namespace drystone::host {

// `count` bytes, of a plain type.
class GuardedBytes {
 public:
  explicit GuardedBytes(std::size_t count);
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  char* data() { return block_.get() + kGuard; }
  // Whether nothing was written outside. Ends the process where what was written reaches past the guard
  // bytes; `whose` is named then.
  bool is_whole(const char* whose) const noexcept;
  void renew() const noexcept;

 private:
  static constexpr std::size_t kGuard = 1024;
  std::size_t count_;
  std::unique_ptr<char[]> block_;
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_GUARDED_BYTES_H_
