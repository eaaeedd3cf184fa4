#include "rules.h"

#include <map>

namespace drystone::gpu {
namespace {

const std::map<std::string_view, Rule>& all_rules() {
  static const std::map<std::string_view, Rule> found = [] {
    std::map<std::string_view, Rule> all;
    for (const Rule& rule : every_rule()) all.emplace(rule.op, rule);
    return all;
  }();
  return found;
}

bool allows(unsigned types, Type type) {
  switch (type) {
    case Type::f32:
    case Type::f16:
    case Type::bf16: return (types & kFloats) != 0;
    case Type::i32:
    case Type::i64: return (types & kWhole) != 0;
    case Type::b8: return (types & kBool) != 0;
    case Type::u8: return (types & kByte) != 0;
    default: return false;
  }
}

// Attributes that name the type of indices and shapes, whatever the op computes with.
bool is_of_shapes(std::string_view name) {
  if (name.substr(0, 1) == "T") return name.size() > 1 && name != "Tparams";
  return name == "Index" || name == "out_type" || name == "output_type" || name == "index_type";
}

}  // namespace

std::vector<Rule> every_rule() {
  std::vector<Rule> all;
  for (const auto& family :
       {elementwise_rules(), shape_rules(), moving_rules(), joining_rules(), layer_rules(),
        product_rules(), window_gradient_rules(), gradient_rules(), normalization_rules()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

const Rule* rule_of(const sdk::NodeView& node, std::string* why) {
  const auto at = all_rules().find(node.op());
  if (at == all_rules().end()) {
    *why = "no kernel of the GPU computes " + std::string(node.op());
    return nullptr;
  }
  const Rule& rule = at->second;
  for (const auto& [name, attr] : node.attrs()) {
    const auto dtype = attr.type();
    if (!dtype.has_value() || name.substr(0, 1) == "_") continue;
    if (!allows(is_of_shapes(name) ? kAny : rule.types, type_of(*dtype))) {
      *why = std::string(node.op()) + " is not computed in this type";
      return nullptr;
    }
  }
  if (rule.check != nullptr) *why = rule.check(node);
  return why->empty() ? &rule : nullptr;
}

int Building::number(Type type, double value) {
  std::int64_t bits = 0;
  if (is_float(type)) {
    store(&bits, type, 0, static_cast<float>(value));
  } else {
    store(&bits, type, 0, static_cast<std::int64_t>(value));
  }
  return graph.add_constant(type, {}, &bits);
}

int Building::compute(Code code, std::vector<int> operands, Type type, float number) {
  std::vector<Dims> shapes;
  for (int k : operands) shapes.push_back(graph.at(k).dims);
  Elementwise detail;
  const auto last = [&](std::size_t k) {
    return static_cast<std::uint8_t>(k < operands.size() ? k : 0);
  };
  detail.whole = !is_float(type);
  for (int k : operands) detail.whole = detail.whole && !is_float(graph.at(k).type);
  detail.code.push_back({code, last(0), last(1), last(2), number});
  if (detail.whole && type == Type::i32) {
    const auto made = static_cast<std::uint8_t>(operands.size());
    detail.code.push_back({Code::wrap32, made, 0, 0, 0.0f});
  }
  Dims dims = broadcast(shapes);
  return graph.add(std::move(detail), std::move(operands), type, std::move(dims));
}

}  // namespace drystone::gpu
