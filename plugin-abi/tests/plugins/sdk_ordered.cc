// An optimizer that says where it runs: it turns every Tanh into a Neg, which passes after it see.
#include "drystone/sdk/sdk.hpp"

namespace {

using namespace drystone::sdk;

class Negating {
 public:
  Error optimize(GraphEdit& graph, const Item&) {
    for (int id = 0; id < graph.view().size(); ++id) {
      if (graph.op(id) != "Tanh") continue;
      if (Error error = graph.set_op(id, "Neg"); !error.ok()) return error;
    }
    return {};
  }
};

}  // namespace

DRYSTONE_OPTIMIZER("ORDER_SDK", Negating)
DRYSTONE_OPTIMIZER_ORDER("before arithmetic_optimization", 4)
