// Memory for what is packed once and read in every call.
#ifndef DRYSTONE_CPU_DNNL_PACKED_MEMORY_H_
#define DRYSTONE_CPU_DNNL_PACKED_MEMORY_H_

#include <cstddef>
#include <memory>

namespace drystone::cpu::dnnl_part {

// So many bytes at a multiple of 64, for as long as it is held. Pieces share slabs of large pages where
// the system has such: with small ones, a network's weights take more pages than a processor has at
// hand, and finding them costs up to 5 % of the time. Throws bad_alloc.
std::shared_ptr<void> allocate_packed(std::size_t bytes);

}  // namespace drystone::cpu::dnnl_part

#endif  // DRYSTONE_CPU_DNNL_PACKED_MEMORY_H_
