#include "fuse.h"

#include <algorithm>
#include <optional>

#include "attend.h"
#include "patterns.h"
#include "uses.h"

namespace drystone::gpu {
namespace {

Operation& at(Graph& graph, int operation) {
  return graph.operations[static_cast<std::size_t>(operation)];
}

constexpr int kGone = -1;

// Drop operations that were taken into others, or that nothing reads.
void sweep(Graph& graph, const std::vector<int>& results) {
  std::vector<bool> wanted(graph.values.size(), false);
  for (int v : results) wanted[static_cast<std::size_t>(graph.root(v))] = true;
  for (std::size_t k = graph.operations.size(); k-- > 0;) {
    Operation& op = graph.operations[k];
    if (op.out == kGone || !wanted[static_cast<std::size_t>(op.out)]) {
      op.out = kGone;
      continue;
    }
    for (int v : op.in) wanted[static_cast<std::size_t>(graph.root(v))] = true;
  }
  std::erase_if(graph.operations, [](const Operation& op) { return op.out == kGone; });
}

// What is computed once comes first: scaled and joined weights were added at the end.
void order(Graph& graph) {
  std::stable_partition(
      graph.operations.begin(), graph.operations.end(),
      [&graph](const Operation& op) { return op.out != kGone && graph.at(op.out).invariant; });
}

// ---- Layers take in what follows -------------------------------------------------------------

// One number a channel: [channels], with ones in front.
bool is_by_channel(const Value& value, std::int64_t channels) {
  return channels > 0 && !value.dims.empty() && value.dims.back() == channels && count_of(value.dims) == channels;
}

// The layer behind one operand of an element-wise operation that alone reads it, and the other
// operand.
struct Follower {
  int layer = -1;  // an operation
  int other = -1;  // a value, where there are two operands
  Code code = Code::same;
};

std::optional<Follower> follower(Graph& graph, const Operation& op, const Uses& uses) {
  const auto* detail = std::get_if<Elementwise>(&op.detail);
  if (detail == nullptr || detail->code.size() != 1 || op.in.size() > 2 || op.in.empty()) return {};
  const bool swaps = detail->code[0].code == Code::add || detail->code[0].code == Code::mul;
  if (op.in.size() == 2 && (!swaps || op.in[0] == op.in[1])) return {};
  std::optional<Follower> found;
  for (std::size_t k = 0; k < op.in.size(); ++k) {
    const int writer = uses.only(op.in[k]);
    if (writer < 0 || !std::holds_alternative<Layer>(at(graph, writer).detail)) continue;
    const Value &from = graph.at(op.in[k]), &to = graph.at(op.out);
    if (from.dims != to.dims || from.type != to.type || from.invariant) continue;
    if (found.has_value() && found->layer > writer) continue;  // the later one
    found = Follower{writer, op.in.size() == 2 ? op.in[1 - k] : -1, detail->code[0].code};
  }
  return found;
}

// An invariant value in another type or times another, computed once.
int prepared(Graph& graph, Code code, std::vector<int> in, Type type, Dims dims) {
  Elementwise detail;
  detail.code.push_back({code, 0, static_cast<std::uint8_t>(in.size() - 1), 0, 0.0f});
  return graph.add(std::move(detail), std::move(in), type, std::move(dims));
}

bool take_bias(Graph& graph, Operation& op, int bias) {
  auto& layer = std::get<Layer>(op.detail);
  const Value& value = graph.at(bias);
  const Type type = graph.at(op.out).type;
  if (layer.has_bias || layer.has_residual || layer.activation != Activation::none) return false;
  if (!is_by_channel(value, layer.channels)) return false;
  if (layer.kind == LayerKind::product && layer.product.columns != layer.channels) return false;
  int own = bias;
  if (value.type != type) {
    if (!value.invariant) return false;
    own = prepared(graph, Code::same, {bias}, type, Dims(value.dims));
  }
  layer.has_bias = true;
  op.in.insert(op.in.begin() + 2, own);
  return true;
}

bool take_residual(Graph& graph, Operation& op, int residual) {
  auto& layer = std::get<Layer>(op.detail);
  const Value &value = graph.at(residual), &out = graph.at(op.out);
  if (layer.has_residual || layer.activation != Activation::none) return false;
  if (value.dims != out.dims || value.type != out.type) return false;
  layer.has_residual = true;
  op.in.push_back(residual);
  return true;
}

// Numbers by channel go into the filter, and into the bias.
bool take_scale(Graph& graph, Operation& op, int scale) {
  auto& layer = std::get<Layer>(op.detail);
  const int filter = op.in[1];
  const bool by_last = layer.kind == LayerKind::convolution || layer.kind == LayerKind::depthwise ||
                       (layer.kind == LayerKind::product && !layer.product.transpose_b);
  if (!by_last || layer.has_residual || layer.activation != Activation::none) return false;
  if (!graph.at(scale).invariant || !graph.at(filter).invariant) return false;
  if (layer.has_bias && !graph.at(op.in[2]).invariant) return false;
  if (!is_by_channel(graph.at(scale), layer.channels)) return false;
  const Type type = graph.at(filter).type;
  const Dims dims = graph.at(filter).dims, flat = {count_of(dims) / layer.channels, layer.channels};
  const int line = graph.reshaped(scale, {layer.channels});
  const int scaled = prepared(graph, Code::mul, {graph.reshaped(filter, flat), line}, type, flat);
  op.in[1] = graph.reshaped(scaled, dims);
  if (layer.has_bias) {
    const int bias = graph.reshaped(op.in[2], {layer.channels});
    op.in[2] = prepared(graph, Code::mul, {bias, line}, type, {layer.channels});
  }
  return true;
}

bool take(Graph& graph, Operation& op, const Follower& follower) {
  auto& layer = std::get<Layer>(op.detail);
  switch (follower.code) {
    case Code::relu:
    case Code::relu6:
      if (layer.activation != Activation::none) return false;
      layer.activation = follower.code == Code::relu ? Activation::relu : Activation::relu6;
      return true;
    case Code::add:
      return take_bias(graph, op, follower.other) || take_residual(graph, op, follower.other);
    case Code::mul: return take_scale(graph, op, follower.other);
    default: return false;
  }
}

// The layer moves to where the operation behind it was: all that either reads is there by then.
bool absorb(Graph& graph, const std::vector<int>& results) {
  bool any = false;
  const Uses uses(graph, results);
  const std::size_t count = graph.operations.size();
  for (std::size_t k = 0; k < count; ++k) {
    if (graph.operations[k].out == kGone) continue;
    const auto found = follower(graph, graph.operations[k], uses);
    if (!found.has_value() || at(graph, found->layer).out == kGone) continue;
    Operation layer = at(graph, found->layer);
    if (!take(graph, layer, *found)) continue;
    at(graph, found->layer).out = kGone;
    layer.out = graph.operations[k].out;
    graph.operations[k] = std::move(layer);
    any = true;
    break;  // who reads what has changed
  }
  return any;
}

// Libraries compute no Relu6 behind their layers: a depthwise convolution that alone reads such a
// layer does it as it reads.
void hand_on(Graph& graph, const std::vector<int>& results) {
  const Uses uses(graph, results);
  for (Operation& op : graph.operations) {
    auto* layer = std::get_if<Layer>(&op.detail);
    if (layer == nullptr || layer->kind != LayerKind::depthwise) continue;
    const int writer = uses.only(op.in[0]);
    auto* giver = writer < 0 ? nullptr : std::get_if<Layer>(&at(graph, writer).detail);
    if (giver == nullptr || giver->activation != Activation::relu6) continue;
    if (giver->kind != LayerKind::product && giver->kind != LayerKind::convolution) continue;
    std::swap(giver->activation, layer->before);
  }
}

// ---- Element-wise operations join ------------------------------------------------------------

// Numbers that are known are part of the program.
void settle(const Graph& graph, Operation& op) {
  auto& detail = std::get<Elementwise>(op.detail);
  for (std::size_t k = op.in.size(); k-- > 0;) {
    const Value& value = graph.at(op.in[k]);
    if (op.in.size() == 1 || value.known == nullptr || count_of(value.dims) != 1) continue;
    if (detail.code.size() >= kInstructions) continue;
    float number = load<float>(value.known->data(), value.type, 0);
    if (detail.whole && (number > 16777216.0f || number < -16777216.0f)) continue;
    // Slots: operand k becomes the first instruction, those between move down.
    const auto count = static_cast<std::uint8_t>(op.in.size());
    const auto moved = [&](std::uint8_t slot) -> std::uint8_t {
      if (slot == k) return static_cast<std::uint8_t>(count - 1);
      return slot > k && slot < count ? static_cast<std::uint8_t>(slot - 1) : slot;
    };
    for (Instruction& step : detail.code)
      step = {step.code, moved(step.a), moved(step.b), moved(step.c), step.number};
    detail.code.insert(detail.code.begin(), {Code::constant, 0, 0, 0, number});
    op.in.erase(op.in.begin() + static_cast<std::ptrdiff_t>(k));
  }
}

// `first` computed within `second`, which alone reads it; nothing where that is too much.
std::optional<Operation> merged(const Operation& first, const Operation& second) {
  const auto &early = std::get<Elementwise>(first.detail),
             &late = std::get<Elementwise>(second.detail);
  Operation made{Elementwise{{}, late.whole}, first.in, second.out};
  for (int v : second.in) {
    if (v != first.out && std::find(made.in.begin(), made.in.end(), v) == made.in.end())
      made.in.push_back(v);
  }
  const std::size_t operands = made.in.size(), before = early.code.size();
  if (operands > kOperands || before + late.code.size() > kInstructions) return {};
  auto& code = std::get<Elementwise>(made.detail).code;
  const auto place = [&](int v) {
    const auto found = std::find(made.in.begin(), made.in.end(), v);
    return static_cast<std::size_t>(found - made.in.begin());
  };
  const auto add = [&](const Instruction& step, const auto& moved) {
    code.push_back({step.code, moved(step.a), moved(step.b), moved(step.c), step.number});
  };
  for (const Instruction& step : early.code) {
    add(step, [&](std::uint8_t slot) {
      const std::size_t own = first.in.size();
      return static_cast<std::uint8_t>(slot < own ? slot : slot - own + operands);
    });
  }
  for (const Instruction& step : late.code) {
    add(step, [&](std::uint8_t slot) {
      const std::size_t own = second.in.size();
      if (slot >= own) return static_cast<std::uint8_t>(slot - own + operands + before);
      const int value = second.in[slot];
      return static_cast<std::uint8_t>(value == first.out ? operands + before - 1 : place(value));
    });
  }
  return made;
}

bool joins(const Graph& graph, const Operation& first, const Operation& second) {
  const auto *early = std::get_if<Elementwise>(&first.detail),
             *late = std::get_if<Elementwise>(&second.detail);
  if (early == nullptr || late == nullptr || early->whole != late->whole) return false;
  const Value &middle = graph.at(first.out), &out = graph.at(second.out);
  if (middle.dims != out.dims || middle.invariant != out.invariant) return false;
  return late->whole || is_float(middle.type) || middle.type == Type::b8;
}

void join(Graph& graph, const std::vector<int>& results) {
  const Uses uses(graph, results);
  for (std::size_t k = graph.operations.size(); k-- > 0;) {
    for (bool again = graph.operations[k].out != kGone; again;) {
      again = false;
      for (int v : graph.operations[k].in) {
        const int writer = uses.only(v);
        if (writer < 0 || !joins(graph, at(graph, writer), graph.operations[k])) continue;
        auto made = merged(at(graph, writer), graph.operations[k]);
        if (!made.has_value()) continue;
        at(graph, writer).out = kGone;
        graph.operations[k] = std::move(*made);
        again = true;
        break;
      }
    }
  }
}

}  // namespace

void fuse(Graph& graph, const std::vector<int>& results) {
  sweep(graph, results);
  while (absorb(graph, results)) {
  }
  order(graph);
  sweep(graph, results);
  hand_on(graph, results);
  join_patterns(graph);
  sweep(graph, results);
  join_attention(graph, results);
  order(graph);
  sweep(graph, results);
  for (Operation& op : graph.operations) {
    if (std::holds_alternative<Elementwise>(op.detail)) settle(graph, op);
  }
  join(graph, results);
  sweep(graph, results);
}

}  // namespace drystone::gpu
