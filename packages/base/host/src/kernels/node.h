// A node and the definition of its op, as a kernel's construction needs them.
#ifndef DRYSTONE_HOST_KERNELS_NODE_H_
#define DRYSTONE_HOST_KERNELS_NODE_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "drystone/sdk/op_def.hpp"

namespace drystone::host::kernels {

// An argument of the op, and which of the node's tensors belong to it: [start, stop).
struct Range {
  std::string name;
  int start = 0;
  int stop = 0;
};

// The node's inputs, or its outputs.
struct Signature {
  std::vector<Range> ranges;
  std::vector<TF_DataType> types;  // one per tensor, without the mark of references
  std::vector<unsigned char> is_ref;

  int size() const { return static_cast<int>(types.size()); }
  const Range* range(std::string_view name) const;
};

class Node {
 public:
  // Bytes of a NodeDef and of its op's OpDef; "" for the latter looks the op up. Fails with
  // INVALID_ARGUMENT for malformed bytes and NOT_FOUND for an unknown op.
  Node(std::string_view node_def, std::string_view op_def);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  std::string_view name() const { return view_.name(); }
  std::string_view op() const { return view_.op(); }
  std::string_view bytes() const { return node_def_; }
  // Whether its op has effects, or gives other values when it runs again.
  bool is_stateful() const;
  const std::vector<std::string_view>& inputs() const { return inputs_; }

  // The node's attribute, or else the op's default; not present() without either.
  sdk::AttrView attr(std::string_view name) const;

  // Which tensors go in and come out. Fails with INVALID_ARGUMENT when an attribute that says so is
  // missing or absurd.
  Signature input_signature() const { return expand(op_view_.inputs()); }
  Signature output_signature() const { return expand(op_view_.outputs()); }

 private:
  Signature expand(const std::vector<sdk::ArgView>& args) const;
  std::vector<TF_DataType> types_of(const sdk::ArgView& arg) const;
  TF_DataType type_attr(std::string_view name) const;
  [[noreturn]] void bad_attr(std::string_view name, const char* needed) const;

  std::string node_def_;
  std::string op_def_;
  sdk::NodeView view_;
  sdk::OpDefView op_view_;
  std::vector<std::string_view> inputs_;
  std::map<std::string_view, sdk::AttrView> attrs_;
};

// The OpDef bytes a caller gave, or else the registered ones of `op`.
std::string op_def_for(std::string_view op, std::string_view given);

}  // namespace drystone::host::kernels

#endif  // DRYSTONE_HOST_KERNELS_NODE_H_
