// Definitions of GraphEdit; include graph_edit.hpp.
#ifndef DRYSTONE_SDK_GRAPH_EDIT_IMPL_HPP_
#define DRYSTONE_SDK_GRAPH_EDIT_IMPL_HPP_

#include <algorithm>

#include "drystone/sdk/graph_edit.hpp"

namespace drystone::sdk {

// --- reading -------------------------------------------------------------------------------------

inline AttrView GraphEdit::attr(int id, std::string_view wanted) const {
  const Draft* own = draft(id);
  if (own == nullptr) return view_->attr(id, wanted);
  for (auto one = own->attrs.rbegin(); one != own->attrs.rend(); ++one) {
    if (one->name == wanted) return AttrView(one->value);
  }
  return {};
}

inline int GraphEdit::find(std::string_view name) const {
  const auto changed = names_.find(name);
  return changed != names_.end() ? changed->second : view_->find(name);
}

inline Span<const TensorId> GraphEdit::regular_fan_ins(int id) const {
  const Span<const TensorId> all = fan_ins(id);
  std::size_t data = all.size();
  while (data > 0 && all[data - 1].control()) --data;
  return all.part(0, data);
}

inline Span<const TensorId> GraphEdit::control_fan_ins(int id) const {
  return fan_ins(id).part(regular_fan_ins(id).size(), fan_ins(id).size());
}

inline std::vector<Edge> GraphEdit::fan_outs(int id) const {
  if (links_.nodes() != 0) return links_.edges(id);
  const Span<const Edge> all = view_->fan_outs(id);
  return {all.begin(), all.end()};
}

inline std::string GraphEdit::unused_name(std::string_view wanted) const {
  std::string out(wanted);
  for (int n = 1; find(out) >= 0; ++n) out = std::string(wanted) + "_" + std::to_string(n);
  return out;
}

// --- checks --------------------------------------------------------------------------------------

inline Error GraphEdit::check_alive(int id) const {
  if (alive(id)) return {};
  return invalid_argument("node number " + std::to_string(id) + " is not in the graph");
}

inline Error GraphEdit::check_inputs(std::string_view name, Span<const TensorId> inputs) const {
  bool control = false;
  for (TensorId source : inputs) {
    if (!alive(source.node) || source.port < kControl) {
      return invalid_argument("node " + quoted(name) + " would read what is not in the graph");
    }
    if (control && !source.control()) {
      return invalid_argument("node " + quoted(name) + " would have data after a control input");
    }
    control = source.control();
  }
  return {};
}

// --- drafts --------------------------------------------------------------------------------------

inline void GraphEdit::link_everything() {
  if (links_.nodes() != 0) return;
  for (int id = 0; id < view_->size(); ++id) links_.add_node();
  // In order, so that the edge of fan-in number i of a node is the number of its source.
  for (int id = 0; id < view_->size(); ++id) {
    std::int32_t input = 0;
    for (TensorId source : view_->fan_ins(id)) links_.attach(source.node, {id, input++});
  }
}

inline GraphEdit::Draft& GraphEdit::touch(int id) {
  link_everything();
  if (draft_of_[index(id)] >= 0) return drafts_[index(draft_of_[index(id)])];
  draft_of_[index(id)] = static_cast<std::int32_t>(drafts_.size());
  Draft& out = drafts_.emplace_back();
  const GraphView::Record& record = view_->nodes_[index(id)];
  out.name = record.view.name();
  out.op = record.view.op();
  out.device = record.view.device();
  for (std::uint32_t i = 0; i < record.inputs; ++i) {
    out.inputs.push_back(view_->sources_[record.first + i]);
    out.edges.push_back(static_cast<std::int32_t>(record.first + i));
  }
  wire::Reader fields(record.view.bytes());
  while (fields.next()) {
    Attr one;
    one.raw = fields.raw();
    if (is_bytes(fields, 5) && parse_attr_entry(fields.bytes(), &one.name, &one.value)) {
      out.attrs.push_back(one);
    } else if (fields.field() > 4 || fields.type() != wire::Type::bytes) {
      out.others.push_back(fields.raw());
    }
  }
  return out;
}

inline void GraphEdit::set_source(Draft* draft, int id, std::size_t input, TensorId source) {
  links_.detach(draft->inputs[input].node, draft->edges[input]);
  draft->inputs[input] = source;
  draft->edges[input] = links_.attach(source.node, {id, static_cast<std::int32_t>(input)});
}

inline void GraphEdit::replace_inputs(Draft* draft, int id, Span<const TensorId> inputs) {
  const std::vector<TensorId> fresh(inputs.begin(), inputs.end());  // may be a part of the old ones
  for (std::size_t i = 0; i < draft->inputs.size(); ++i) {
    links_.detach(draft->inputs[i].node, draft->edges[i]);
  }
  draft->inputs = fresh;
  draft->edges.clear();
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    draft->edges.push_back(links_.attach(fresh[i].node, {id, static_cast<std::int32_t>(i)}));
  }
}

inline void GraphEdit::set_attr_of(Draft* draft, std::string_view name, std::string_view value) {
  const Attr fresh = {keep(name), keep(value), {}};
  bool placed = false;
  std::vector<Attr> attrs;
  for (const Attr& one : draft->attrs) {
    if (one.name != name) {
      attrs.push_back(one);
    } else if (!placed) {
      attrs.push_back(fresh);
      placed = true;
    }
  }
  if (!placed) attrs.push_back(fresh);
  draft->attrs = std::move(attrs);
}

// --- changing ------------------------------------------------------------------------------------

inline Result<int> GraphEdit::add(const NewNode& node) {
  if (!is_node_name(node.name())) {
    return invalid_argument(quoted(node.name()) + " is no name for a node");
  }
  if (find(node.name()) >= 0) {
    return Error(TF_ALREADY_EXISTS, "the graph has a node named " + quoted(node.name()));
  }
  Error error = check_inputs(node.name(), node.inputs());
  if (!error.ok()) return error;
  link_everything();
  const int id = size();
  draft_of_.push_back(static_cast<std::int32_t>(drafts_.size()));
  links_.add_node();
  Draft& own = drafts_.emplace_back();
  own.name = keep(node.name());
  own.op = keep(node.op());
  own.device = keep(node.device());
  replace_inputs(&own, id, node.inputs());
  for (const auto& [name, value] : node.attrs()) set_attr_of(&own, name, value);
  names_[own.name] = id;
  return id;
}

inline Error GraphEdit::replace(int id, const NewNode& node) {
  if (Error error = check_alive(id); !error.ok()) return error;
  if (Error error = check_inputs(name(id), node.inputs()); !error.ok()) return error;
  Draft& own = touch(id);
  own.op = keep(node.op());
  own.device = keep(node.device());
  replace_inputs(&own, id, node.inputs());
  own.attrs.clear();
  for (const auto& [name, value] : node.attrs()) set_attr_of(&own, name, value);
  return {};
}

inline Error GraphEdit::remove_all(const std::vector<int>& ids) {
  const std::unordered_set<int> gone(ids.begin(), ids.end());
  for (int id : ids) {
    if (Error error = check_alive(id); !error.ok()) return error;
    if (is_protected(id)) {
      return failed_precondition(described(id) + " is to be preserved and cannot be removed");
    }
    for (Edge edge : fan_outs(id)) {
      if (gone.count(edge.consumer) != 0) continue;
      return failed_precondition(described(id) + " cannot be removed: " +
                                 described(edge.consumer) + " reads it");
    }
  }
  for (int id : gone) {
    Draft& own = touch(id);
    replace_inputs(&own, id, {});
    own.removed = true;
    names_[own.name] = -1;
  }
  return {};
}

inline Error GraphEdit::rename(int id, std::string_view name) {
  if (Error error = check_alive(id); !error.ok()) return error;
  if (name == this->name(id)) return {};
  if (is_protected(id)) {
    return failed_precondition(described(id) + " is to be preserved and cannot be renamed");
  }
  if (!is_node_name(name)) return invalid_argument(quoted(name) + " is no name for a node");
  if (find(name) >= 0) {
    return Error(TF_ALREADY_EXISTS, "the graph has a node named " + quoted(name));
  }
  for (Edge edge : fan_outs(id)) touch(edge.consumer);  // their input strings are written again
  Draft& own = touch(id);
  names_[own.name] = -1;
  own.name = keep(name);
  names_[own.name] = id;
  return {};
}

inline Error GraphEdit::set_op(int id, std::string_view op) {
  if (Error error = check_alive(id); !error.ok()) return error;
  touch(id).op = keep(op);
  return {};
}

inline Error GraphEdit::set_device(int id, std::string_view device) {
  if (Error error = check_alive(id); !error.ok()) return error;
  touch(id).device = keep(device);
  return {};
}

inline Error GraphEdit::set_attr(int id, std::string_view name, std::string_view value) {
  if (Error error = check_alive(id); !error.ok()) return error;
  set_attr_of(&touch(id), name, value);
  return {};
}

inline Error GraphEdit::remove_attr(int id, std::string_view name) {
  if (Error error = check_alive(id); !error.ok()) return error;
  if (!attr(id, name).present()) return {};
  std::vector<Attr> rest;
  Draft& own = touch(id);
  for (const Attr& one : own.attrs) {
    if (one.name != name) rest.push_back(one);
  }
  own.attrs = std::move(rest);
  return {};
}

inline Error GraphEdit::set_inputs(int id, const std::vector<TensorId>& inputs) {
  if (Error error = check_alive(id); !error.ok()) return error;
  if (Error error = check_inputs(name(id), inputs); !error.ok()) return error;
  replace_inputs(&touch(id), id, inputs);
  return {};
}

inline Error GraphEdit::set_input(int id, int input, TensorId source) {
  if (Error error = check_alive(id); !error.ok()) return error;
  const Span<const TensorId> all = fan_ins(id);
  if (input < 0 || index(input) >= all.size()) {
    return invalid_argument(described(id) + " has no input " + std::to_string(input));
  }
  std::vector<TensorId> inputs(all.begin(), all.end());
  inputs[index(input)] = source;
  if (Error error = check_inputs(name(id), inputs); !error.ok()) return error;
  set_source(&touch(id), id, index(input), source);
  return {};
}

inline Error GraphEdit::add_control(int id, int from) {
  if (Error error = check_alive(id); !error.ok()) return error;
  const Span<const TensorId> all = fan_ins(id);
  for (TensorId source : all) {
    if (source.node == from) return {};
  }
  std::vector<TensorId> inputs(all.begin(), all.end());
  inputs.push_back({from, kControl});
  return set_inputs(id, inputs);
}

inline bool GraphEdit::reads_control(int id, int from) const {
  const Span<const TensorId> waits = control_fan_ins(id);
  return std::any_of(waits.begin(), waits.end(), [from](TensorId one) { return one.node == from; });
}

inline Error GraphEdit::remove_control(int id, int from) {
  if (Error error = check_alive(id); !error.ok()) return error;
  std::vector<TensorId> inputs;
  for (TensorId source : fan_ins(id)) {
    if (source != TensorId{from, kControl}) inputs.push_back(source);
  }
  return inputs.size() == fan_ins(id).size() ? Error() : set_inputs(id, inputs);
}

inline Error GraphEdit::redirect(TensorId from, TensorId to) {
  if (Error error = check_alive(from.node); !error.ok()) return error;
  if (Error error = check_alive(to.node); !error.ok()) return error;
  if (from.control() != to.control() || from.port < kControl || to.port < kControl) {
    return invalid_argument("an edge from " + described(from.node) + " cannot become one from " +
                            described(to.node) + ": one is data, the other control");
  }
  if (from == to) return {};
  for (Edge edge : fan_outs(from.node)) {
    if (edge.consumer == to.node) continue;
    if (from.control()) {
      if (!reads_control(edge.consumer, from.node)) continue;
      if (Error error = remove_control(edge.consumer, from.node); !error.ok()) return error;
      if (Error error = add_control(edge.consumer, to.node); !error.ok()) return error;
    } else if (source(edge) == from) {
      set_source(&touch(edge.consumer), edge.consumer, index(edge.input), to);
    }
  }
  return {};
}

inline Error GraphEdit::check_bypass(int id, TensorId source) const {
  if (is_protected(id)) {
    return failed_precondition(described(id) + " is to be preserved and cannot be bypassed");
  }
  const bool from_switch = op(source.node) == "Switch" || op(source.node) == "RefSwitch";
  for (Edge edge : fan_outs(id)) {
    const TensorId read = this->source(edge);
    if (edge.consumer == id) return failed_precondition(described(id) + " reads itself");
    if (read.port > 0) {
      return failed_precondition(described(id) + " has more than one output that is read");
    }
    if (from_switch && (read.control() || !control_fan_ins(id).empty())) {
      return failed_precondition(described(id) + " anchors control edges to one side of " +
                                 described(source.node));
    }
  }
  return {};
}

inline Error GraphEdit::bypass_for(int consumer, int id) {
  const TensorId source = regular_fan_ins(id)[0];
  std::vector<TensorId> inputs;
  std::vector<int> waits;
  for (TensorId read : fan_ins(consumer)) {
    if (read.node != id) inputs.push_back(read);
    if (read == TensorId{id, 0}) inputs.push_back(source);
    if (read == TensorId{id, kControl}) waits.push_back(source.node);
  }
  for (TensorId read : fan_ins(id).part(1, fan_ins(id).size())) waits.push_back(read.node);
  if (Error error = set_inputs(consumer, inputs); !error.ok()) return error;
  for (int node : waits) {
    if (Error error = add_control(consumer, node); !error.ok()) return error;
  }
  return {};
}

inline Error GraphEdit::bypass(int id) {
  if (Error error = check_alive(id); !error.ok()) return error;
  if (regular_fan_ins(id).empty()) {
    return failed_precondition(described(id) + " has no input to hand on");
  }
  if (Error error = check_bypass(id, regular_fan_ins(id)[0]); !error.ok()) return error;
  for (Edge edge : fan_outs(id)) {
    // A consumer of several edges is done with its first one.
    const Span<const TensorId> reads = fan_ins(edge.consumer);
    const bool due = std::any_of(reads.begin(), reads.end(),
                                 [id](TensorId read) { return read.node == id; });
    if (!due) continue;
    if (Error error = bypass_for(edge.consumer, id); !error.ok()) return error;
  }
  return remove(id);
}

// --- writing -------------------------------------------------------------------------------------

inline void GraphEdit::write_draft(const Draft& draft, std::string* out) const {
  std::string node;
  wire::Writer writer(&node);
  writer.bytes(1, draft.name);
  if (!draft.op.empty()) writer.bytes(2, draft.op);
  for (TensorId source : draft.inputs) writer.bytes(3, input_text(name(source.node), source.port));
  if (!draft.device.empty()) writer.bytes(4, draft.device);
  for (const Attr& one : draft.attrs) {
    if (!one.raw.empty()) {
      writer.raw(one.raw);
      continue;
    }
    std::string entry;
    wire::Writer(&entry).bytes(1, one.name);
    wire::Writer(&entry).bytes(2, one.value);
    writer.bytes(5, entry);
  }
  for (std::string_view field : draft.others) writer.raw(field);
  wire::Writer(out).bytes(1, node);
}

template <class Use>
void GraphEdit::write(Use use) const {
  std::string_view same;  // bytes of the view that are due, in one piece
  std::string node;
  int id = 0;
  wire::Reader fields(view_->bytes());
  while (fields.next()) {
    const bool is_node = is_bytes(fields, 1);
    const Draft* own = is_node ? draft(id) : nullptr;
    id += is_node ? 1 : 0;
    if (own == nullptr) {
      same = same.empty() ? fields.raw()
                          : std::string_view(same.data(), same.size() + fields.raw().size());
      continue;
    }
    if (!same.empty()) use(same);
    same = {};
    node.clear();
    if (!own->removed) write_draft(*own, &node);
    if (!node.empty()) use(std::string_view(node));
  }
  if (!same.empty()) use(same);
  for (; id < size(); ++id) {
    node.clear();
    if (!draft(id)->removed) write_draft(*draft(id), &node);
    if (!node.empty()) use(std::string_view(node));
  }
}

}  // namespace drystone::sdk

#endif  // DRYSTONE_SDK_GRAPH_EDIT_IMPL_HPP_
