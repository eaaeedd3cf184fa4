// Attention as graphs write it, put together.
#pragma once

#include <vector>

#include "program.h"

namespace drystone::gpu {

// Softmax between two products becomes one operation, which takes in transpositions around it and
// has products that give queries, keys and values of the same rows computed as one; what that read
// may stay unread. `results`: the values that leave the region.
void join_attention(Graph& graph, const std::vector<int>& results);

}  // namespace drystone::gpu
