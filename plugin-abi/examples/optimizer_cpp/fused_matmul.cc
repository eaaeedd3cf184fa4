// An optimizer on the C++ SDK: a matrix product, its bias and its activation become one node.
//
//   Relu(BiasAdd(MatMul(a, b), bias))   becomes   _FusedMatMul(a, b, bias; BiasAdd, Relu)
//
// The fused node takes the place and name of the last one. The rules are those of the host's own
// remapper: float32, a bias along the last dimension, nothing in between that is read elsewhere,
// preserved, or waited for.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drystone/platform_strings.h"
#include "drystone/sdk/sdk.hpp"

namespace {

using namespace drystone::sdk;

// The bias of every kernel of _FusedMatMul runs along the last dimension.
bool channels_last(const GraphEdit& graph, int bias) {
  return graph.attr(bias, "data_format").string().value_or("NHWC") != "NCHW";
}

bool is_float(const GraphEdit& graph, int product) {
  return graph.attr(product, "T").type() == TF_FLOAT;
}

class FusedMatMul {
 public:
  Error optimize(GraphEdit& graph, const Item&) {
    for (const Pattern* pattern : {&activated_, &biased_}) {  // the larger one first
      for (int id = 0; id < graph.view().size(); ++id) {
        const std::optional<Match> match = find(graph, *pattern, id);
        if (!match || graph.device(match->node("product")) != graph.device(id)) continue;
        if (Error error = fuse(&graph, *match, id); !error.ok()) return error;
      }
    }
    return {};
  }

 private:
  // `root` is the last of the matched nodes.
  static Error fuse(GraphEdit* graph, const Match& match, int root) {
    const int product = match.node("product");
    const std::string_view activation = graph->op(root);
    std::vector<std::string_view> steps = {"BiasAdd"};
    if (activation != "BiasAdd") steps.push_back(activation);
    NewNode fused(graph->name(root), "_FusedMatMul");
    fused.on(graph->device(root)).reads(graph->regular_fan_ins(product)).reads(match.tensor("bias"));
    const std::vector<int> gone = match.inside();
    for (TensorId from : graph->control_fan_ins(root)) {  // one of those that go may be among them
      if (std::find(gone.begin(), gone.end(), from.node) == gone.end()) fused.reads(from);
    }
    for (std::string_view name : {"T", "transpose_a", "transpose_b"}) {
      fused.attr(name, graph->attr(product, name));
    }
    fused.attr("fused_ops", attr::strings(steps)).attr("num_args", attr::integer(1));
    fused.attr("epsilon", attr::real(1e-4F)).attr("leakyrelu_alpha", leak(*graph, root));
    if (Error error = graph->replace(root, fused); !error.ok()) return error;
    return graph->remove_all(gone);
  }

  static std::string leak(const GraphEdit& graph, int root) {
    return attr::real(graph.attr(root, "alpha").real().value_or(0.2F));
  }

  static Pattern product() {
    return op("MatMul").as("product").inside().free().when(is_float)(any(), any());
  }
  static Pattern sum() { return op("BiasAdd").when(channels_last)(product(), any().as("bias")); }

  const Pattern biased_ = sum();
  const Pattern activated_ = op("Relu", "Relu6", "Elu", "LeakyRelu")(sum().inside().free());
};

}  // namespace

TF_PLATFORM_STRINGS()
DRYSTONE_OPTIMIZER("CPU", FusedMatMul)
