// Constant inputs whose elements stay in a model's file: see drystone/kernel_stored.h.
#ifndef DRYSTONE_CPU_CORE_STORED_H_
#define DRYSTONE_CPU_CORE_STORED_H_

#include "core/kernel.h"
#include "drystone/kernel_stored.h"

namespace drystone::cpu {

// The kernel of the node copes with an input `i` without elements in memory.
inline void take_stored(const Node& node, int i) { DS_TakeStored(node.construction(), i); }

// Copies bytes of input `i`. Whether it could: otherwise the call has failed. Any thread.
inline bool read_input(const Call& call, int i, std::int64_t offset, std::int64_t bytes,
                       void* into) noexcept {
  return DS_ReadInput(call.context(), i, static_cast<std::size_t>(offset),
                      static_cast<std::size_t>(bytes), into) != 0;
}

// All elements of input `i`, which `x` shows, in memory.
inline const void* loaded(const Call& call, int i, const Tensor& x) {
  if (x.data() != nullptr) return x.data();
  const void* out = DS_LoadInput(call.context(), i);
  if (out == nullptr) throw AlreadyFailed();
  return out;
}

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_CORE_STORED_H_
