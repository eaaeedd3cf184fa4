// Filling and reading TF_Buffers inside the host.
#ifndef DRYSTONE_HOST_CORE_BUFFER_H_
#define DRYSTONE_HOST_CORE_BUFFER_H_

#include <string_view>

#include "drystone/buffer.h"

namespace drystone::host {

// Buffers of TF_NewBuffer that a plugin has for a time and must not delete.
class LentBuffers {
 public:
  LentBuffers(TF_Buffer* const* buffers, int count) noexcept;
  ~LentBuffers();
  LentBuffers(const LentBuffers&) = delete;
  LentBuffers& operator=(const LentBuffers&) = delete;

 private:
  TF_Buffer* const* buffers_;
  int count_;
};

// Copy `bytes` into an output buffer; fails (INVALID_ARGUMENT) unless it is there and holds no data.
void fill(TF_Buffer* out, std::string_view bytes);

// The bytes of an input buffer; fails for NULL, and for a length without data.
std::string_view view(const TF_Buffer* buffer);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_BUFFER_H_
