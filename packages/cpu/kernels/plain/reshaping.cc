// Other dims for the same elements, and what the dims are.
#include <algorithm>

#include "core/kernel.h"
#include "plain/plain.h"

namespace drystone::cpu {
namespace {

// Elements of a tensor of int32 or int64.
Dims numbers(const Tensor& tensor) {
  Dims out(static_cast<std::size_t>(tensor.count()));
  for (std::size_t k = 0; k < out.size(); ++k) {
    out[k] = tensor.dtype() == TF_INT32 ? tensor.as<std::int32_t>()[k] : tensor.as<std::int64_t>()[k];
  }
  return out;
}

void reshape(Call& call) {
  const Tensor x = call.input(0);
  const Tensor shape = call.input(1);
  if (shape.rank() > 1) fail(TF_INVALID_ARGUMENT, "sizes input must be 1-D, not shape " + text(shape.dims()));
  Dims dims = numbers(shape);
  std::int64_t known = 1;
  std::int64_t open = -1;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (dims[k] == -1) {
      require(open < 0, "only one input size may be -1");
      open = static_cast<std::int64_t>(k);
    } else {
      require(dims[k] >= 0, "sizes must not be negative");
      if (__builtin_mul_overflow(known, dims[k], &known)) {
        fail(TF_INVALID_ARGUMENT, "the sizes " + text(dims) + " are too large");
      }
    }
  }
  if (open >= 0) {
    const std::int64_t missing = known == 0 ? 0 : x.count() / known;  // TensorFlow: 0 beside 0
    require(known > 0 || x.count() == 0, "a size of -1 needs the others to be positive");
    dims[static_cast<std::size_t>(open)] = missing;
    known *= missing;
  }
  if (known != x.count()) {
    fail(TF_INVALID_ARGUMENT, "Input to reshape is a tensor with " + std::to_string(x.count()) +
                                  " values, but the requested shape has " + std::to_string(known));
  }
  call.share(0, 0, dims);
}

}  // namespace

void add_reshaping() {
  add<reshape>("Reshape", {{"Tshape", {TF_INT32, TF_INT64}}});
}

}  // namespace drystone::cpu
