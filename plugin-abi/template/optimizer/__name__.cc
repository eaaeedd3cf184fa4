// A graph optimizer for graphs with a node on the CPU.
//
// Start here: `pattern_` says what to look for, `rewrite` what to put in its place. This one knows that
// the absolute value of an absolute value is nothing new.
#include "drystone/platform_strings.h"
#include "drystone/sdk/sdk.hpp"

namespace {

using namespace drystone::sdk;

class {{Name}} {
 public:
  Error optimize(GraphEdit& graph, const Item&) {
    for (int id = 0; id < graph.view().size(); ++id) {
      const std::optional<Match> match = find(graph, pattern_, id);
      if (!match) continue;
      if (Error error = rewrite(&graph, *match, id); !error.ok()) return error;
    }
    return {};
  }

 private:
  // What reads the outer node reads the same values from an Identity. An error leaves the host with the
  // graph as it was.
  static Error rewrite(GraphEdit* graph, const Match&, int outer) {
    return graph->set_op(outer, "Identity");
  }

  const Pattern pattern_ = op("Abs")(op("Abs").as("inner").computed());
};

}  // namespace

TF_PLATFORM_STRINGS()
DRYSTONE_OPTIMIZER("CPU", {{Name}})
