// Bytes that call themselves a GraphDef, through everything of the SDK that reads and edits graphs.
//
// The first byte of an input chooses edits; the rest is the graph. What holds for every input: nothing
// is read outside of it, a view that parses can be walked and written back, and edits leave a graph
// that parses again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "drystone/sdk/graph_edit.hpp"
#include "drystone/sdk/pattern.hpp"

namespace {

using namespace drystone::sdk;

std::size_t sink = 0;  // keeps what is read from being optimized away

void require(bool holds) {
  if (!holds) std::abort();  // a finding
}

void read_tensor(const TensorProtoView& tensor) {
  constexpr std::int64_t kMost = 1000;
  sink += tensor.shape().dims().size() + tensor.content().size();
  if (auto all = tensor.values<float>(kMost); all.ok()) sink += all->size();
  if (auto all = tensor.values<double>(kMost); all.ok()) sink += all->size();
  if (auto all = tensor.values<std::int64_t>(kMost); all.ok()) sink += all->size();
  if (auto all = tensor.values<bool>(kMost); all.ok()) sink += all->size();
  sink += tensor.integer().has_value() + tensor.real().has_value();
}

void read_attr(const AttrView& attr) {
  sink += attr.strings().size() + attr.integers().size() + attr.reals().size();
  sink += attr.booleans().size() + attr.types().size() + attr.shapes().size();
  sink += attr.functions().size() + attr.string().has_value() + attr.function().has_value();
  sink += attr.boolean().has_value() + attr.real().has_value() + attr.type().has_value();
  if (auto shape = attr.shape()) {
    sink += static_cast<std::size_t>(shape->element_count());
    sink += surely_equal(*shape, Shape::parse(shape->proto())) ? 1 : 0;
    sink += broadcast(*shape, Shape{1, -1}).second ? 1 : 0;
  }
  if (auto tensor = attr.tensor()) read_tensor(*tensor);
  for (const TensorProtoView& tensor : attr.tensors()) read_tensor(tensor);
}

void read_function(const FunctionView& function) {
  const OpDefView signature = function.signature();
  sink += signature.inputs().size() + signature.outputs().size() + function.results().size();
  for (const AttrDefView& attr : signature.attrs()) read_attr(attr.standard);
  for (const NodeView& node : function.nodes()) sink += node.inputs().size();
}

void read_graph(const GraphView& graph) {
  std::size_t edges = 0;
  for (int id = 0; id < graph.size(); ++id) {
    require(graph.find(graph.name(id)) == id);
    for (const auto& [name, attr] : graph.node(id).attrs()) {
      sink += name.size();
      read_attr(attr);
    }
    for (Edge edge : graph.fan_outs(id)) require(graph.source(edge).node == id);
    edges += graph.fan_outs(id).size();
  }
  for (int id = 0; id < graph.size(); ++id) edges -= graph.fan_ins(id).size();
  require(edges == 0);
  for (const FunctionView& function : graph.functions()) read_function(function);
  if (auto order = graph.topological_order(); order.ok()) {
    require(order->size() == static_cast<std::size_t>(graph.size()));
  }
}

void match_patterns(const GraphEdit& graph) {
  const Pattern some = any().either()(any().as("x").either()(any(), any().as("y")), any().as("x"));
  const Pattern inner = any()(any().as("x").inside());
  for (int id = 0; id < graph.size(); ++id) {
    if (auto match = find(graph, some, id)) sink += static_cast<std::size_t>(match->node("x"));
    if (auto match = find(graph, inner, id)) sink += match->inside().size();
  }
}

// One edit per node; which one changes with `choice`. Refusals are as good as changes.
void edit_node(GraphEdit* graph, int id, unsigned choice) {
  const int other = (id * 7 + static_cast<int>(choice)) % graph->view().size();
  switch ((choice + static_cast<unsigned>(id)) % 11) {
    case 0: sink += graph->bypass(id).ok(); break;
    case 1: sink += graph->remove(id).ok(); break;
    case 2: sink += graph->rename(id, graph->unused_name("renamed")).ok(); break;
    case 3: sink += graph->set_attr(id, "a", attr::integer(1)).ok(); break;
    case 4: sink += graph->remove_attr(id, "a").ok(); break;
    case 5: sink += graph->redirect({id, 0}, {other, 0}).ok(); break;
    case 6: sink += graph->add_control(id, other).ok(); break;
    case 7: sink += graph->set_input(id, 0, {other, 1}).ok(); break;
    case 8: sink += graph->add(NewNode(graph->unused_name("n"), "Neg").reads({id, 0})).ok(); break;
    case 9: sink += graph->replace(id, NewNode("", "Const").attr("a", "x")).ok(); break;
    default: graph->protect(graph->name(id)); break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Result<GraphView> view = GraphView::parse(bytes);
  if (!view.ok()) {
    require(!view.error().message().empty());
    return 0;
  }
  read_graph(*view);
  GraphEdit graph(*view);
  require(graph.serialize() == bytes);
  match_patterns(graph);
  for (int id = 0; id < view->size(); ++id) {
    if (graph.alive(id)) edit_node(&graph, id, data[0]);
  }
  const std::string written = graph.serialize();
  const Result<GraphView> again = GraphView::parse(written);
  require(again.ok());
  read_graph(*again);
  return 0;
}
