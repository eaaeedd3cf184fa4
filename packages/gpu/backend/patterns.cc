#include "patterns.h"

#include <cmath>
#include <optional>
#include <utility>

namespace drystone::gpu {
namespace {

class Patterns {
 public:
  explicit Patterns(Graph& graph) : graph_(graph), writer_(graph.values.size(), -1) {
    for (std::size_t k = 0; k < graph.operations.size(); ++k) {
      writer_[static_cast<std::size_t>(graph.operations[k].out)] = static_cast<int>(k);
    }
  }

  void apply() {
    for (Operation& op : graph_.operations) {
      if (auto* softmax = std::get_if<Softmaxing>(&op.detail)) {
        take_mask(op, *softmax);
        take_factor(op, *softmax);
      } else if (auto norm = layer_norm(op)) {
        op = std::move(*norm);
      } else if (const auto x = gelu(op)) {
        op.detail = Elementwise{{{Code::gelu_erf, 0, 0, 0, 0.0f}}, false};
        op.in = {*x};
      }
    }
  }

 private:
  using Pair = std::pair<int, int>;

  const Operation* writer(int value) const {
    const int at = writer_[static_cast<std::size_t>(value)];
    return at < 0 ? nullptr : &graph_.operations[static_cast<std::size_t>(at)];
  }

  static bool does(const Operation& op, Code code) {
    const auto* detail = std::get_if<Elementwise>(&op.detail);
    return detail != nullptr && detail->code.size() == 1 && detail->code[0].code == code;
  }

  // The operands of the operation with that code which computes a value.
  std::optional<Pair> binary(int value, Code code) const {
    const Operation* op = writer(value);
    if (op == nullptr || !does(*op, code) || op->in.size() != 2) return {};
    return Pair{op->in[0], op->in[1]};
  }
  std::optional<int> unary(int value, Code code) const {
    const Operation* op = writer(value);
    if (op == nullptr || !does(*op, code) || op->in.size() != 1) return {};
    return op->in[0];
  }

  std::optional<float> number(int value) const {
    const Value& of = graph_.at(value);
    if (of.known == nullptr || count_of(of.dims) != 1) return {};
    return load<float>(of.known->data(), of.type, 0);
  }
  bool is_number(int value, float wanted) const {
    const auto found = number(value);
    return found.has_value() && std::fabs(*found - wanted) <= 0.004f * std::fabs(wanted);
  }
  // The other operand where one of them is that number.
  std::optional<int> beside(std::optional<Pair> pair, float wanted) const {
    if (!pair.has_value()) return {};
    if (is_number(pair->first, wanted)) return pair->second;
    if (is_number(pair->second, wanted)) return pair->first;
    return {};
  }

  // Whether consecutive rows read the same row of a mask: [batch, 1, ..., 1, length].
  std::optional<std::uint32_t> repeats(int mask, const Value& of) const {
    const Value& value = graph_.at(mask);
    if (value.dims.size() != of.dims.size() || value.dims.back() != of.dims.back()) return {};
    std::int64_t rows = 1;
    std::size_t k = of.dims.size() - 1;
    while (k > 0 && value.dims[k - 1] == 1) rows *= of.dims[--k];
    for (; k > 0; --k) {
      if (value.dims[k - 1] != of.dims[k - 1]) return {};
    }
    return static_cast<std::uint32_t>(rows);
  }

  // softmax(x + mask), and softmax(x * factor + mask).
  void take_mask(Operation& op, Softmaxing& softmax) const {
    const auto pair = binary(op.in[0], Code::add);
    if (!pair.has_value()) return;
    for (const Pair& ends : {*pair, Pair{pair->second, pair->first}}) {
      const Value& x = graph_.at(ends.first);
      if (x.dims != graph_.at(op.in[0]).dims || x.type != graph_.at(op.out).type) continue;
      const auto rows = repeats(ends.second, x);
      if (!rows.has_value() || *rows == 1) continue;
      softmax.repeats = *rows;
      op.in = {ends.first, ends.second};
      return;
    }
  }
  void take_factor(Operation& op, Softmaxing& softmax) const {
    const auto pair = binary(op.in[0], Code::mul);
    if (!pair.has_value()) return;
    for (const Pair& ends : {*pair, Pair{pair->second, pair->first}}) {
      const auto factor = number(ends.second);
      if (!factor.has_value() || graph_.at(ends.first).dims != graph_.at(op.out).dims) continue;
      softmax.factor = *factor;
      op.in[0] = ends.first;
      return;
    }
  }

  // x of the mean of x along rows.
  std::optional<int> mean_of_rows(int value) const {
    const Operation* op = writer(value);
    const auto* detail = op == nullptr ? nullptr : std::get_if<Reducing>(&op->detail);
    if (detail == nullptr || detail->reduction.join != Join::mean) return {};
    const Reduction& r = detail->reduction;
    const Value& x = graph_.at(op->in[0]);
    if (x.dims.empty() || r.inner_rank != 1 || r.inner_strides[0] != 1) return {};
    if (r.inner != static_cast<std::uint32_t>(x.dims.back()) || x.dims.back() < 2) return {};
    return op->in[0];
  }

  // x * factor + rest with factor = rsqrt(variance + epsilon) * scale, rest = shift - mean *
  // factor.
  std::optional<Operation> layer_norm(const Operation& op) const {
    if (!does(op, Code::add)) return {};
    for (const Pair& ends : {Pair{op.in[0], op.in[1]}, Pair{op.in[1], op.in[0]}}) {
      const auto scaled = binary(ends.first, Code::mul);
      if (!scaled.has_value()) continue;
      for (const Pair& parts : {*scaled, Pair{scaled->second, scaled->first}}) {
        if (auto made = normalized(op.out, parts.first, parts.second, ends.second)) return made;
      }
    }
    return {};
  }

  std::optional<Operation> normalized(int out, int x, int factor, int rest) const {
    const auto both = binary(factor, Code::mul);
    if (!both.has_value()) return {};
    for (const Pair& parts : {*both, Pair{both->second, both->first}}) {
      const auto inside = unary(parts.first, Code::rsqrt);
      const auto sum = inside.has_value() ? binary(*inside, Code::add) : std::nullopt;
      if (!sum.has_value()) continue;
      const bool behind = number(sum->second).has_value();
      const auto epsilon = behind ? number(sum->second) : number(sum->first);
      const auto mean = mean_for(behind ? sum->first : sum->second, x);
      if (!epsilon.has_value() || !mean.has_value()) continue;
      const auto shift = shift_of(rest, *mean, factor);
      if (shift.has_value() && fits(x, parts.second, *shift)) {
        const Value& of = graph_.at(x);
        const auto length = static_cast<std::uint32_t>(of.dims.back());
        const auto count = static_cast<std::uint32_t>(count_of(of.dims) / of.dims.back());
        return Operation{Normalizing{count, length, *epsilon}, {x, parts.second, *shift}, out};
      }
    }
    return {};
  }

  // The mean whose squared differences from x a variance is the mean of.
  std::optional<int> mean_for(int variance, int x) const {
    const auto squares = mean_of_rows(variance);
    const auto pair =
        squares.has_value() ? binary(*squares, Code::squared_difference) : std::nullopt;
    if (!pair.has_value()) return {};
    const int mean = pair->first == x ? pair->second : pair->first;
    const bool both = pair->first == x || pair->second == x;
    return both && mean_of_rows(mean) == std::optional<int>(x) ? std::optional<int>(mean)
                                                               : std::nullopt;
  }

  std::optional<int> shift_of(int rest, int mean, int factor) const {
    const auto is_away = [&](int value, bool negative) {
      const auto pair = binary(value, Code::mul);
      if (!pair.has_value()) return false;
      const int other = pair->first == factor ? pair->second : pair->first;
      if (pair->first != factor && pair->second != factor) return false;
      return negative ? unary(other, Code::neg) == std::optional<int>(mean) : other == mean;
    };
    if (const auto pair = binary(rest, Code::sub);
        pair.has_value() && is_away(pair->second, false)) {
      return pair->first;
    }
    const auto pair = binary(rest, Code::add);
    if (!pair.has_value()) return {};
    if (is_away(pair->first, true)) return pair->second;
    return is_away(pair->second, true) ? std::optional<int>(pair->first) : std::nullopt;
  }

  bool fits(int x, int scale, int shift) const {
    const Dims line = {graph_.at(x).dims.back()};
    const Value &a = graph_.at(scale), &b = graph_.at(shift);
    return a.dims == line && b.dims == line && a.type == b.type;
  }

  // x of x / 2 * (1 + erf(x / sqrt 2)).
  std::optional<int> gelu(const Operation& op) const {
    if (!does(op, Code::mul)) return {};
    for (const Pair& ends : {Pair{op.in[0], op.in[1]}, Pair{op.in[1], op.in[0]}}) {
      auto x = beside(binary(ends.first, Code::mul), 0.5f);
      auto sum = beside(binary(ends.second, Code::add), 1.0f);
      if (!x.has_value()) {  // x * (1 / 2 * (1 + erf))
        const auto halved = beside(binary(ends.second, Code::mul), 0.5f);
        x = ends.first;
        sum = halved.has_value() ? beside(binary(*halved, Code::add), 1.0f) : std::nullopt;
      }
      const auto inner = sum.has_value() ? unary(*sum, Code::erf) : std::nullopt;
      if (!inner.has_value()) continue;
      auto from = beside(binary(*inner, Code::mul), 0.70710678f);
      const auto divided = binary(*inner, Code::div);
      if (!from.has_value() && divided.has_value() && is_number(divided->second, 1.41421356f)) {
        from = divided->first;
      }
      if (from == x && graph_.at(*x).dims == graph_.at(op.out).dims) return x;
    }
    return {};
  }

  Graph& graph_;
  std::vector<int> writer_;
};

}  // namespace

void join_patterns(Graph& graph) { Patterns(graph).apply(); }

}  // namespace drystone::gpu
