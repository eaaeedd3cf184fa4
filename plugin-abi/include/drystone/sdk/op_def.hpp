// Op definitions and functions, as views of the bytes of an OpDef or a FunctionDef.
//
// Since ABI 1.0. Views own nothing and live as long as the bytes they were made of. The OpDef of a
// standard op comes from FunctionLibrary::op_def (functions.hpp); the functions of a graph from
// GraphView::functions().
#ifndef DRYSTONE_SDK_OP_DEF_HPP_
#define DRYSTONE_SDK_OP_DEF_HPP_

#include <string_view>
#include <utility>
#include <vector>

#include "drystone/datatype.h"
#include "drystone/sdk/node.hpp"

namespace drystone::sdk {

// One input or output of an op. Its dtype is `type`, or that of the attribute `type_attr`; with
// `number_attr` it stands for that many tensors, with `type_list_attr` for one of each dtype listed.
struct ArgView {
  std::string_view name;
  TF_DataType type = static_cast<TF_DataType>(0);
  std::string_view type_attr;
  std::string_view number_attr;
  std::string_view type_list_attr;
  bool is_ref = false;

  static ArgView parse(std::string_view proto) {
    ArgView out;
    wire::Reader fields(proto);
    while (fields.next()) {
      switch (fields.field()) {
        case 1: out.name = fields.bytes(); break;
        case 3: out.type = static_cast<TF_DataType>(fields.int32()); break;
        case 4: out.type_attr = fields.bytes(); break;
        case 5: out.number_attr = fields.bytes(); break;
        case 6: out.type_list_attr = fields.bytes(); break;
        case 16: out.is_ref = fields.boolean(); break;
        default: break;
      }
    }
    return out;
  }
};

// One attribute that an op declares; `standard` is not present() where there is no default.
struct AttrDefView {
  std::string_view name;
  std::string_view type;
  AttrView standard;
  AttrView allowed;

  static AttrDefView parse(std::string_view proto) {
    AttrDefView out;
    wire::Reader fields(proto);
    while (fields.next()) {
      switch (fields.field()) {
        case 1: out.name = fields.bytes(); break;
        case 2: out.type = fields.bytes(); break;
        case 3: out.standard = AttrView(fields.bytes()); break;
        case 7: out.allowed = AttrView(fields.bytes()); break;
        default: break;
      }
    }
    return out;
  }
};

class OpDefView {
 public:
  OpDefView() = default;
  explicit OpDefView(std::string_view proto) {
    wire::Reader fields(proto);
    while (fields.next()) {
      switch (fields.field()) {
        case 1: name_ = fields.bytes(); break;
        case 2: inputs_.push_back(ArgView::parse(fields.bytes())); break;
        case 3: outputs_.push_back(ArgView::parse(fields.bytes())); break;
        case 4: attrs_.push_back(AttrDefView::parse(fields.bytes())); break;
        case 17: stateful_ = fields.boolean(); break;
        case 18: commutative_ = fields.boolean(); break;
        default: break;
      }
    }
    well_formed_ = fields.ok();
  }

  bool ok() const { return well_formed_; }
  std::string_view name() const { return name_; }
  const std::vector<ArgView>& inputs() const { return inputs_; }
  const std::vector<ArgView>& outputs() const { return outputs_; }
  const std::vector<AttrDefView>& attrs() const { return attrs_; }
  bool stateful() const { return stateful_; }
  bool commutative() const { return commutative_; }

 private:
  std::string_view name_;
  std::vector<ArgView> inputs_;
  std::vector<ArgView> outputs_;
  std::vector<AttrDefView> attrs_;
  bool stateful_ = false;
  bool commutative_ = false;
  bool well_formed_ = false;
};

// One function of the graph's library. Inputs of its nodes are written "node:output:index" or as
// the name of an argument; results() maps each output of the signature to such an input.
class FunctionView {
 public:
  FunctionView() = default;
  explicit FunctionView(std::string_view proto) : proto_(proto) {
    wire::Reader fields(proto);
    while (fields.next()) {
      if (is_bytes(fields, 1)) signature_ = fields.bytes();
    }
    well_formed_ = fields.ok();
    wire::Reader name(signature_);
    while (name.next()) {
      if (is_bytes(name, 1)) name_ = name.bytes();
    }
  }

  bool ok() const { return well_formed_; }
  std::string_view name() const { return name_; }
  OpDefView signature() const { return OpDefView(signature_); }
  std::string_view bytes() const { return proto_; }

  std::vector<NodeView> nodes() const {
    std::vector<NodeView> out;
    wire::Reader fields(proto_);
    while (fields.next()) {
      if (is_bytes(fields, 3)) out.emplace_back(fields.bytes());
    }
    return out;
  }

  // An attribute of the function, such as "_noinline".
  AttrView attr(std::string_view wanted) const {
    AttrView out;
    wire::Reader fields(proto_);
    while (fields.next()) {
      std::string_view name;
      std::string_view value;
      if (is_bytes(fields, 5) && parse_attr_entry(fields.bytes(), &name, &value) &&
          name == wanted) {
        out = AttrView(value);
      }
    }
    return out;
  }

  // Output name of the signature, and where its value comes from.
  std::vector<std::pair<std::string_view, std::string_view>> results() const {
    std::vector<std::pair<std::string_view, std::string_view>> out;
    wire::Reader fields(proto_);
    while (fields.next()) {
      std::string_view name;
      std::string_view from;
      if (is_bytes(fields, 4) && parse_attr_entry(fields.bytes(), &name, &from)) {
        out.emplace_back(name, from);
      }
    }
    return out;
  }

 private:
  std::string_view proto_;
  std::string_view signature_;
  std::string_view name_;
  bool well_formed_ = false;
};

}  // namespace drystone::sdk

#endif  // DRYSTONE_SDK_OP_DEF_HPP_
