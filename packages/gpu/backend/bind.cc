// Operations as work for a stream: where each reads and writes, and which kernel does it.
#include <algorithm>

#include "program.h"

namespace drystone::gpu {
namespace {

// Dimensions of the result, joined where all operands go along them in the same way: `whole` has a
// bit for each operand that is not broadcast.
struct Joined {
  std::vector<std::uint32_t> dims, whole;
};

Joined joined(const Dims& out, const std::vector<Dims>& operands) {
  Joined found;
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (out[k] == 1) continue;
    std::uint32_t mask = 0;
    for (std::size_t j = 0; j < operands.size(); ++j) {
      const std::size_t skip = out.size() - operands[j].size();
      if (k >= skip && operands[j][k - skip] != 1) mask |= 1u << j;
    }
    const auto size = static_cast<std::uint32_t>(out[k]);
    if (!found.dims.empty() && found.whole.back() == mask) {
      found.dims.back() *= size;
    } else {
      found.dims.push_back(size);
      found.whole.push_back(mask);
    }
  }
  return found;
}

// How an operand goes along: in one run of dimensions where that is enough, else by strides.
void place(const Joined& all, std::size_t operand, Operand* to) {
  const std::size_t rank = all.dims.size();
  std::size_t runs = 0;
  std::uint32_t stride = 1;
  bool inside = false;
  std::uint32_t inner = 1;
  for (std::size_t k = rank; k-- > 0;) {
    const bool whole = (all.whole[k] >> operand & 1u) != 0;
    to->strides[k] = whole ? stride : 0;
    if (whole && !inside) ++runs;
    inside = whole;
    if (whole) {
      stride *= all.dims[k];
    } else if (runs == 0) {
      inner *= all.dims[k];
    }
  }
  to->inner = Divider(inner);
  to->period = Divider(stride);
  if (runs == 0) {
    to->walk = Walk::still;
  } else if (runs > 1) {
    to->walk = Walk::strided;
  } else if (inner > 1) {
    to->walk = Walk::blocks;
  } else {
    to->walk = (all.whole[0] >> operand & 1u) != 0 ? Walk::along : Walk::line;
  }
}

Work bind_elementwise(const Graph& graph, const Operation& op, Stream& stream,
                      const std::vector<void*>& memory) {
  const auto& detail = std::get<Elementwise>(op.detail);
  const Value& out = graph.at(op.out);
  std::vector<Dims> dims;
  for (int k : op.in) dims.push_back(graph.at(k).dims);
  const Joined all = joined(out.dims, dims);
  if (all.dims.size() > kRank) throw Refused("a broadcast over too many dimensions");
  Program program = {};
  program.rank = static_cast<int>(all.dims.size());
  std::transform(all.dims.begin(), all.dims.end(), program.dims,
                 [](std::uint32_t size) { return Divider(size); });
  for (int k : op.in) {
    Operand& operand = program.operands[program.operand_count];
    operand.data = memory[static_cast<std::size_t>(k)];
    operand.type = graph.at(k).type;
    place(all, static_cast<std::size_t>(program.operand_count++), &operand);
  }
  std::copy(detail.code.begin(), detail.code.end(), program.instructions);
  program.instruction_count = static_cast<int>(detail.code.size());
  program.whole = detail.whole;
  program.out = memory[static_cast<std::size_t>(op.out)];
  program.out_type = out.type;
  program.count = static_cast<std::uint32_t>(count_of(out.dims));
  return [&stream, program] { run_program(stream, program); };
}

Work bind_moves(const Graph& graph, const Operation& op, Stream& stream,
                const std::vector<void*>& memory) {
  const auto& detail = std::get<Moves>(op.detail);
  const Value& out = graph.at(op.out);
  const std::size_t size = size_of(out.type);
  const std::int64_t count = count_of(out.dims);
  void* to = memory[static_cast<std::size_t>(op.out)];
  std::vector<const void*> from;
  for (int k : op.in) from.push_back(memory[static_cast<std::size_t>(k)]);
  return [&stream, detail, size, count, to, from] {
    if (detail.fills) run_fill(stream, count, size, detail.fill, to);
    for (std::size_t k = 0; k < from.size(); ++k) {
      run_move(stream, detail.parts[k], size, from[k], to);
    }
  };
}

Work bind_layer(const Graph& graph, const Operation& op, Stream& stream, Layers& layers,
                const std::vector<void*>& memory, Work* pack) {
  const auto& layer = std::get<Layer>(op.detail);
  const auto in = [&](std::size_t k) { return memory[static_cast<std::size_t>(op.in[k])]; };
  After after;
  std::size_t next = 2;
  if (layer.has_bias) after.bias = in(next++);
  if (layer.has_residual) after.residual = in(next);
  after.activation = layer.activation;
  const Type type = graph.at(op.out).type;
  void* to = memory[static_cast<std::size_t>(op.out)];
  const void *a = in(0), *b = in(1);
  switch (layer.kind) {
    case LayerKind::product: return layers.product(layer.product, a, b, after, to);
    case LayerKind::convolution:
      return layers.convolution(layer.window, layer.groups, type, a, b, after, to,
                                graph.at(op.in[1]).invariant ? pack : nullptr);
    case LayerKind::depthwise:
      return [&stream, layer, type, a, b, after, to] {
        run_depthwise(stream, layer.window, type, layer.before, a, b, after, to);
      };
    default:
      return [&stream, layer, type, a, b, after, to] {
        run_transposed(stream, layer.window, layer.groups, type, a, b, after, to);
      };
  }
}

// Operations with a kernel of their own, one function for each.
struct Binder {
  const Graph& graph;
  const Operation& op;
  Stream& stream;
  Layers& layers;
  const std::vector<void*>& memory;
  Alarm alarm;
  Work* pack;

  void* in(std::size_t k) const { return memory[static_cast<std::size_t>(op.in[k])]; }
  void* out() const { return memory[static_cast<std::size_t>(op.out)]; }
  Type type(std::size_t k) const { return graph.at(op.in[k]).type; }
  std::int64_t count() const { return count_of(graph.at(op.out).dims); }

  Work operator()(const Elementwise&) const { return bind_elementwise(graph, op, stream, memory); }
  Work operator()(const Moves&) const { return bind_moves(graph, op, stream, memory); }
  Work operator()(const Layer&) const {
    return bind_layer(graph, op, stream, layers, memory, pack);
  }
  Work operator()(const Gathering& g) const {
    return
        [&s = stream, g, size = size_of(type(0)), a = in(0), b = in(1), wide = type(1) == Type::i64,
         w = alarm, to = out()] { run_gather(s, g.gather, size, a, b, wide, w, to); };
  }
  Work operator()(const OneHots& o) const {
    return [&s = stream, o, n = count(), size = size_of(graph.at(op.out).type), i = in(0),
            wide = type(0) == Type::i64, on = in(1), off = in(2),
            to = out()] { run_one_hot(s, o.one_hot, n, size, i, wide, on, off, to); };
  }
  Work operator()(const Mirroring& m) const {
    return [&s = stream, m, n = count(), size = size_of(type(0)), a = in(0), to = out()] {
      run_mirror(s, m.mirror, n, size, a, to);
    };
  }
  Work operator()(const Reducing& r) const {
    return [&s = stream, r, a = in(0), to = out()] { run_reduction(s, r.reduction, a, to); };
  }
  Work operator()(const Softmaxing& m) const {
    const bool masked = op.in.size() > 1;
    const SoftmaxRows r{type(0), type(masked ? 1 : 0), m.length, m.repeats, m.factor, m.logarithm};
    return [&s = stream, r, rows = m.count, a = in(0), mask = masked ? in(1) : nullptr,
            to = out()] { run_softmax(s, r, rows, a, mask, to); };
  }
  Work operator()(const Normalizing& n) const {
    const LayerNorm norm{type(0), type(1), n.length, n.epsilon};
    return [&s = stream, norm, rows = n.count, a = in(0), scale = in(1), shift = in(2),
            to = out()] { run_layer_norm(s, norm, rows, a, scale, shift, to); };
  }
  Work operator()(const Extremes& e) const {
    return [&s = stream, e, n = count(), a = in(0), to = out()] {
      run_extreme(s, e.extreme, n, a, to);
    };
  }
  Work operator()(const Attending& t) const {
    return [&s = stream, a = t.attention, q = in(0), k = in(1), v = in(2),
            mask = op.in.size() > 3 ? in(3) : nullptr,
            to = out()] { run_attention(s, a, q, k, v, mask, to); };
  }
  Work operator()(const Pools& p) const {
    return [&s = stream, p, t = type(0), a = in(0), to = out()] {
      run_pool(s, p.window, p.pooling, p.with_edges, t, a, to);
    };
  }
  Work operator()(const PoolGradients& p) const {
    const bool is_largest = p.pooling == Pooling::max;
    const PoolGradient g = {p.window, type(0), in(0), is_largest ? in(1) : nullptr,
                            is_largest ? in(2) : nullptr};
    return [&s = stream, g, to = out()] { run_pool_gradient(s, g, to); };
  }
  Work operator()(const FilterGradients& f) const {
    return [&s = stream, f, t = type(0), a = in(0), g = in(1), to = out()] {
      run_filter_gradient(s, f.window, f.groups, t, a, g, to);
    };
  }
  Work operator()(const Patches& p) const {
    return [&s = stream, p, t = type(0), a = in(0), to = out()] {
      run_patches(s, p.window, t, a, to);
    };
  }
  Work operator()(const Segments& g) const {
    return [&s = stream, g, rows = count_of(graph.at(op.in[1]).dims), a = in(0), i = in(1),
            wide = type(1) == Type::i64, w = alarm, to = out()] {
      s.clear(to, std::size_t{g.count} * g.inner * sizeof(float));
      run_segment_sum(s, {g.count, g.inner, g.all}, rows, a, i, wide, w, to);
    };
  }
  Work operator()(const Resizes& r) const {
    return [&s = stream, r, n = count(), a = in(0), to = out()] {
      run_resize(s, r.resize, r.how, n, a, to);
    };
  }
};

}  // namespace

Work work_of(const Graph& graph, const Operation& operation, Stream& stream, Layers& layers,
             const std::vector<void*>& memory, Alarm alarm, Work* pack) {
  const Binder binder{graph, operation, stream, layers, memory, alarm, pack};
  return std::visit(binder, operation.detail);
}

}  // namespace drystone::gpu
