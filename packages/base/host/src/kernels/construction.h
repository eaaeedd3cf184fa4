// What a plugin's create function reads attributes from.
#ifndef DRYSTONE_HOST_KERNELS_CONSTRUCTION_H_
#define DRYSTONE_HOST_KERNELS_CONSTRUCTION_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/failure.h"
#include "drystone/kernels_experimental.h"
#include "kernels/node.h"

struct TF_OpKernelConstruction {
  const drystone::host::kernels::Node& node;
  std::optional<drystone::host::Failure> failure;  // the first
  std::vector<unsigned char>* takes_stored = nullptr;  // per input
};

namespace drystone::host::kernels {

// The attribute; fails with NOT_FOUND without one and INVALID_ARGUMENT for NULL arguments.
sdk::AttrView find_attr(const TF_OpKernelConstruction* ctx, const char* name);

// Fails saying that the attribute is no `needed`.
[[noreturn]] void wrong_kind(const TF_OpKernelConstruction* ctx, const char* name,
                             const char* needed);

}  // namespace drystone::host::kernels

#endif  // DRYSTONE_HOST_KERNELS_CONSTRUCTION_H_
