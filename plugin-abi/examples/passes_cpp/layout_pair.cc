// What the oneDNN layout passes of TensorFlow did with layouts of their own, done with NCHW.
//
// LayoutRewrite gives convolutions and poolings of NHWC the layout NCHW, and what follows them
// element by element the same, and marks them all. LayoutConversion then puts a Transpose where a
// marked node meets one that is not, and nowhere else. Between the two the graph does not fit
// together, so a user must not switch on only one of them.
#include "layout_pair.h"

#include <array>
#include <map>
#include <vector>

namespace example {
namespace {

constexpr std::string_view kMark = "_nchw";
constexpr std::string_view kBorder = "_nchw_border";

bool is_marked(const GraphEdit& graph, int id) { return graph.attr(id, kMark).present(); }
bool is_border(const GraphEdit& graph, int id) { return graph.attr(id, kBorder).present(); }

bool is_float(const GraphEdit& graph, int id) { return graph.attr(id, "T").type() == TF_FLOAT; }

// Attributes with one number a dimension, in the order of the layout.
std::vector<std::string_view> lists_of(std::string_view op) {
  if (op == "Conv2D") return {"strides", "dilations"};
  if (op == "MaxPool" || op == "AvgPool") return {"strides", "ksize"};
  return {};
}

bool may_begin(const GraphEdit& graph, int id) {
  return !lists_of(graph.op(id)).empty() && is_float(graph, id) &&
         graph.attr(id, "data_format").string().value_or("NHWC") == "NHWC" &&
         graph.attr(id, "padding").string().value_or("") != "EXPLICIT";
}

// Whether a node gives the same numbers in any layout of its first input.
bool follows(const GraphEdit& graph, int id) {
  const std::string_view op = graph.op(id);
  if (op != "Relu" && op != "Relu6" && op != "BiasAdd") return false;
  if (!is_float(graph, id)) return false;
  const TensorId input = graph.regular_fan_ins(id)[0];
  return input.port == 0 && is_marked(graph, input.node);
}

Error mark(GraphEdit& graph, int id) {
  for (const std::string_view name : lists_of(graph.op(id))) {
    const std::vector<std::int64_t> nhwc = graph.attr(id, name).integers();
    if (nhwc.size() != 4) continue;  // the default: all ones
    const std::string value = attr::integers({nhwc[0], nhwc[3], nhwc[1], nhwc[2]});
    if (Error error = graph.set_attr(id, name, value); !error.ok()) return error;
  }
  if (!lists_of(graph.op(id)).empty() || graph.op(id) == "BiasAdd") {
    if (Error error = graph.set_attr(id, "data_format", attr::string("NCHW")); !error.ok()) {
      return error;
    }
  }
  return graph.set_attr(id, kMark, attr::boolean(true));
}

// Transposes that were made, by what they transpose.
using Made = std::map<std::pair<int, int>, int>;

Result<int> transposed(GraphEdit& graph, TensorId source, bool to_nchw, Made* made) {
  const auto known = made->find({source.node, source.port});
  if (known != made->end()) return known->second;
  const std::string stem = std::string(graph.name(source.node)) + (to_nchw ? "/nchw" : "/nhwc");
  const std::string_view device = graph.device(source.node);
  // A TensorProto: DT_INT32, shape [4], and the four numbers.
  std::string order("\x08\x03\x12\x04\x12\x02\x08\x04\x3a\x04", 10);
  order += to_nchw ? std::string("\x00\x03\x01\x02", 4) : std::string("\x00\x02\x03\x01", 4);
  NewNode perm(graph.unused_name(stem + "/perm"), "Const");
  perm.on(device).attr("dtype", attr::type(TF_INT32)).attr("value", attr::tensor(order));
  perm.after(source.node);  // in the same branch or loop
  const Result<int> constant = graph.add(perm);
  if (!constant.ok()) return constant.error();
  NewNode node(graph.unused_name(stem), "Transpose");
  node.on(device).reads(source).reads(TensorId{*constant, 0});
  node.attr("T", attr::type(TF_FLOAT)).attr("Tperm", attr::type(TF_INT32));
  node.attr(kBorder, attr::boolean(true));
  const Result<int> added = graph.add(node);
  if (added.ok()) made->emplace(std::make_pair(source.node, source.port), *added);
  return added;
}

Error convert(GraphEdit& graph, int id, int input, TensorId source, Made* made) {
  const Result<int> node = transposed(graph, source, is_marked(graph, id), made);
  if (!node.ok()) return node.error();
  return graph.set_input(id, input, TensorId{*node, 0});
}

}  // namespace

Error layout_rewrite(GraphEdit& graph) {
  const Result<std::vector<int>> order = graph.topological_order();
  if (!order.ok()) return order.error();
  for (const int id : *order) {
    if (graph.is_protected(id) || is_marked(graph, id)) continue;
    if (!may_begin(graph, id) && !follows(graph, id)) continue;
    if (Error error = mark(graph, id); !error.ok()) return error;
  }
  return {};
}

Error layout_conversion(GraphEdit& graph) {
  Made made;
  for (int id = 0; id < graph.view().size(); ++id) {
    if (is_border(graph, id)) continue;
    const std::vector<TensorId> sources(graph.regular_fan_ins(id).begin(),
                                        graph.regular_fan_ins(id).end());
    for (std::size_t k = 0; k < sources.size(); ++k) {
      const TensorId source = sources[k];
      if (is_border(graph, source.node)) continue;
      const bool from = is_marked(graph, source.node) && source.port == 0;
      const bool to = is_marked(graph, id) && k == 0;
      if (from == to) continue;
      if (Error error = convert(graph, id, static_cast<int>(k), source, &made); !error.ok()) {
        return error;
      }
    }
  }
  return {};
}

}  // namespace example
