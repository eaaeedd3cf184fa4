// cuDNN: convolutions with bias, residual and Relu in one kernel.
#pragma once

#include <memory>

#include "layers.h"

namespace drystone::gpu {

class Dnn {
 public:
  // Null where the library is not there.
  static std::unique_ptr<Dnn> open(Stream& stream, void* workspace, std::size_t workspace_bytes);

  virtual ~Dnn() = default;
  // As Lt::product; the filter is [out_channels, filter_h, filter_w, channels / groups] here.
  // Windows must have as much padding on either side.
  virtual Work convolution(const Window& window, std::int32_t groups, Type type, const void* from,
                           const void* filter, const After& after, bool with_relu, void* to) = 0;
};

}  // namespace drystone::gpu
