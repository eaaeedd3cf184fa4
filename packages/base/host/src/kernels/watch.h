// Looking after calls of a plugin's kernel: what it must not have changed.
#ifndef DRYSTONE_HOST_KERNELS_WATCH_H_
#define DRYSTONE_HOST_KERNELS_WATCH_H_

#include <array>
#include <cstdint>
#include <vector>

#include "core/freed_blocks.h"
#include "kernels/context.h"

namespace drystone::host::kernels {

// A number that tells other bytes from these.
std::uint64_t print_of_all(const unsigned char* bytes, std::size_t count) noexcept;

// Before the call it takes prints of the inputs: of all their bytes in calls number 1, 2, 4, 8 and so on
// of a node and for small ones, else of words spread over them.
class Watch {
 public:
  explicit Watch(TF_OpKernelContext& ctx);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // After the call: fails with INTERNAL where an input has changed, or memory around an output or of
  // temporary tensors; where an output lies in memory that the call has freed, or has, in the calls that are
  // looked at as a whole, another shape than the op's shape function says, or in any call another than the
  // embedder's inference. Strings of outputs own their bytes
  // from then on: a view becomes a copy.
  void check();

 private:
  static constexpr std::size_t kFew = 8;
  bool is_watched(std::size_t i) const;
  std::uint64_t print(std::size_t i) const;
  std::uint64_t& place(std::size_t i) { return more_.empty() ? few_[i] : more_[i]; }
  void look_back();
  void keep_outputs();
  void check_inputs();
  void check_outputs() const;
  void check_place(std::size_t i) const;
  void check_strings(std::size_t i) const;
  void check_shapes() const;
  std::string lost_place(const void* data) const;

  TF_OpKernelContext& ctx_;
  const PluginFunction& function_;
  FreedBlocks freed_;
  const std::size_t count_;
  bool whole_ = false;
  std::array<std::uint64_t, kFew> few_;
  std::vector<std::uint64_t> more_;
};

}  // namespace drystone::host::kernels

#endif  // DRYSTONE_HOST_KERNELS_WATCH_H_
