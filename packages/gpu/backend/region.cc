#include "region.h"

#include <string_view>

#include "rules.h"

namespace drystone::gpu {
namespace {

sdk::NodeView view_of(const DS_SubgraphNode& node) {
  return sdk::NodeView(
      std::string_view(static_cast<const char*>(node.node_def), node.node_def_size));
}

bool knows_shapes(std::string_view op) {
  return op == "Shape" || op == "ShapeN" || op == "Size" || op == "Rank";
}

bool is_fixed(const Rule& rule, int input, int count) {
  return (rule.fixed >> input & 1u) != 0 || (input == count - 1 && (rule.fixed & kLast) != 0);
}

}  // namespace

bool takes(const DS_SubgraphNode& node, std::string* why) {
  for (int k = 0; k < node.num_outputs; ++k) {
    if (type_of(node.output_types[k]) == Type::none) {
      *why = std::string(node.op) + " gives a type that no kernel of the GPU has";
      return false;
    }
  }
  return rule_of(view_of(node), why) != nullptr;
}

std::vector<bool> computable(const DS_SubgraphRegion& region, bool* worth) {
  const auto count = static_cast<std::size_t>(region.num_nodes);
  std::vector<bool> can(count, false), known(count, false);
  *worth = false;
  for (std::size_t k = 0; k < count; ++k) {
    const DS_SubgraphNode& node = *region.nodes[k];
    std::string why;
    const Rule* rule = rule_of(view_of(node), &why);
    if (rule == nullptr) continue;
    bool all_known = true, fits = true;
    for (int j = 0; j < node.num_inputs; ++j) {
      const int32_t* from = node.inputs + 2 * static_cast<std::size_t>(j);
      const bool is_known = from[0] >= 0 ? known[static_cast<std::size_t>(from[0])]
                                         : region.inputs[from[1]]->value != nullptr &&
                                               region.inputs[from[1]]->is_weight == 0;
      all_known = all_known && is_known;
      fits = fits && (is_known || !is_fixed(*rule, j, node.num_inputs));
    }
    can[k] = fits;
    known[k] = fits && (all_known || knows_shapes(node.op));
    *worth = *worth || (fits && rule->heavy);
  }
  return can;
}

namespace {

int add_input(Built& built, const DS_SubgraphValue& input, int number) {
  const Type type = type_of(input.dtype);
  if (type == Type::none || input.rank < 0) throw Refused("an input of a type that no kernel has");
  Dims dims(input.dims, input.dims + input.rank);
  const bool is_small = count_of(dims) * static_cast<std::int64_t>(size_of(type)) <= 65536;
  int made = 0;
  if (input.value != nullptr && input.is_weight == 0 && is_small) {
    made = built.graph.add_constant(type, dims, TF_TensorData(input.value));
  } else {
    made = built.graph.add_value(type, dims);
    built.graph.values.back().invariant = input.value != nullptr;
  }
  built.graph.values.back().input = number;
  return made;
}

}  // namespace

Built build(const DS_SubgraphRegion& region) {
  Built built;
  for (int k = 0; k < region.num_inputs; ++k) {
    built.inputs.push_back(add_input(built, *region.inputs[k], k));
  }
  std::vector<std::vector<int>> made;
  const auto value = [&](int node, int slot) {
    return node < 0 ? built.inputs.at(static_cast<std::size_t>(slot))
                    : made.at(static_cast<std::size_t>(node)).at(static_cast<std::size_t>(slot));
  };
  for (int k = 0; k < region.num_nodes; ++k) {
    const DS_SubgraphNode& node = *region.nodes[k];
    const sdk::NodeView view = view_of(node);
    std::string why;
    const Rule* rule = rule_of(view, &why);
    if (rule == nullptr) throw Refused(std::string(node.name) + ": " + why);
    std::vector<int> in;
    for (int j = 0; j < node.num_inputs; ++j)
      in.push_back(value(node.inputs[2 * j], node.inputs[2 * j + 1]));
    Building building(built.graph, view, std::move(in), static_cast<std::size_t>(node.num_outputs));
    try {
      rule->lower(building);
    } catch (const Refused& refused) {
      throw Refused(std::string(node.name) + " (" + node.op + "): " + refused.what());
    }
    made.push_back(std::move(building.out));
  }
  for (int k = 0; k < region.num_outputs; ++k) {
    built.results.push_back(value(region.outputs[k]->node, region.outputs[k]->output));
  }
  return built;
}

}  // namespace drystone::gpu
