// What a plugin's kernel writes after its call is over: a thread that it has left, or code behind `done`.
#ifndef DRYSTONE_HOST_KERNELS_LATER_WRITES_H_
#define DRYSTONE_HOST_KERNELS_LATER_WRITES_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace drystone::host::kernels {

// Of one kernel. In some of its calls the graph goes on with copies of its outputs; the memory that it was
// given is kept and looked at in the next of these calls, and at the kernel's end.
class LaterWrites {
 public:
  LaterWrites() = default;
  ~LaterWrites();
  LaterWrites(const LaterWrites&) = delete;
  LaterWrites& operator=(const LaterWrites&) = delete;

  // Goes on with a copy of output `i`, which the kernel has set.
  void keep(TF_Tensor& output, std::size_t i);
  // What was written to since, and lets go of all that is kept; "" for nothing.
  std::string found();

  // Bytes of a constant of the model, by input: whether they are those of the last of these calls.
  bool is_same(const Memory& memory, std::size_t input, std::uint64_t print);

 private:
  struct Kept {
    Memory* memory;
    std::size_t output;
    std::uint64_t print;
  };
  struct Constant {
    const Memory* memory = nullptr;
    std::uint64_t print = 0;
  };

  std::mutex mutex_;
  std::vector<Kept> kept_;
  std::vector<Constant> constants_;
};

}  // namespace drystone::host::kernels

#endif  // DRYSTONE_HOST_KERNELS_LATER_WRITES_H_
