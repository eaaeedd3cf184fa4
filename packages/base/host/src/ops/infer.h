// Running the shape function of a plugin's op.
#ifndef DRYSTONE_HOST_OPS_INFER_H_
#define DRYSTONE_HOST_OPS_INFER_H_

#include <string_view>
#include <vector>

#include "ops/registry.h"
#include "ops/shape.h"

namespace drystone::host::ops {

// The shapes of the outputs of a node. Fails (Failure) as DS_InferShapes says.
std::vector<Shape> infer_shapes(std::string_view op, std::string_view node_def,
                                std::vector<Shape> inputs);

// The same on the thread that asks, in a call of a kernel: what the shape function of a plugin's op says. Nothing
// where there is none, or where it refuses, which is a warning: its kernel has taken them.
std::vector<Shape> stated_shapes(std::string_view op, std::string_view node_def, std::vector<Shape> inputs);

// How many handles the shape function of an op has left behind so far.
std::int64_t leaked_handles(std::string_view op);

}  // namespace drystone::host::ops

#endif  // DRYSTONE_HOST_OPS_INFER_H_
