// A region that the host hands over, as a graph.
#pragma once

#include <string>
#include <vector>

#include "drystone/subgraph.h"
#include "program.h"

namespace drystone::gpu {

// Whether the backend takes a node; `why` says what stands against it.
bool takes(const DS_SubgraphNode& node, std::string* why);

// For each node whether it can be computed: what must be known when the region is compiled is then
// known. `worth`: whether one of them is a product or a convolution.
std::vector<bool> computable(const DS_SubgraphRegion& region, bool* worth);

struct Built {
  Graph graph;
  std::vector<int> inputs;   // values, one for each input of the region
  std::vector<int> results;  // values, one for each output
};

// The region for its inputs' shapes; throws Refused.
Built build(const DS_SubgraphRegion& region);

}  // namespace drystone::gpu
