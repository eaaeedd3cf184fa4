// From a call of a pass to a graph that can be edited, and back.
#ifndef PASSES_CPP_CALLS_H_
#define PASSES_CPP_CALLS_H_

#include <string>
#include <string_view>

#include "drystone/passes.h"
#include "drystone/sdk/sdk.hpp"

namespace example {

using namespace drystone::sdk;

// The nodes whose values are fetched or fed are protected in `graph`.
using Edit = Error (*)(GraphEdit& graph);

inline void protect(GraphEdit* graph, const char* const* names) {
  for (; names != nullptr && *names != nullptr; ++names) {
    const std::string_view text(*names);
    graph->protect(text.substr(0, text.rfind(':')));
  }
}

inline Error edit_one(const DS_PassCall& call, int k, Edit edit) {
  const Result<GraphView> parsed = GraphView::parse(view(call.graphs[k]));
  if (!parsed.ok()) return parsed.error();
  GraphEdit graph(*parsed);
  protect(&graph, call.fetches);
  protect(&graph, call.feeds);
  if (Error error = edit(graph); !error.ok()) return error;
  return graph.changed() ? fill(call.results[k], graph) : Error();
}

// The run of a pass whose context is an Edit.
inline void run(void* context, const DS_PassCall* call, TF_Status* status) {
  const Error error = guarded("the pass", [&] {
    for (int k = 0; k < call->num_graphs; ++k) {
      const auto edit = reinterpret_cast<Edit>(context);
      if (Error failed = edit_one(*call, k, edit); !failed.ok()) return failed;
    }
    return Error();
  });
  store(error, status);
}

}  // namespace example

#endif  // PASSES_CPP_CALLS_H_
