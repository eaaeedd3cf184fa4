// A GraphDef, read where it lies: nodes, edges both ways, functions, topological order.
//
// Since ABI 1.0. Header-only C++17; needs no function of the host.
//
//   Result<GraphView> graph = GraphView::parse(bytes);
//   if (!graph.ok()) return graph.error();
//   for (int id = 0; id < graph->size(); ++id) {
//     if (graph->op(id) == "MatMul") use(graph->regular_fan_ins(id));
//   }
//
// A node is known by its position in the GraphDef: 0 .. size() - 1. The view copies no name and no
// attribute, so it lives no longer than the bytes. It is never changed after parse(): any number of
// threads may read it. Time and memory are linear in the bytes. Bytes that are no GraphDef, two nodes
// of one name and inputs that lead nowhere are INVALID_ARGUMENT errors naming the node.
#ifndef DRYSTONE_SDK_GRAPH_VIEW_HPP_
#define DRYSTONE_SDK_GRAPH_VIEW_HPP_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drystone/sdk/error.hpp"
#include "drystone/sdk/name_index.hpp"
#include "drystone/sdk/node.hpp"
#include "drystone/sdk/op_def.hpp"
#include "drystone/sdk/wire.hpp"

namespace drystone::sdk {

class GraphView {
 public:
  GraphView() = default;
  GraphView(GraphView&&) = default;
  GraphView& operator=(GraphView&&) = default;
  GraphView(const GraphView&) = default;
  GraphView& operator=(const GraphView&) = default;

  static Result<GraphView> parse(std::string_view graph_def);

  int size() const { return static_cast<int>(nodes_.size()); }
  std::string_view bytes() const { return bytes_; }
  NodeView node(int id) const { return nodes_[index(id)].view; }
  std::string_view name(int id) const { return nodes_[index(id)].view.name(); }
  std::string_view op(int id) const { return nodes_[index(id)].view.op(); }
  std::string_view device(int id) const { return nodes_[index(id)].view.device(); }
  AttrView attr(int id, std::string_view name) const { return nodes_[index(id)].view.attr(name); }
  // Always true here; a GraphEdit has removed nodes, too.
  bool alive(int id) const { return id >= 0 && id < size(); }
  // Never: a view knows no nodes to preserve.
  bool is_protected(int) const { return false; }

  // The id of a node; -1 when there is none of that name.
  int find(std::string_view name) const { return by_name_.find(name); }

  // What a node reads: data first, then control. The position is the number of the fan-in.
  Span<const TensorId> fan_ins(int id) const {
    return {sources_.data() + nodes_[index(id)].first, nodes_[index(id)].inputs};
  }
  Span<const TensorId> regular_fan_ins(int id) const {
    return {sources_.data() + nodes_[index(id)].first, nodes_[index(id)].regular};
  }
  Span<const TensorId> control_fan_ins(int id) const {
    return fan_ins(id).part(nodes_[index(id)].regular, nodes_[index(id)].inputs);
  }
  // Who reads a node, by any port or by a control edge, in the order of the consumers.
  Span<const Edge> fan_outs(int id) const {
    const std::size_t from = fan_out_starts_[index(id)];
    return {edges_.data() + from, fan_out_starts_[index(id) + 1] - from};
  }
  // Which tensor (or kControl) an edge carries.
  TensorId source(Edge edge) const {
    return fan_ins(edge.consumer)[static_cast<std::size_t>(edge.input)];
  }

  // Ids such that every node comes after what it reads. The edge by which a while loop closes
  // (NextIteration to Merge) does not count; any other cycle is an INVALID_ARGUMENT error.
  Result<std::vector<int>> topological_order() const;

  // The functions of the graph's library.
  const std::vector<FunctionView>& functions() const { return functions_; }
  // The function of that name; not ok() when there is none.
  FunctionView function(std::string_view name) const {
    for (const FunctionView& one : functions_) {
      if (one.name() == name) return one;
    }
    return {};
  }

 private:
  friend class GraphEdit;
  struct Record {
    NodeView view;
    std::uint32_t first = 0;
    std::uint32_t inputs = 0;
    std::uint32_t regular = 0;
  };

  static std::size_t index(int id) { return static_cast<std::size_t>(id); }
  Error read_fields(std::vector<std::string_view>* inputs);
  Error read_functions(std::string_view library);
  Error index_names();
  Error resolve_inputs(const std::vector<std::string_view>& inputs);
  Error resolve_input(Record* record, std::string_view text);
  void index_fan_outs();

  std::string_view bytes_;
  std::vector<Record> nodes_;
  std::vector<TensorId> sources_;
  std::vector<std::uint32_t> fan_out_starts_;
  std::vector<Edge> edges_;
  std::vector<FunctionView> functions_;
  NameIndex by_name_;
};

inline Result<GraphView> GraphView::parse(std::string_view graph_def) {
  GraphView out;
  out.bytes_ = graph_def;
  std::vector<std::string_view> inputs;
  if (Error error = out.read_fields(&inputs); !error.ok()) return error;
  if (Error error = out.index_names(); !error.ok()) return error;
  if (Error error = out.resolve_inputs(inputs); !error.ok()) return error;
  out.index_fan_outs();
  return out;
}

inline Error GraphView::read_fields(std::vector<std::string_view>* inputs) {
  wire::Reader fields(bytes_);
  while (fields.next()) {
    if (fields.type() != wire::Type::bytes) continue;
    if (fields.field() == 1) {
      Record record;
      record.first = static_cast<std::uint32_t>(inputs->size());
      record.view = NodeView(fields.bytes(), [inputs](std::string_view input) {
        inputs->push_back(input);
      });
      record.inputs = static_cast<std::uint32_t>(inputs->size()) - record.first;
      if (!record.view.ok()) {
        return invalid_argument("node " + std::to_string(nodes_.size()) + " of the graph, " +
                                quoted(record.view.name()) + ", is no NodeDef");
      }
      nodes_.push_back(record);
    } else if (fields.field() == 2) {
      if (Error error = read_functions(fields.bytes()); !error.ok()) return error;
    }
  }
  if (!fields.ok()) return invalid_argument("the bytes of the graph are no GraphDef");
  return {};
}

inline Error GraphView::read_functions(std::string_view library) {
  wire::Reader fields(library);
  while (fields.next()) {
    if (is_bytes(fields, 1)) functions_.emplace_back(fields.bytes());
  }
  if (!fields.ok()) return invalid_argument("the function library of the graph is malformed");
  return {};
}

inline Error GraphView::index_names() {
  by_name_.reset(nodes_.size());
  for (std::size_t id = 0; id < nodes_.size(); ++id) {
    const std::string_view name = nodes_[id].view.name();
    if (!is_node_name(name)) {
      return invalid_argument("node " + std::to_string(id) + " is called " + quoted(name) +
                              ", which is no name for a node");
    }
    if (by_name_.add(name, static_cast<std::int32_t>(id)) >= 0) {
      return invalid_argument("the graph has two nodes named " + quoted(name));
    }
  }
  return {};
}

inline Error GraphView::resolve_inputs(const std::vector<std::string_view>& inputs) {
  sources_.reserve(inputs.size());
  for (Record& record : nodes_) {
    for (std::uint32_t i = 0; i < record.inputs; ++i) {
      Error error = resolve_input(&record, inputs[record.first + i]);
      if (!error.ok()) return error;
    }
  }
  return {};
}

inline Error GraphView::resolve_input(Record* record, std::string_view text) {
  const InputName input = parse_input(text);
  const int from = input.ok ? find(input.node) : -1;
  if (from < 0) {
    return invalid_argument("input " + quoted(text) + " of node " + quoted(record->view.name()) +
                            " names no node");
  }
  const std::size_t before = sources_.size() - record->first;
  if (input.port != kControl && record->regular != before) {
    return invalid_argument("node " + quoted(record->view.name()) +
                            " has a data input after a control input");
  }
  sources_.push_back({from, input.port});
  if (input.port != kControl) ++record->regular;
  return {};
}

inline void GraphView::index_fan_outs() {
  fan_out_starts_.assign(nodes_.size() + 1, 0);
  for (TensorId source : sources_) ++fan_out_starts_[index(source.node) + 1];
  for (std::size_t id = 0; id < nodes_.size(); ++id) fan_out_starts_[id + 1] += fan_out_starts_[id];
  edges_.resize(sources_.size());
  std::vector<std::uint32_t> next(fan_out_starts_.begin(), fan_out_starts_.end() - 1);
  for (int id = 0; id < size(); ++id) {
    const Span<const TensorId> inputs = fan_ins(id);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      edges_[next[index(inputs[i].node)]++] = {id, static_cast<std::int32_t>(i)};
    }
  }
}

inline bool closes_loop(std::string_view from, std::string_view to) {
  return (from == "NextIteration" || from == "RefNextIteration") &&
         (to == "Merge" || to == "RefMerge");
}

// For a GraphView or a GraphEdit: live ids in topological order.
template <class Graph>
Result<std::vector<int>> topological_order_of(const Graph& graph) {
  std::vector<std::uint32_t> waiting(static_cast<std::size_t>(graph.size()), 0);
  std::vector<int> order;
  std::size_t live = 0;
  for (int id = 0; id < graph.size(); ++id) {
    if (!graph.alive(id)) continue;
    ++live;
    for (TensorId from : graph.fan_ins(id)) {
      if (!closes_loop(graph.op(from.node), graph.op(id))) ++waiting[static_cast<std::size_t>(id)];
    }
    if (waiting[static_cast<std::size_t>(id)] == 0) order.push_back(id);
  }
  for (std::size_t next = 0; next < order.size(); ++next) {
    const int from = order[next];
    for (Edge edge : graph.fan_outs(from)) {
      if (closes_loop(graph.op(from), graph.op(edge.consumer))) continue;
      if (--waiting[static_cast<std::size_t>(edge.consumer)] == 0) order.push_back(edge.consumer);
    }
  }
  if (order.size() == live) return order;
  for (int id = 0; id < graph.size(); ++id) {
    if (graph.alive(id) && waiting[static_cast<std::size_t>(id)] != 0) {
      return invalid_argument("the graph has a cycle through, or before, node " +
                              quoted(graph.name(id)));
    }
  }
  return invalid_argument("the graph has a cycle");
}

inline Result<std::vector<int>> GraphView::topological_order() const {
  return topological_order_of(*this);
}

}  // namespace drystone::sdk

#endif  // DRYSTONE_SDK_GRAPH_VIEW_HPP_
