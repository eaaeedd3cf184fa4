// A pair of passes: the first gives nodes another layout, the second converts at the borders.
#ifndef PASSES_CPP_LAYOUT_PAIR_H_
#define PASSES_CPP_LAYOUT_PAIR_H_

#include "calls.h"

namespace example {

Error layout_rewrite(GraphEdit& graph);
Error layout_conversion(GraphEdit& graph);

}  // namespace example

#endif  // PASSES_CPP_LAYOUT_PAIR_H_
