// Tensors whose elements stay in a file until they are needed.
//
// Nothing of the file is mapped: it is read by pread, so that a file that was cut off after it was
// opened is a failure of the call that needs what is gone, and no signal.
#ifndef DRYSTONE_HOST_CORE_STORED_H_
#define DRYSTONE_HOST_CORE_STORED_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/tensor.h"

namespace drystone::host {

// Where the elements are: what Memory::argument points to. The embedder keeps the descriptor open
// until `release` is called.
struct Stored {
  int descriptor;
  std::int64_t offset;
  void (*release)(void*);
  void* argument;
  // Element k is what the file has, times factor k / inner % (number of factors); none: as it is.
  std::vector<float> factors;
  std::int64_t inner = 1;
};

inline bool is_stored(const TF_Tensor& tensor) noexcept {
  return tensor.memory != nullptr && tensor.memory->stored;
}

// Read bytes of a stored tensor's elements. Any thread. Fails with OUT_OF_RANGE beyond its end,
// DATA_LOSS where the file has become shorter, UNAVAILABLE where it cannot be read.
void read_stored(const TF_Tensor& tensor, std::size_t offset, std::size_t bytes, void* into);

// The same elements in memory, held; all who ask share them for as long as the stored tensor's memory
// lives. Any thread. Fails as read_stored() does, and throws bad_alloc.
TF_Tensor* loaded(const TF_Tensor& tensor);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_STORED_H_
