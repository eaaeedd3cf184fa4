// Variants: scalars that wrap tensors.
#ifndef DRYSTONE_HOST_KERNELS_VARIANT_H_
#define DRYSTONE_HOST_KERNELS_VARIANT_H_

#include <memory>
#include <vector>

#include "kernels/handles.h"

namespace drystone::host::kernels {

struct Variant {
  Variant() = default;
  ~Variant();
  Variant(const Variant&) = delete;
  Variant& operator=(const Variant&) = delete;

  std::vector<std::unique_ptr<TF_Tensor>> parts;
  std::uint64_t number = 0;
};

// What a variant scalar wraps; fails with INVALID_ARGUMENT for another tensor, NOT_FOUND when it is
// gone.
std::shared_ptr<const Variant> variant_of(const TF_Tensor& tensor);

// A variant scalar that wraps the parts.
TF_Tensor* new_variant(std::vector<std::unique_ptr<TF_Tensor>> parts);

}  // namespace drystone::host::kernels

#endif  // DRYSTONE_HOST_KERNELS_VARIANT_H_
