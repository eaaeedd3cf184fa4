// Nodes and tensors of a GraphDef, as views of its bytes.
//
// Since ABI 1.0. Views own nothing and live as long as the bytes they were made of.
#ifndef DRYSTONE_SDK_NODE_HPP_
#define DRYSTONE_SDK_NODE_HPP_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drystone/sdk/attr.hpp"
#include "drystone/sdk/error.hpp"
#include "drystone/sdk/wire.hpp"

namespace drystone::sdk {

// The port of a control edge.
constexpr std::int32_t kControl = -1;

// One output of a node, or (port kControl) the node having run.
struct TensorId {
  std::int32_t node = -1;
  std::int32_t port = 0;

  bool control() const { return port == kControl; }
  friend bool operator==(TensorId a, TensorId b) { return a.node == b.node && a.port == b.port; }
  friend bool operator!=(TensorId a, TensorId b) { return !(a == b); }
};

// One reader of a node: its fan-in number `input`.
struct Edge {
  std::int32_t consumer = -1;
  std::int32_t input = 0;

  friend bool operator==(Edge a, Edge b) { return a.consumer == b.consumer && a.input == b.input; }
};

// An input string taken apart: "name", "name:3" or "^name".
struct InputName {
  std::string_view node;
  std::int32_t port = 0;
  bool ok = false;
};

inline InputName parse_input(std::string_view text) {
  if (!text.empty() && text.front() == '^') return {text.substr(1), kControl, text.size() > 1};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {text, 0, !text.empty()};
  const std::string_view digits = text.substr(colon + 1);
  std::int64_t port = 0;
  for (char c : digits) {
    if (c < '0' || c > '9' || port > INT32_MAX) return {};
    port = port * 10 + (c - '0');
  }
  if (digits.empty() || colon == 0 || port > INT32_MAX) return {};
  return {text.substr(0, colon), static_cast<std::int32_t>(port), true};
}

// Whether a node may be called so: other names could not be told apart from ports and control edges.
inline bool is_node_name(std::string_view name) {
  return !name.empty() && name.front() != '^' && name.find(':') == std::string_view::npos;
}

inline std::string input_text(std::string_view node, std::int32_t port) {
  if (port == kControl) return "^" + std::string(node);
  return port == 0 ? std::string(node) : std::string(node) + ":" + std::to_string(port);
}

// Whether the reader stands on a length-delimited field of that number; any other wire type makes
// it an unknown field, which is kept but not read.
inline bool is_bytes(const wire::Reader& fields, std::uint32_t number) {
  return fields.field() == number && fields.type() == wire::Type::bytes;
}

// One entry of a map<string, AttrValue>: false when the bytes are malformed.
inline bool parse_attr_entry(std::string_view entry, std::string_view* name,
                             std::string_view* value) {
  wire::Reader fields(entry);
  while (fields.next()) {
    if (is_bytes(fields, 1)) *name = fields.bytes();
    if (is_bytes(fields, 2)) *value = fields.bytes();
  }
  return fields.ok();
}

// The bytes of one NodeDef. Names are read when the view is made, everything else when asked for.
class NodeView {
 public:
  NodeView() = default;
  explicit NodeView(std::string_view proto) : NodeView(proto, [](std::string_view) {}) {}
  // The same, calling `use_input` with each input string on the way.
  template <class UseInput>
  NodeView(std::string_view proto, UseInput use_input) : proto_(proto) {
    wire::Reader fields(proto);
    while (fields.next()) {
      if (fields.type() != wire::Type::bytes) continue;
      switch (fields.field()) {
        case 1: name_ = fields.bytes(); break;
        case 2: op_ = fields.bytes(); break;
        case 3: use_input(fields.bytes()); break;
        case 4: device_ = fields.bytes(); break;
        default: break;
      }
    }
    well_formed_ = fields.ok();
  }

  bool ok() const { return well_formed_; }
  std::string_view name() const { return name_; }
  std::string_view op() const { return op_; }
  std::string_view device() const { return device_; }
  std::string_view bytes() const { return proto_; }

  // The input strings, control inputs included.
  std::vector<std::string_view> inputs() const {
    std::vector<std::string_view> out;
    wire::Reader fields(proto_);
    while (fields.next()) {
      if (is_bytes(fields, 3)) out.push_back(fields.bytes());
    }
    return out;
  }

  // An attribute; not present() when the node has none of that name. The last of several counts.
  AttrView attr(std::string_view wanted) const {
    AttrView out;
    wire::Reader fields(proto_);
    while (fields.next()) {
      if (!is_bytes(fields, 5)) continue;
      std::string_view name;
      std::string_view value;
      if (parse_attr_entry(fields.bytes(), &name, &value) && name == wanted) out = AttrView(value);
    }
    return out;
  }

  // All attributes in the order of the bytes.
  std::vector<std::pair<std::string_view, AttrView>> attrs() const {
    std::vector<std::pair<std::string_view, AttrView>> out;
    wire::Reader fields(proto_);
    while (fields.next()) {
      if (!is_bytes(fields, 5)) continue;
      std::string_view name;
      std::string_view value;
      if (parse_attr_entry(fields.bytes(), &name, &value)) out.emplace_back(name, AttrView(value));
    }
    return out;
  }

 private:
  std::string_view proto_;
  std::string_view name_;
  std::string_view op_;
  std::string_view device_;
  bool well_formed_ = false;
};

}  // namespace drystone::sdk

#endif  // DRYSTONE_SDK_NODE_HPP_
