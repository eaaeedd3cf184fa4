// Nodes and their signatures: see kernels/node.h.
#include "kernels/node.h"

#include <optional>

#include "core/failure.h"
#include "core/quoted.h"
#include "core/tensor.h"
#include "drystone/sdk/wire.hpp"
#include "ops/registry.h"

namespace drystone::host::kernels {
namespace {

constexpr std::int64_t kMostTensors = 1 << 20;

}  // namespace

const Range* Signature::range(std::string_view name) const {
  for (const Range& range : ranges) {
    if (range.name == name) return &range;
  }
  return nullptr;
}

std::string op_def_for(std::string_view op, std::string_view given) {
  if (!given.empty()) return std::string(given);
  if (auto registered = find_op_def(op)) return *std::move(registered);
  fail(TF_NOT_FOUND, "op " + quoted(op) + " is not registered; pass its OpDef");
}

Node::Node(std::string_view node_def, std::string_view op_def)
    : node_def_(node_def), view_(node_def_) {
  if (!view_.ok()) fail(TF_INVALID_ARGUMENT, "the NodeDef is malformed");
  if (view_.op().empty()) fail(TF_INVALID_ARGUMENT, "the NodeDef names no op");
  op_def_ = op_def_for(view_.op(), op_def);
  op_view_ = sdk::OpDefView(op_def_);
  if (!op_view_.ok()) fail(TF_INVALID_ARGUMENT, "the OpDef is malformed");
  if (op_view_.name() != view_.op()) {
    fail(TF_INVALID_ARGUMENT, "node " + quoted(view_.name()) + " has op " + quoted(view_.op()) +
                                  ", the OpDef is that of " + quoted(op_view_.name()));
  }
  inputs_ = view_.inputs();
  for (const sdk::AttrDefView& attr : op_view_.attrs()) {
    if (attr.standard.present()) attrs_[attr.name] = attr.standard;
  }
  for (const auto& [name, value] : view_.attrs()) attrs_[name] = value;
}

sdk::AttrView Node::attr(std::string_view name) const {
  const auto found = attrs_.find(name);
  return found == attrs_.end() ? sdk::AttrView() : found->second;
}

void Node::bad_attr(std::string_view name, const char* needed) const {
  fail(TF_INVALID_ARGUMENT, "node " + quoted(view_.name()) + ": attribute " + quoted(name) +
                                " of op " + quoted(view_.op()) + " must be " + needed);
}

TF_DataType Node::type_attr(std::string_view name) const {
  const auto type = attr(name).type();
  if (!type || stored_size(*type) == 0) bad_attr(name, "a dtype");
  return *type;
}

std::vector<TF_DataType> Node::types_of(const sdk::ArgView& arg) const {
  if (!arg.type_list_attr.empty()) {
    const sdk::AttrView list = attr(arg.type_list_attr);
    if (list.kind() != sdk::AttrKind::list) bad_attr(arg.type_list_attr, "a list of dtypes");
    std::vector<TF_DataType> types = list.types();
    for (const TF_DataType type : types) {
      if (stored_size(type) == 0) bad_attr(arg.type_list_attr, "a list of dtypes");
    }
    return types;
  }
  const TF_DataType type = arg.type_attr.empty() ? arg.type : type_attr(arg.type_attr);
  if (stored_size(type) == 0) {
    fail(TF_INVALID_ARGUMENT, "argument " + quoted(arg.name) + " of op " + quoted(view_.op()) +
                                  " has no dtype in the OpDef");
  }
  if (arg.number_attr.empty()) return {type};
  const auto number = attr(arg.number_attr).integer();
  if (!number || *number < 0 || *number > kMostTensors) {
    bad_attr(arg.number_attr, "a number of tensors");
  }
  return std::vector<TF_DataType>(static_cast<std::size_t>(*number), type);
}

bool Node::is_stateful() const {
  constexpr std::uint32_t kField = 17;  // OpDef.is_stateful
  wire::Reader r(op_def_);
  while (r.next()) {
    if (r.field() == kField) return r.boolean();
  }
  return false;
}

Signature Node::expand(const std::vector<sdk::ArgView>& args) const {
  Signature out;
  for (const sdk::ArgView& arg : args) {
    Range range{std::string(arg.name), out.size(), 0};
    for (const TF_DataType type : types_of(arg)) {
      out.types.push_back(type);
      out.is_ref.push_back(arg.is_ref ? 1 : 0);
    }
    range.stop = out.size();
    if (range.stop > kMostTensors) fail(TF_INVALID_ARGUMENT, "the node has too many tensors");
    out.ranges.push_back(std::move(range));
  }
  return out;
}

}  // namespace drystone::host::kernels
