// Finding subgraphs: patterns of ops and fan-ins with captures.
//
// Since ABI 1.0. Header-only C++17; works on a GraphView and on a GraphEdit.
//
//   using namespace drystone::sdk;
//   const Pattern relu = op("Relu").as("relu")(
//       op("BiasAdd").as("bias").inside()(op("MatMul").as("product").inside(), any().as("offset")));
//   if (auto match = find(graph, relu, id)) fuse(match->node("product"), match->node("bias"));
//
// A pattern describes one node from its result backwards:
//   op("A", "B")     a node of one of these ops        any()        a node of any op
//   (p, q, ...)      its data fan-ins, exactly these   starts(p)    ... and perhaps more
//   .as("name")      capture; the same name twice means the same tensor
//   .port(1)         read by its consumer through this output (default: whichever)
//   .inside()        will vanish in the rewrite: everything that reads it is itself captured or part
//                    of the match, and it is not protected
//   .computed()      its output is what its op makes of its inputs: it is not protected, since what is
//                    to be preserved may be fed
//   .single()        exactly one edge, data or control, reads it
//   .free()          no control fan-ins
//   .either()        its first two fan-ins may come in either order
//   .when(f)         f(graph, id) holds, for the kind of graph that f takes
// A pattern without fan-ins says nothing about them.
//
// All alternatives are tried (backtracking), so a match that exists is found; a budget of steps keeps
// hostile graphs from taking long, and what exceeds it counts as no match. A Pattern is immutable once
// built and may be used by many threads; a Match holds ids and labels only.
#ifndef DRYSTONE_SDK_PATTERN_HPP_
#define DRYSTONE_SDK_PATTERN_HPP_

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drystone/sdk/error.hpp"
#include "drystone/sdk/node.hpp"

namespace drystone::sdk {

class GraphEdit;
class GraphView;

template <class Graph>
class Matcher;

class Pattern {
 public:
  explicit Pattern(std::vector<std::string> ops) : ops_(std::move(ops)) {}

  Pattern as(std::string label) const {
    Pattern out(*this);
    out.label_ = std::move(label);
    return out;
  }
  template <class... Patterns>
  Pattern operator()(Patterns... inputs) const {
    Pattern out(*this);
    out.inputs_ = {std::move(inputs)...};
    out.describes_inputs_ = true;
    return out;
  }
  template <class... Patterns>
  Pattern starts(Patterns... inputs) const {
    Pattern out = (*this)(std::move(inputs)...);
    out.more_inputs_ = true;
    return out;
  }
  Pattern port(std::int32_t port) const {
    Pattern out(*this);
    out.port_ = port;
    return out;
  }
  Pattern inside() const { return with(&Pattern::inside_); }
  Pattern computed() const { return with(&Pattern::computed_); }
  Pattern single() const { return with(&Pattern::single_); }
  Pattern free() const { return with(&Pattern::free_); }
  Pattern either() const { return with(&Pattern::either_); }
  Pattern when(std::function<bool(const GraphView&, int)> test) const {
    Pattern out(*this);
    out.view_test_ = std::move(test);
    return out;
  }
  Pattern when(std::function<bool(const GraphEdit&, int)> test) const {
    Pattern out(*this);
    out.edit_test_ = std::move(test);
    return out;
  }

 private:
  template <class Graph>
  friend class Matcher;

  Pattern with(bool Pattern::*flag) const {
    Pattern out(*this);
    out.*flag = true;
    return out;
  }
  bool allows(std::string_view op) const {
    return ops_.empty() || std::find(ops_.begin(), ops_.end(), op) != ops_.end();
  }
  bool accepts(const GraphView& graph, int id) const { return !view_test_ || view_test_(graph, id); }
  bool accepts(const GraphEdit& graph, int id) const { return !edit_test_ || edit_test_(graph, id); }

  std::vector<std::string> ops_;
  std::string label_;
  std::vector<Pattern> inputs_;
  std::function<bool(const GraphView&, int)> view_test_;
  std::function<bool(const GraphEdit&, int)> edit_test_;
  std::int32_t port_ = kControl;  // whichever
  bool describes_inputs_ = false;
  bool more_inputs_ = false;
  bool inside_ = false;
  bool computed_ = false;
  bool single_ = false;
  bool free_ = false;
  bool either_ = false;
};

template <class... Names>
Pattern op(Names... names) {
  return Pattern({std::string(names)...});
}
inline Pattern any() { return Pattern(std::vector<std::string>()); }

// The nodes that a pattern was found in, root first.
class Match {
 public:
  // The node captured under a label; -1 when the pattern has no such label.
  int node(std::string_view label) const {
    for (const Binding& one : bindings_) {
      if (one.label == label) return one.id;
    }
    return -1;
  }
  // The tensor by which the captured node was read; its port is 0 for the root.
  TensorId tensor(std::string_view label) const {
    for (const Binding& one : bindings_) {
      if (one.label == label) return {one.id, one.port};
    }
    return {};
  }
  // The nodes marked inside(), each once: what the rewrite removes.
  const std::vector<int>& inside() const { return inside_; }

 private:
  template <class Graph>
  friend class Matcher;
  struct Binding {
    std::string label;
    std::int32_t id;
    std::int32_t port;
  };
  std::vector<Binding> bindings_;
  std::vector<int> nodes_;
  std::vector<int> inside_;
};

template <class Graph>
class Matcher {
 public:
  explicit Matcher(const Graph& graph) : graph_(&graph) {}

  std::optional<Match> find(const Pattern& pattern, int root) {
    steps_ = 0;
    Match match;
    if (!graph_->alive(root) || !solve({Goal{&pattern, {root, 0}}}, &match)) return std::nullopt;
    return match;
  }

 private:
  static constexpr int kSteps = 2000;
  struct Goal {
    const Pattern* pattern;
    TensorId tensor;
  };

  // Meet all goals, or leave the match as it was.
  bool solve(std::vector<Goal> goals, Match* match) {
    if (++steps_ > kSteps) return false;
    if (goals.empty()) return all_inside(*match);
    const Goal goal = goals.back();
    goals.pop_back();
    const Match before = *match;
    if (!bind(goal, match)) {
      *match = before;
      return false;
    }
    if (solve_inputs(goal, goals, false, match)) return true;
    if (goal.pattern->either_ && solve_inputs(goal, goals, true, match)) return true;
    *match = before;
    return false;
  }

  bool bind(const Goal& goal, Match* match) const {
    const Pattern& wanted = *goal.pattern;
    const int id = goal.tensor.node;
    if (!wanted.allows(graph_->op(id))) return false;
    if (wanted.port_ != kControl && wanted.port_ != goal.tensor.port) return false;
    if (wanted.single_ && graph_->fan_outs(id).size() != 1) return false;
    if (wanted.free_ && !graph_->control_fan_ins(id).empty()) return false;
    if ((wanted.inside_ || wanted.computed_) && graph_->is_protected(id)) return false;
    if (!wanted.accepts(*graph_, id)) return false;
    if (!wanted.label_.empty()) {
      const TensorId bound = match->tensor(wanted.label_);
      if (bound.node >= 0) return bound == goal.tensor;
      match->bindings_.push_back({wanted.label_, id, goal.tensor.port});
    }
    add_once(&match->nodes_, id);
    if (wanted.inside_) add_once(&match->inside_, id);
    return true;
  }

  bool solve_inputs(const Goal& goal, std::vector<Goal> goals, bool swapped, Match* match) {
    const Pattern& wanted = *goal.pattern;
    if (!wanted.describes_inputs_) return !swapped && solve(std::move(goals), match);
    const Span<const TensorId> found = graph_->regular_fan_ins(goal.tensor.node);
    const std::size_t count = wanted.inputs_.size();
    if (found.size() < count || (found.size() > count && !wanted.more_inputs_)) return false;
    if (swapped && count < 2) return false;
    for (std::size_t i = count; i-- > 0;) {
      const std::size_t at = swapped && i < 2 ? 1 - i : i;
      goals.push_back({&wanted.inputs_[i], found[at]});
    }
    return solve(std::move(goals), match);
  }

  bool all_inside(const Match& match) const {
    for (int id : match.inside_) {
      for (Edge edge : graph_->fan_outs(id)) {
        const std::vector<int>& ours = match.nodes_;
        if (std::find(ours.begin(), ours.end(), edge.consumer) == ours.end()) return false;
      }
    }
    return true;
  }

  static void add_once(std::vector<int>* all, int id) {
    if (std::find(all->begin(), all->end(), id) == all->end()) all->push_back(id);
  }

  const Graph* graph_;
  int steps_ = 0;
};

// Whether `pattern` ends in node `root`.
template <class Graph>
std::optional<Match> find(const Graph& graph, const Pattern& pattern, int root) {
  return Matcher<Graph>(graph).find(pattern, root);
}

}  // namespace drystone::sdk

#endif  // DRYSTONE_SDK_PATTERN_HPP_
