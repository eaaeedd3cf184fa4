// Fewer operations that compute the same.
#pragma once

#include <vector>

#include "program.h"

namespace drystone::gpu {

// `results`: the values that leave the region.
void fuse(Graph& graph, const std::vector<int>& results);

}  // namespace drystone::gpu
