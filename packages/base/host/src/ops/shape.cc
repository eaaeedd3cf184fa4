// Nodes and contexts of shape inference.
#include "ops/shape.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "core/failure.h"
#include "drystone/sdk/wire.hpp"
#include "ops/attr_value.h"

namespace drystone::host::ops {
namespace {

constexpr std::size_t kMaxTensors = 1 << 20;  // of one node

// Contexts of shape functions that run now, on any thread.
struct Running {
  std::mutex lock;
  std::set<const TF_ShapeInferenceContext*> contexts;
};

Running& running() {
  static auto& all = *new Running;
  return all;
}

thread_local TF_ShapeInferenceContext* innermost = nullptr;

void parse_attr(std::string_view entry, NodeAttrs& attrs) {
  std::string_view name;
  std::string_view value;
  wire::Reader in(entry);
  while (in.next()) {
    if (in.field() == 1) name = in.bytes();
    if (in.field() == 2) value = in.bytes();
  }
  if (!in.ok()) fail(TF_INVALID_ARGUMENT, "malformed bytes of an attribute of a NodeDef");
  attrs.values.emplace_back(name, value);
}

AttrValue needed(const OpDef& def, const NodeAttrs& attrs, const std::string& name,
                 std::string_view type) {
  AttrValue value = decode_value(attrs.find(def, name));
  const bool empty_list = value.type == "list" && type.starts_with("list(");
  if (value.type != type && !empty_list) {
    fail(TF_INVALID_ARGUMENT, "node '" + attrs.node + "' (" + def.name +
                                  ") needs attribute '" + name + "' of type " + std::string(type));
  }
  return value;
}

std::size_t count_one(const OpDef& def, const ArgDef& arg, const NodeAttrs& attrs) {
  if (!arg.type_list_attr.empty()) {
    return needed(def, attrs, arg.type_list_attr, "list(type)").length;
  }
  if (arg.number_attr.empty()) return 1;
  const std::int64_t count = needed(def, attrs, arg.number_attr, "int").numbers[0];
  if (count < 0 || count > static_cast<std::int64_t>(kMaxTensors)) {
    fail(TF_INVALID_ARGUMENT, "node '" + attrs.node + "' (" + def.name + ") has the length " +
                                  std::to_string(count) + " in attribute '" + arg.number_attr +
                                  "'");
  }
  return static_cast<std::size_t>(count);
}

}  // namespace

std::string_view NodeAttrs::find(const OpDef& def, std::string_view name) const {
  for (auto entry = values.rbegin(); entry != values.rend(); ++entry) {  // the last one counts
    if (entry->first == name) return entry->second;
  }
  const AttrDef* attr = def.attr(name);
  return attr == nullptr || !attr->default_value ? std::string_view() : *attr->default_value;
}

bool Shape::agrees_with(const Shape& other) const {
  if (!known || !other.known) return true;
  const auto agree = [](std::int64_t a, std::int64_t b) { return a < 0 || b < 0 || a == b; };
  return std::ranges::equal(dims, other.dims, agree);
}

std::string to_text(const Shape& shape) {
  if (!shape.known) return "?";
  std::string out;
  for (const std::int64_t dim : shape.dims) out += (out.empty() ? "" : ", ") + (dim < 0 ? "?" : std::to_string(dim));
  return "[" + out + "]";
}

NodeAttrs parse_node(std::string_view node_def) {
  NodeAttrs attrs;
  wire::Reader in(node_def);
  while (in.next()) {
    if (in.field() == 1) attrs.node = in.bytes();
    if (in.field() == 5) parse_attr(in.bytes(), attrs);
  }
  if (!in.ok()) fail(TF_INVALID_ARGUMENT, "malformed bytes of a NodeDef");
  return attrs;
}

std::size_t count_tensors(const OpDef& def, const std::vector<ArgDef>& args,
                          const NodeAttrs& attrs) {
  std::size_t count = 0;
  for (const ArgDef& arg : args) count += count_one(def, arg, attrs);
  if (count > kMaxTensors) {
    fail(TF_INVALID_ARGUMENT, "node '" + attrs.node + "' (" + def.name + ") has " +
                                  std::to_string(count) + " inputs or outputs");
  }
  return count;
}

Handles<TF_ShapeHandle>& shape_handles() {
  static auto& all = *new Handles<TF_ShapeHandle>("shape handle");
  return all;
}

Handles<TF_DimensionHandle>& dimension_handles() {
  static auto& all = *new Handles<TF_DimensionHandle>("dimension handle");
  return all;
}

std::recursive_mutex& calls_lock() {
  static auto& only = *new std::recursive_mutex;  // plugins' threads may outlive main
  return only;
}

TF_ShapeInferenceContext& live_context(TF_ShapeInferenceContext* context) {
  const std::lock_guard guard(running().lock);
  if (!running().contexts.contains(context)) {
    fail(TF_INVALID_ARGUMENT,
         context == nullptr ? "the shape inference context must not be NULL"
                            : "the shape inference context is valid only in its shape function");
  }
  return *context;
}

TF_ShapeInferenceContext* running_context() noexcept { return innermost; }

ContextScope::ContextScope(TF_ShapeInferenceContext* context)
    : context_(context), before_(std::exchange(innermost, context)) {
  const std::lock_guard guard(running().lock);
  running().contexts.insert(context);
}

ContextScope::~ContextScope() { end(); }

std::size_t ContextScope::end() noexcept {
  if (context_ == nullptr) return 0;
  innermost = before_;
  TF_ShapeInferenceContext* ended = std::exchange(context_, nullptr);
  return answered<std::size_t>(0, [&] {
    const std::lock_guard alone(calls_lock());
    const std::lock_guard guard(running().lock);
    running().contexts.erase(ended);
    return shape_handles().remove_all_of(ended) + dimension_handles().remove_all_of(ended);
  });
}

}  // namespace drystone::host::ops
