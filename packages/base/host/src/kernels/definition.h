// What a kernel was registered for, and its KernelDef bytes.
#ifndef DRYSTONE_HOST_KERNELS_DEFINITION_H_
#define DRYSTONE_HOST_KERNELS_DEFINITION_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace drystone::host::kernels {

// The attribute must hold one of the types; a list of types must hold no other.
struct Constraint {
  std::string attr;
  std::vector<int> types;

  auto operator<=>(const Constraint&) const = default;
};

struct Definition {
  std::string op;
  std::string device;
  std::vector<Constraint> constraints;
  std::vector<std::string> host_memory;
  std::string label;
  std::int32_t priority = 0;
};

// Whether a node cannot tell the two apart: all but host memory is equal, constraints in any order.
bool same_place(const Definition& a, const Definition& b);

// A number that is the same for two that same_place() holds for.
std::size_t place_hash(const Definition& definition) noexcept;

// Whether the number is a TF_DataType.
bool known_dtype(int number) noexcept;

// The bytes of a KernelDef.
std::string serialize(const Definition& definition);

// Fails with INVALID_ARGUMENT for bytes that are no KernelDef with an op and a device type.
Definition parse_kernel_def(std::string_view bytes);

}  // namespace drystone::host::kernels

#endif  // DRYSTONE_HOST_KERNELS_DEFINITION_H_
