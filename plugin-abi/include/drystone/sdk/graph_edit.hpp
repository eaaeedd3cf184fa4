// Changes to a graph, on top of a GraphView: every read sees the changes made so far.
//
// Since ABI 1.0. Header-only C++17; needs no function of the host.
//
//   GraphEdit graph(view);
//   graph.protect("logits");                           // from Item: nodes that must stay as they are
//   if (Error e = graph.bypass(id); !e.ok()) return e;
//   std::string bytes = graph.serialize();
//
// Ids: 0 .. view.size() - 1 are the view's nodes, what add() returns comes after them. The id of
// a removed node is never used again. Ask alive(id) before anything else about an id that may be gone.
//
// What is written: nodes without changes byte for byte, changed nodes with every field that this SDK
// does not know kept byte for byte, everything that is not a node untouched and in its place. Without
// a change the bytes are the view's own.
//
// Lifetime: the view, and so the bytes under it, must outlive the edit. Names and attributes that an
// edit hands out live as long as the edit does. Time: every change costs what it touches, whatever the
// size of the graph. Threads: one at a time.
//
// Errors: a change that would leave an edge dangling, remove or rename a protected node, or use a name
// twice is refused, and the graph stays as it was. No call looks for cycles: topological_order() does.
#ifndef DRYSTONE_SDK_GRAPH_EDIT_HPP_
#define DRYSTONE_SDK_GRAPH_EDIT_HPP_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "drystone/sdk/graph_view.hpp"
#include "drystone/sdk/links.hpp"
#include "drystone/sdk/new_node.hpp"

namespace drystone::sdk {

class GraphEdit {
 public:
  explicit GraphEdit(const GraphView& view)
      : view_(&view), draft_of_(static_cast<std::size_t>(view.size()), -1) {}
  GraphEdit(const GraphEdit&) = delete;
  GraphEdit& operator=(const GraphEdit&) = delete;

  // --- reading ---------------------------------------------------------------------------------
  const GraphView& view() const { return *view_; }
  int size() const { return static_cast<int>(draft_of_.size()); }
  bool alive(int id) const {
    return id >= 0 && id < size() && !(draft(id) != nullptr && draft(id)->removed);
  }
  std::string_view name(int id) const { return draft(id) ? draft(id)->name : view_->name(id); }
  std::string_view op(int id) const { return draft(id) ? draft(id)->op : view_->op(id); }
  std::string_view device(int id) const {
    return draft(id) ? draft(id)->device : view_->device(id);
  }
  AttrView attr(int id, std::string_view wanted) const;
  int find(std::string_view name) const;
  Span<const TensorId> fan_ins(int id) const {
    return draft(id) ? Span<const TensorId>(draft(id)->inputs) : view_->fan_ins(id);
  }
  Span<const TensorId> regular_fan_ins(int id) const;
  Span<const TensorId> control_fan_ins(int id) const;
  // A copy: the graph may be changed while it is walked.
  std::vector<Edge> fan_outs(int id) const;
  std::size_t fan_out_count(int id) const {
    return links_.nodes() == 0 ? view_->fan_outs(id).size() : links_.count(id);
  }
  TensorId source(Edge edge) const {
    return fan_ins(edge.consumer)[static_cast<std::size_t>(edge.input)];
  }
  Result<std::vector<int>> topological_order() const { return topological_order_of(*this); }
  bool changed() const { return !drafts_.empty(); }
  // `wanted`, or else that with the first of "_1", "_2", ... that no node is called.
  std::string unused_name(std::string_view wanted) const;

  // --- nodes that must stay --------------------------------------------------------------------
  void protect(std::string_view name) { protected_.insert(keep(name)); }
  bool is_protected(int id) const { return protected_.count(name(id)) != 0; }

  // --- changing --------------------------------------------------------------------------------
  // The new node's id.
  Result<int> add(const NewNode& node);
  // Another definition under the same name; who reads the node goes on doing so.
  Error replace(int id, const NewNode& node);
  // Fails while something reads the node.
  Error remove(int id) { return remove_all({id}); }
  // Fails when something outside the set reads one of them; then none is removed.
  Error remove_all(const std::vector<int>& ids);
  Error rename(int id, std::string_view name);
  Error set_op(int id, std::string_view op);
  Error set_device(int id, std::string_view device);
  Error set_attr(int id, std::string_view name, std::string_view value);
  // No error when the node has no such attribute.
  Error remove_attr(int id, std::string_view name);
  // All fan-ins again: data first, then control.
  Error set_inputs(int id, const std::vector<TensorId>& inputs);
  Error set_input(int id, int input, TensorId source);
  // Let `id` run after `from`; nothing happens where it does already, by a control or data edge.
  Error add_control(int id, int from);
  Error remove_control(int id, int from);
  // Let everything that reads `from` read `to` instead (both data, or both kControl), apart from
  // the node of `to` itself: so a node that reads `from` can be put behind it.
  Error redirect(TensorId from, TensorId to);
  // Take out a node that hands its first input on, as Identity does: its readers read that input,
  // and wait for what the node waited for.
  Error bypass(int id);

  // --- the result ------------------------------------------------------------------------------
  // Hand over the bytes of the edited GraphDef in consecutive pieces: use(std::string_view).
  template <class Use>
  void write(Use use) const;
  std::string serialize() const {
    std::string out;
    write([&](std::string_view piece) { out.append(piece); });
    return out;
  }

 private:
  struct Attr {
    std::string_view name;
    std::string_view value;
    std::string_view raw;  // the entry as it was; empty once the attribute is set again
  };
  // A changed or added node. Views lead into the graph's bytes or into kept_.
  struct Draft {
    std::string_view name;
    std::string_view op;
    std::string_view device;
    std::vector<TensorId> inputs;
    std::vector<std::int32_t> edges;  // numbers in links_, parallel to inputs
    std::vector<Attr> attrs;
    std::vector<std::string_view> others;  // fields that are none of the above, verbatim
    bool removed = false;
  };

  static std::size_t index(int id) { return static_cast<std::size_t>(id); }
  const Draft* draft(int id) const {
    const std::int32_t at = draft_of_[index(id)];
    return at < 0 ? nullptr : &drafts_[static_cast<std::size_t>(at)];
  }
  std::string_view keep(std::string_view text) { return kept_.emplace_back(text); }
  std::string described(int id) const { return "node " + quoted(name(id)); }

  Error check_alive(int id) const;
  Error check_inputs(std::string_view name, Span<const TensorId> inputs) const;
  Draft& touch(int id);
  void link_everything();
  void set_source(Draft* draft, int id, std::size_t input, TensorId source);
  void replace_inputs(Draft* draft, int id, Span<const TensorId> inputs);
  void set_attr_of(Draft* draft, std::string_view name, std::string_view value);
  bool reads_control(int id, int from) const;
  Error check_bypass(int id, TensorId source) const;
  Error bypass_for(int consumer, int id);
  void write_draft(const Draft& draft, std::string* out) const;

  const GraphView* view_;
  std::vector<std::int32_t> draft_of_;
  std::deque<Draft> drafts_;
  std::deque<std::string> kept_;
  std::unordered_map<std::string_view, std::int32_t> names_;  // changed since the view; -1 is gone
  std::unordered_set<std::string_view> protected_;
  Links links_;
};

}  // namespace drystone::sdk

#include "drystone/sdk/graph_edit_impl.hpp"

#endif  // DRYSTONE_SDK_GRAPH_EDIT_HPP_
