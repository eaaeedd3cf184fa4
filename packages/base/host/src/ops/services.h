// What the embedder says about its own ops and kernels.
#ifndef DRYSTONE_HOST_OPS_SERVICES_H_
#define DRYSTONE_HOST_OPS_SERVICES_H_

#include <optional>
#include <string>
#include <string_view>

namespace drystone::host::ops {

// The embedder's definition of an op. The list is asked for at the first call. Fails (Failure)
// where the embedder fails; answers nullopt while the embedder is being asked on this thread.
std::optional<std::string> find_embedder_op(std::string_view name);

// The embedder's whole OpList, "" without one. Fails in the same way.
std::string embedder_ops();

// The embedder's KernelList for one op, or for all with NULL. Fails where the embedder fails.
std::string embedder_kernels(const char* op);

}  // namespace drystone::host::ops

#endif  // DRYSTONE_HOST_OPS_SERVICES_H_
