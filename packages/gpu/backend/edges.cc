#include "edges.h"

#include <algorithm>

#include "uses.h"

// Loops of which compilers make vectors of several widths.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define DS_WIDE __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define DS_WIDE
#endif

namespace drystone::gpu {
namespace {

// Whether an operation only casts a value of one type to another.
bool is_cast(const Graph& graph, const Operation& op, Type from, Type to) {
  const auto* detail = std::get_if<Elementwise>(&op.detail);
  if (detail == nullptr || detail->code.size() != 1 || op.in.size() != 1) return false;
  const Code code = detail->code[0].code;
  if (code != Code::same && code != Code::round_bf16) return false;
  const Value &in = graph.at(op.in[0]), &out = graph.at(op.out);
  return in.type == from && out.type == to && in.dims == out.dims && !in.invariant;
}

void drop(Graph& graph, const Operation* op) {
  graph.operations.erase(graph.operations.begin() + (op - graph.operations.data()));
}

}  // namespace

void narrow_edges(Built& built) {
  Graph& graph = built.graph;
  for (int& input : built.inputs) {
    const Uses uses(graph, built.results);
    const auto cast = std::find_if(
        graph.operations.begin(), graph.operations.end(), [&](const Operation& op) {
          return op.in.size() == 1 && op.in[0] == input && is_cast(graph, op, Type::f32, Type::bf16);
        });
    if (cast == graph.operations.end() || uses.count(input) != 1) continue;
    const bool leaves = std::any_of(built.results.begin(), built.results.end(), [&](int result) {
      return graph.root(result) == cast->out;
    });
    if (leaves) continue;
    Value& inside = graph.values[static_cast<std::size_t>(cast->out)];
    inside.input = graph.at(input).input;
    inside.outside = Type::f32;
    input = cast->out;
    drop(graph, &*cast);
  }
  for (int& result : built.results) {
    const Uses uses(graph, built.results);
    const int writer = graph.at(result).root < 0 ? uses.writer(result) : -1;
    if (writer < 0 || uses.count(result) != 2) continue;  // as one result, and nothing more
    const Operation& cast = graph.operations[static_cast<std::size_t>(writer)];
    if (!is_cast(graph, cast, Type::bf16, Type::f32)) continue;
    const int from = cast.in[0], root = graph.root(from);
    if (graph.at(root).input >= 0 || graph.at(root).known != nullptr) continue;
    // A name of its own: the value itself may leave the region, too.
    drop(graph, &cast);
    Value shown = graph.at(from);
    shown.root = from;
    shown.outside = Type::f32;
    graph.values.push_back(shown);
    result = static_cast<int>(graph.values.size()) - 1;
  }
}

DS_WIDE void narrow(const float* from, std::uint16_t* to, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) to[k] = to_bf16(from[k]);
}

DS_WIDE void widen(const std::uint16_t* from, float* to, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) to[k] = from_bf16(from[k]);
}

}  // namespace drystone::gpu
