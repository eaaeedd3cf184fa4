// Everything of the C++ SDK: helpers for plugins, header-only, on top of the C contract.
//
// Since ABI 1.0. C++17; clean under -fno-exceptions and -fno-rtti; depends on the headers beside it
// only. Each header says what it is for; docs/how-to/plugin_authors shows them at work.
//
//   sdk/graph_view.hpp   read a GraphDef where it lies       sdk/graph_edit.hpp  change it
//   sdk/pattern.hpp      find subgraphs in either            sdk/attr.hpp        attributes
//   sdk/item.hpp         nodes to preserve, shapes, op definitions
//   sdk/optimizer.hpp    DRYSTONE_OPTIMIZER                  sdk/kernel.hpp      DRYSTONE_KERNELS
#ifndef DRYSTONE_SDK_SDK_HPP_
#define DRYSTONE_SDK_SDK_HPP_

#include "drystone/sdk/kernel.hpp"
#include "drystone/sdk/optimizer.hpp"
#include "drystone/sdk/pattern.hpp"

#endif  // DRYSTONE_SDK_SDK_HPP_
