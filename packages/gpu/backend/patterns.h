// Operations that say together what one kernel computes.
#pragma once

#include "program.h"

namespace drystone::gpu {

// Puts layer normalizations and GELUs in the place of what ends them; what they read may stay
// unread.
void join_patterns(Graph& graph);

}  // namespace drystone::gpu
