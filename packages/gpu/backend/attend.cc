#include "attend.h"

#include <algorithm>
#include <array>
#include <optional>

#include "uses.h"

namespace drystone::gpu {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// An operand as [outer, heads, rows, depth] somewhere in the memory of `root`.
struct View {
  int root = -1;
  std::uint32_t outer = 0, heads = 0;
  Rows rows = {};
  bool alone = false;  // nothing else reads what lies between
};

// Sizes of one attention; outer * heads is `matrices`.
struct Sizes {
  std::uint32_t matrices, queries, keys, depth;
};

class Attentions {
 public:
  Attentions(Graph& graph, const std::vector<int>& results)
      : graph_(graph), uses_(graph, results) {}

  void apply() {
    const std::size_t count = graph_.operations.size();
    for (std::size_t k = 0; k < count; ++k) {
      if (auto made = attention(static_cast<int>(k))) {
        const int reader = reader_of(made->out);
        if (reader >= 0 && take_order(*made, reader)) {
          graph_.operations[at(reader)] = std::move(*made);
        } else {
          graph_.operations[k] = std::move(*made);
        }
      }
    }
  }

 private:
  const Operation& operation(int k) const { return graph_.operations[at(k)]; }

  // A product of matrices and nothing else.
  const Product* plain_product(int k) const {
    const auto* layer = k < 0 ? nullptr : std::get_if<Layer>(&operation(k).detail);
    const bool plain = layer != nullptr && layer->kind == LayerKind::product && !layer->has_bias &&
                       !layer->has_residual && layer->activation == Activation::none;
    return plain && !layer->product.transpose_a ? &layer->product : nullptr;
  }

  // Whether both operands have a matrix for each of the batch.
  static bool is_batched(const Product& p) {
    return p.batch == 1 || (p.a_step == p.rows * p.inner && p.b_step == p.inner * p.columns);
  }

  // The one move that computes a value from all of its elements in another order.
  const Move* reordering(int k, int* from) const {
    const auto* moves = k < 0 ? nullptr : std::get_if<Moves>(&operation(k).detail);
    if (moves == nullptr || moves->fills || moves->parts.size() != 1) return nullptr;
    const Move& move = moves->parts[0];
    const int in = operation(k).in[0];
    std::int64_t count = 1;
    for (int d = move.rank; d-- > 0; count *= move.dims[d]) {
      if (move.to[d] != count) return nullptr;
    }
    if (move.to_first != 0 || move.from_first != 0) return nullptr;
    const Value &from_value = graph_.at(in), &to_value = graph_.at(operation(k).out);
    if (count != count_of(from_value.dims) || count != count_of(to_value.dims)) return nullptr;
    *from = in;
    return &move;
  }

  // A value of [matrices, rows, depth], or of [matrices, depth, rows] where it is `turned`: where
  // its elements come from.
  std::optional<View> view(int value, const Sizes& sizes, std::uint32_t rows, bool turned) const {
    int from = -1;
    const Move* move = reordering(uses_.writer(value), &from);
    if (move != nullptr && (move->rank == 3 || move->rank == 4)) {
      const int last = move->rank - 1, row = turned ? last : last - 1,
                depth = turned ? last - 1 : last;
      const bool fits = move->dims[row] == rows && move->dims[depth] == sizes.depth &&
                        move->from[depth] == 1 &&
                        move->dims[last - 2] * (last == 3 ? move->dims[0] : 1) == sizes.matrices;
      if (fits) {
        const auto stride = [move](int k) { return static_cast<std::uint32_t>(move->from[k]); };
        return View{graph_.root(from), last == 3 ? move->dims[0] : 1, move->dims[last - 2],
                    Rows{0, last == 3 ? stride(0) : 0, stride(last - 2), stride(row)},
                    uses_.count(value) == 1};
      }
    }
    if (turned) return {};
    return View{graph_.root(value), 0, 0, Rows{0, 0, rows * sizes.depth, sizes.depth}, true};
  }

  // All views with the same numbers of examples and heads; those that go straight on take any.
  static bool agree(std::array<View*, 3> views, const Sizes& sizes, std::uint32_t* outer,
                    std::uint32_t* heads) {
    *outer = 1, *heads = sizes.matrices;
    for (const View* one : views) {
      if (one->heads != 0) *outer = one->outer, *heads = one->heads;
    }
    for (View* one : views) {
      if (one->heads == 0) {
        one->rows.outer = *heads * one->rows.head;
      } else if (one->outer != *outer || one->heads != *heads) {
        return false;
      }
    }
    return true;
  }

  std::optional<Operation> attention(int k) {
    const Product* second = plain_product(k);
    if (second == nullptr || second->transpose_b || !is_batched(*second)) return {};
    const int middle = uses_.writer(operation(k).in[0]);
    if (middle < 0 || uses_.count(operation(k).in[0]) != 1) return {};
    const auto* softmax = std::get_if<Softmaxing>(&operation(middle).detail);
    if (softmax == nullptr || softmax->logarithm) return {};
    const int scores = operation(middle).in[0], before = uses_.writer(scores);
    const Product* first = plain_product(before);
    if (first == nullptr || uses_.count(scores) != 1 || !is_batched(*first)) return {};
    if (first->batch != second->batch || first->rows != second->rows ||
        first->type != second->type || first->columns != second->inner ||
        softmax->length != first->columns ||
        first->inner != second->columns) {
      return {};
    }
    const auto small = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
    const Sizes sizes = {small(first->batch), small(first->rows), small(first->columns),
                         small(first->inner)};
    return joined(operation(before), operation(middle), operation(k), sizes, !first->transpose_b);
  }

  std::optional<Operation> joined(const Operation& first, const Operation& middle,
                                  const Operation& second, const Sizes& sizes, bool turned) {
    auto q = view(first.in[0], sizes, sizes.queries, false);
    auto k = view(first.in[1], sizes, sizes.keys, turned);
    auto v = view(second.in[1], sizes, sizes.keys, false);
    Attention a = {};
    if (!q || !k || !v || !agree({&*q, &*k, &*v}, sizes, &a.outer, &a.heads)) return {};
    const auto& softmax = std::get<Softmaxing>(middle.detail);
    a.type = graph_.at(second.out).type;
    a.queries = sizes.queries, a.keys = sizes.keys, a.depth = sizes.depth;
    a.factor = softmax.factor;
    a.repeats = middle.in.size() > 1 ? softmax.repeats : sizes.queries;
    a.q = q->rows, a.k = k->rows, a.v = v->rows;
    a.to = {0, a.heads * sizes.queries * sizes.depth, sizes.queries * sizes.depth, sizes.depth};
    Operation made{Attending{}, {q->root, k->root, v->root}, second.out};
    if (middle.in.size() > 1) {
      made.in.push_back(middle.in[1]);
      a.mask_type = graph_.at(middle.in[1]).type;
    }
    if (!can_attend(a)) return {};
    join_products(made, a, {q->alone, k->alone, v->alone});
    std::get<Attending>(made.detail).attention = a;
    return made;
  }

  // The operation that alone reads a value, or -1.
  int reader_of(int value) const {
    if (uses_.count(value) != 1) return -1;
    const int root = graph_.root(value);
    for (std::size_t k = 0; k < graph_.operations.size(); ++k) {
      for (int v : operation(static_cast<int>(k)).in) {
        if (graph_.root(v) == root) return static_cast<int>(k);
      }
    }
    return -1;
  }

  // Results in the order that the move behind them brings them to.
  bool take_order(Operation& made, int reader) const {
    auto& a = std::get<Attending>(made.detail).attention;
    int from = -1;
    const Move* move = reordering(reader, &from);
    if (move == nullptr || graph_.root(from) != graph_.root(made.out)) return false;
    const std::uint32_t head = a.queries * a.depth;
    std::vector<std::array<std::uint32_t, 2>> wanted;  // [outer, queries, heads, depth]
    if (a.outer != 1) wanted.push_back({a.outer, a.heads * head});
    wanted.push_back({a.queries, a.depth});
    wanted.push_back({a.heads, head});
    wanted.push_back({a.depth, 1});
    if (move->rank != static_cast<int>(wanted.size())) return false;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const auto stride = static_cast<std::uint32_t>(move->from[k]);
      if (move->dims[k] != wanted[k][0] || stride != wanted[k][1]) return false;
    }
    a.to = {0, a.heads * head, a.depth, a.heads * a.depth};
    made.out = operation(reader).out;
    return true;
  }

  // ---- Products that give queries, keys and values -------------------------------------------

  // The product that gives a view, if it can be a part of a wider one.
  const Layer* giver(int root, const Rows& rows, const Attention& a, int* writer) const {
    *writer = uses_.writer(root);
    const auto* layer = *writer < 0 ? nullptr : std::get_if<Layer>(&operation(*writer).detail);
    if (layer == nullptr || layer->kind != LayerKind::product || uses_.count(root) != 1) {
      return nullptr;
    }
    const Product& p = layer->product;
    const auto width = static_cast<std::uint32_t>(p.columns);
    const bool simple = p.batch == 1 && !p.transpose_a && !layer->has_residual &&
                        layer->activation == Activation::none;
    const bool fits = width > 0 && width % 8 == 0 && rows.outer % width == 0 &&
                      rows.row % width == 0 && rows.first == 0 &&
                      (a.heads - 1) * rows.head + a.depth <= width;
    if (!simple || !fits) return nullptr;
    const std::vector<int>& in = operation(*writer).in;
    const bool fixed = std::all_of(in.begin() + 1, in.end(),
                                   [this](int v) { return graph_.at(v).invariant; });
    const bool small = 3 * p.rows * p.columns < std::int64_t{1} << 31;
    return fixed && small ? layer : nullptr;
  }

  bool are_alike(int a, int b) const {
    const auto &first = std::get<Layer>(operation(a).detail),
               &second = std::get<Layer>(operation(b).detail);
    return graph_.root(operation(a).in[0]) == graph_.root(operation(b).in[0]) &&
           first.product.rows == second.product.rows &&
           first.product.inner == second.product.inner && first.has_bias == second.has_bias &&
           first.product.tf32 == second.product.tf32 &&
           first.product.columns == second.product.columns &&
           first.product.transpose_b == second.product.transpose_b;
  }

  // Queries, keys and values, or the two of them that come from the same rows.
  void join_products(Operation& made, Attention& a, std::array<bool, 3> alone) {
    const std::array<Rows*, 3> rows = {&a.q, &a.k, &a.v};
    std::array<int, 3> writers = {};
    for (std::size_t j = 0; j < 3; ++j) {
      if (!alone[j] || giver(made.in[j], *rows[j], a, &writers[j]) == nullptr) writers[j] = -1;
    }
    for (std::size_t j = 0; j < 2; ++j) {
      if (writers[j] < 0) continue;
      std::vector<std::size_t> group = {j};
      for (std::size_t other = j + 1; other < 3; ++other) {
        const int own = writers[other];
        if (own >= 0 && own != writers[j] && are_alike(writers[j], own)) group.push_back(other);
      }
      if (group.size() > 1) return widen(made, rows, writers, group);
    }
  }

  void widen(Operation& made, const std::array<Rows*, 3>& rows, const std::array<int, 3>& writers,
             const std::vector<std::size_t>& group) {
    std::vector<int> weights, biases;
    std::vector<std::int64_t> widths;
    int first = writers[group[0]];
    for (std::size_t j : group) {
      const Operation& op = operation(writers[j]);
      weights.push_back(op.in[1]);
      if (op.in.size() > 2) biases.push_back(op.in[2]);
      widths.push_back(std::get<Layer>(op.detail).product.columns);
      first = std::min(first, writers[j]);
    }
    auto layer = std::get<Layer>(operation(writers[group[0]]).detail);
    std::vector<int> in = {operation(writers[group[0]]).in[0]};
    Product& p = layer.product;
    in.push_back(side_by_side(weights, widths, p.inner, p.transpose_b));
    if (layer.has_bias) in.push_back(side_by_side(biases, widths, 1, false));
    std::int64_t whole = 0;
    for (std::size_t k = 0; k < group.size(); ++k) {
      Rows& own = *rows[group[k]];
      own.first = static_cast<std::uint32_t>(whole);
      whole += widths[k];
    }
    for (std::size_t k = 0; k < group.size(); ++k) {
      Rows& own = *rows[group[k]];
      const auto width = static_cast<std::uint32_t>(widths[k]);
      own.outer = own.outer / width * static_cast<std::uint32_t>(whole);
      own.row = own.row / width * static_cast<std::uint32_t>(whole);
    }
    p.columns = layer.channels = whole;
    const int out = graph_.add_value(p.type, {p.rows, whole});
    for (std::size_t j : group) made.in[j] = out;
    graph_.operations[at(first)] = Operation{layer, std::move(in), out};
  }

  // Weights [inner, widths[k]], or their transposes below one another, in one matrix.
  int side_by_side(const std::vector<int>& all, const std::vector<std::int64_t>& widths,
                   std::int64_t inner, bool turned) {
    std::int64_t whole = 0;
    for (std::int64_t width : widths) whole += width;
    Moves detail;
    std::int64_t before = 0;
    for (std::int64_t width : widths) {
      Move move;
      move.rank = 2;
      move.dims[0] = static_cast<std::uint32_t>(turned ? width : inner);
      move.dims[1] = static_cast<std::uint32_t>(turned ? inner : width);
      move.from[0] = static_cast<std::int32_t>(turned ? inner : width);
      move.to[0] = static_cast<std::int32_t>(turned ? inner : whole);
      move.from[1] = move.to[1] = 1;
      move.to_first = static_cast<std::int32_t>(turned ? before * inner : before);
      before += width;
      detail.parts.push_back(move);
    }
    const Type type = graph_.at(all[0]).type;
    const Dims dims = turned ? Dims{whole, inner} : Dims{inner, whole};
    return graph_.add(std::move(detail), all, type, dims);
  }

  Graph& graph_;
  const Uses uses_;
};

}  // namespace

void join_attention(Graph& graph, const std::vector<int>& results) {
  Attentions(graph, results).apply();
}

}  // namespace drystone::gpu
