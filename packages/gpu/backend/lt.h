// cuBLASLt: matrix products with bias, residual and Relu in one kernel.
#pragma once

#include <memory>

#include "layers.h"

namespace drystone::gpu {

class Lt {
 public:
  // Null where the library is not there.
  static std::unique_ptr<Lt> open(Stream& stream, void* workspace, std::size_t workspace_bytes);

  virtual ~Lt() = default;
  // The quickest algorithm, found by trying. Null where it has none. Activations other than Relu
  // are not done; `with_relu` is whether Relu is.
  virtual Work product(const Product& product, const void* a, const void* b, const After& after,
                       bool with_relu, void* to) = 0;
};

}  // namespace drystone::gpu
