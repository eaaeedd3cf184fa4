// The SDK behind a few C functions, so that tests can hold it against protobuf.
//
// Every function returns text or bytes that probe_free frees, with their length in `*length`.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "drystone/sdk/graph_edit.hpp"
#include "drystone/sdk/pattern.hpp"

namespace {

using namespace drystone::sdk;

char* give(std::string_view text, std::size_t* length) {
  char* out = static_cast<char*>(std::malloc(text.size() + 1));
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = '\0';
  *length = text.size();
  return out;
}

std::string failed(const Error& error) {
  return "error " + std::to_string(error.code()) + " " + error.message();
}

std::string hex(std::string_view bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string out = "x";
  for (unsigned char c : bytes) {
    out += digits[c >> 4];
    out += digits[c & 15];
  }
  return out;
}

std::string number(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

template <class Values, class Text>
std::string joined(const Values& values, Text text) {
  std::string out = "[";
  for (const auto& one : values) out += text(one) + ",";
  return out + "]";
}

std::string dims(const Shape& shape) {
  if (!shape.known_rank()) return "?";
  return joined(shape.dims(), [](std::int64_t size) { return std::to_string(size); });
}

std::string constant(const TensorProtoView& tensor) {
  std::string out = std::to_string(tensor.dtype()) + dims(tensor.shape());
  const auto text = [](double value) { return number(value); };
  if (auto all = tensor.values<float>(1000); all.ok()) out += joined(*all, text);
  if (auto all = tensor.values<double>(1000); all.ok()) out += joined(*all, text);
  const auto whole = [](auto value) { return std::to_string(value); };
  if (auto all = tensor.values<std::int32_t>(1000); all.ok()) out += joined(*all, whole);
  if (auto all = tensor.values<std::int64_t>(1000); all.ok()) out += joined(*all, whole);
  if (auto all = tensor.values<std::uint8_t>(1000); all.ok()) out += joined(*all, whole);
  if (auto all = tensor.values<bool>(1000); all.ok()) out += joined(*all, whole);
  return out;
}

std::string list(const AttrView& attr) {
  const auto whole = [](auto value) { return std::to_string(static_cast<std::int64_t>(value)); };
  return "list s" + joined(attr.strings(), hex) + "i" + joined(attr.integers(), whole) + "f" +
         joined(attr.reals(), number) + "b" + joined(attr.booleans(), whole) + "type" +
         joined(attr.types(), whole) + "shape" + joined(attr.shapes(), dims) + "tensor" +
         joined(attr.tensors(), constant) + "func" + joined(attr.functions(), hex);
}

std::string described(const AttrView& attr) {
  switch (attr.kind()) {
    case AttrKind::list: return list(attr);
    case AttrKind::string: return "s " + hex(*attr.string());
    case AttrKind::integer: return "i " + std::to_string(*attr.integer());
    case AttrKind::real: return "f " + number(*attr.real());
    case AttrKind::boolean: return "b " + std::to_string(*attr.boolean() ? 1 : 0);
    case AttrKind::type: return "type " + std::to_string(*attr.type());
    case AttrKind::shape: return "shape " + dims(*attr.shape());
    case AttrKind::tensor: return "tensor " + constant(*attr.tensor());
    case AttrKind::placeholder: return "placeholder " + hex(*attr.placeholder());
    case AttrKind::function: return "func " + hex(*attr.function());
    default: return "none";
  }
}

std::string listed_function(const FunctionView& function) {
  std::string out = "function " + hex(function.name()) + " ";
  const auto text = [](const ArgView& one) { return hex(one.name) + std::to_string(one.type); };
  const OpDefView signature = function.signature();
  out += joined(signature.inputs(), text) + joined(signature.outputs(), text);
  for (const NodeView& node : function.nodes()) out += " " + hex(node.name()) + hex(node.op());
  for (const auto& [name, from] : function.results()) out += " " + hex(name) + "=" + hex(from);
  return out + "\n";
}

std::string listed(const GraphView& graph) {
  std::string out;
  for (int id = 0; id < graph.size(); ++id) {
    out += "node " + hex(graph.name(id)) + " " + hex(graph.op(id)) + " " + hex(graph.device(id));
    for (TensorId from : graph.fan_ins(id)) {
      out += " " + std::to_string(from.node) + ":" + std::to_string(from.port);
    }
    out += " regular " + std::to_string(graph.regular_fan_ins(id).size()) + " to";
    for (Edge to : graph.fan_outs(id)) {
      out += " " + std::to_string(to.consumer) + ":" + std::to_string(to.input);
    }
    out += "\n";
    for (const auto& [name, attr] : graph.node(id).attrs()) {
      out += "attr " + hex(name) + " " + described(attr) + "\n";
    }
  }
  for (const FunctionView& function : graph.functions()) out += listed_function(function);
  return out;
}

// "a b c" taken apart; each word is "x" and hex digits, or a number, or a name of a command.
std::vector<std::string> words(std::string_view line) {
  std::vector<std::string> out;
  while (!line.empty()) {
    const std::size_t end = line.find(' ');
    out.emplace_back(line.substr(0, end));
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  }
  return out;
}

std::string bytes_of(const std::string& word) {
  std::string out;
  for (std::size_t i = 1; i + 1 < word.size(); i += 2) {
    out += static_cast<char>(std::stoi(word.substr(i, 2), nullptr, 16));
  }
  return out;
}

TensorId tensor_of(const std::string& word) {
  const std::size_t colon = word.find(':');
  return {std::stoi(word.substr(0, colon)), std::stoi(word.substr(colon + 1))};
}

NewNode node_of(const std::vector<std::string>& w) {
  NewNode node(bytes_of(w[2]), bytes_of(w[3]));
  node.on(bytes_of(w[4])).attr(bytes_of(w[5]), bytes_of(w[6]));
  for (std::size_t i = 7; i < w.size(); ++i) node.reads(tensor_of(w[i]));
  return node;
}

Error change(GraphEdit* graph, const std::vector<std::string>& w) {
  const std::string& what = w[0];
  const int id = std::stoi(w[1]);
  if (what == "add") {
    const Result<int> added = graph->add(node_of(w));
    return added.ok() ? Error() : added.error();
  }
  if (what == "replace") return graph->replace(id, node_of(w));
  if (what == "protect") return graph->protect(graph->name(id)), Error();
  if (what == "remove") return graph->remove(id);
  if (what == "bypass") return graph->bypass(id);
  if (what == "rename") return graph->rename(id, bytes_of(w[2]));
  if (what == "op") return graph->set_op(id, bytes_of(w[2]));
  if (what == "device") return graph->set_device(id, bytes_of(w[2]));
  if (what == "attr") return graph->set_attr(id, bytes_of(w[2]), bytes_of(w[3]));
  if (what == "drop") return graph->remove_attr(id, bytes_of(w[2]));
  if (what == "input") return graph->set_input(id, std::stoi(w[2]), tensor_of(w[3]));
  if (what == "control") return graph->add_control(id, std::stoi(w[2]));
  if (what == "uncontrol") return graph->remove_control(id, std::stoi(w[2]));
  if (what == "redirect") return graph->redirect(tensor_of(w[2]), tensor_of(w[3]));
  return invalid_argument("no such command: " + what);
}

// Whether reading through the edit gives what a fresh view of its bytes gives.
std::string difference(const GraphEdit& graph, const GraphView& fresh) {
  int live = 0;
  for (int id = 0; id < graph.size(); ++id) {
    if (!graph.alive(id)) continue;
    ++live;
    const int other = fresh.find(graph.name(id));
    const std::string name(graph.name(id));
    if (other < 0 || graph.find(name) != id) return name + " is not found";
    if (graph.op(id) != fresh.op(other) || graph.device(id) != fresh.device(other)) return name;
    if (graph.fan_ins(id).size() != fresh.fan_ins(other).size()) return name + " fan-ins";
    if (graph.fan_out_count(id) != fresh.fan_outs(other).size()) return name + " fan-out count";
    std::size_t found = 0;
    for (Edge edge : graph.fan_outs(id)) {
      for (Edge there : fresh.fan_outs(other)) {
        found += fresh.name(there.consumer) == graph.name(edge.consumer) &&
                 there.input == edge.input && graph.source(edge).node == id;
      }
    }
    if (found != fresh.fan_outs(other).size()) return name + " fan-outs";
    for (const auto& [attr, value] : fresh.node(other).attrs()) {
      if (graph.attr(id, attr).bytes() != value.bytes()) return name + " attrs";
    }
  }
  return live == fresh.size() ? "" : "number of nodes";
}

Pattern chosen(std::string_view name) {
  const Pattern product = op("MatMul").as("product").inside();
  if (name == "chain") {
    return op("Relu", "Elu").as("root")(op("BiasAdd").as("bias").inside()(product, any().as("b")));
  }
  if (name == "either") return op("Add").as("root").either()(op("Neg").as("n"), any().as("x"));
  if (name == "either twice") {
    return op("Add").as("root").either()(
        op("Mul").as("m").either()(any().as("x"), op("Neg").as("n")), any().as("x"));
  }
  if (name == "shared") return op("Mul").as("root")(any().as("x"), any().as("x"));
  if (name == "single") return op("Neg").as("root")(op("Neg").as("n").single());
  if (name == "computed") return op("Abs").as("root")(op("Abs").as("n").computed());
  if (name == "free") return op("Neg").as("root")(op("Neg").as("n").free());
  if (name == "port") return op("Neg").as("root")(op("Split").as("s").port(1));
  if (name == "starts") return op("Concat").as("root").starts(op("Neg").as("n"));
  if (name == "when") {
    return op("MatMul").as("root").when([](const GraphEdit& graph, int id) {
      return graph.attr(id, "transpose_a").boolean().value_or(false);
    });
  }
  return any();
}

double seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

}  // namespace

#define PROBE extern "C" __attribute__((visibility("default")))

PROBE void probe_free(char* text) { std::free(text); }

// A listing of the whole view.
PROBE char* probe_list(const char* data, std::size_t size, std::size_t* length) {
  const Result<GraphView> graph = GraphView::parse({data, size});
  return give(graph.ok() ? listed(*graph) : failed(graph.error()), length);
}

// What the SDK makes of two shapes: "first?|second?|broadcast|equal|compatible|count".
PROBE char* probe_shapes(const char* data, std::size_t size, const char* second,
                         std::size_t* length) {
  const Shape a = Shape::parse({data, size});
  const Shape b = Shape::parse(bytes_of(second));
  const auto [both, known] = broadcast(a, b);
  std::string out = dims(a) + "|" + dims(b) + "|" + (known ? dims(both) : "?") + "|";
  out += surely_equal(a, b) ? "equal|" : "|";
  out += compatible(a, b) ? "compatible|" : "|";
  return give(out + std::to_string(a.element_count()), length);
}

// The names in topological order, or an error.
PROBE char* probe_order(const char* data, std::size_t size, std::size_t* length) {
  const Result<GraphView> graph = GraphView::parse({data, size});
  if (!graph.ok()) return give(failed(graph.error()), length);
  const Result<std::vector<int>> order = graph->topological_order();
  if (!order.ok()) return give(failed(order.error()), length);
  return give(joined(*order, [](int id) { return std::to_string(id); }), length);
}

// Apply a script, a command per line; what fails is listed after a NUL behind the new bytes.
PROBE char* probe_edit(const char* data, std::size_t size, const char* script,
                       std::size_t* length) {
  const Result<GraphView> view = GraphView::parse({data, size});
  if (!view.ok()) return give(failed(view.error()), length);
  GraphEdit graph(*view);
  std::string errors;
  std::string_view rest(script);
  for (int number = 0; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    const Error error = change(&graph, words(rest.substr(0, end)));
    if (!error.ok()) errors += std::to_string(number) + " " + failed(error) + "\n";
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  const std::string bytes = graph.serialize();
  const Result<GraphView> fresh = GraphView::parse(bytes);
  const std::string wrong =
      fresh.ok() ? difference(graph, *fresh) : "result: " + failed(fresh.error());
  return give(std::to_string(bytes.size()) + "\n" + bytes + wrong + "\n" + errors, length);
}

// For each node that the pattern ends in: "root label=id ...".
PROBE char* probe_match(const char* data, std::size_t size, const char* pattern,
                        const char* preserved, std::size_t* length) {
  const Result<GraphView> view = GraphView::parse({data, size});
  if (!view.ok()) return give(failed(view.error()), length);
  GraphEdit graph(*view);
  graph.protect(preserved);
  const Pattern wanted = chosen(pattern);
  std::string out;
  for (int id = 0; id < graph.size(); ++id) {
    const auto match = find(graph, wanted, id);
    if (!match) continue;
    out += std::string(graph.name(id)) + ":";
    for (const char* label : {"product", "bias", "b", "n", "x", "s", "m"}) {
      if (match->node(label) < 0) continue;
      const TensorId at = match->tensor(label);
      out += std::string(" ") + label + "=" + input_text(graph.name(at.node), at.port);
    }
    out += "\n";
  }
  return give(out, length);
}

// Milliseconds to parse, to order, to bypass every Identity, and to write the result.
PROBE char* probe_times(const char* data, std::size_t size, std::size_t* length) {
  auto start = std::chrono::steady_clock::now();
  const Result<GraphView> view = GraphView::parse({data, size});
  const double parse = seconds(start);
  if (!view.ok()) return give(failed(view.error()), length);
  start = std::chrono::steady_clock::now();
  const Result<std::vector<int>> order = view->topological_order();
  const double sort = seconds(start);
  start = std::chrono::steady_clock::now();
  GraphEdit graph(*view);
  int bypassed = 0;
  for (int id = 0; id < view->size(); ++id) {
    if (view->op(id) == "Identity" && graph.bypass(id).ok()) ++bypassed;
  }
  const double edit = seconds(start);
  start = std::chrono::steady_clock::now();
  const std::string bytes = graph.serialize();
  const double write = seconds(start);
  char text[200];
  std::snprintf(text, sizeof text, "%d %.3f %.3f %.3f %.3f %d %zu", order.ok() ? 1 : 0,
                parse * 1e3, sort * 1e3, edit * 1e3, write * 1e3, bypassed, bytes.size());
  return give(text, length);
}
