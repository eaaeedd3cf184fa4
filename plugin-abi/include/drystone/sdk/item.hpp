// What the host says about a graph beside its bytes: nodes to preserve, fetches, tensor properties, op
// definitions.
//
// Since ABI 1.0. Needs the host's optimizer functions. Everything here is valid during one call of
// optimize and must not be kept.
#ifndef DRYSTONE_SDK_ITEM_HPP_
#define DRYSTONE_SDK_ITEM_HPP_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "drystone/optimizer.h"
#include "drystone/sdk/buffer.hpp"
#include "drystone/sdk/error.hpp"
#include "drystone/sdk/op_def.hpp"
#include "drystone/sdk/shape.hpp"
#include "drystone/sdk/status.hpp"
#include "drystone/sdk/tensor_proto.hpp"

namespace drystone::sdk {

class Item {
 public:
  explicit Item(const TF_GrapplerItem* item) : item_(item) {}
  const TF_GrapplerItem* get() const { return item_; }

  // Names of nodes that must keep name and output: feeds, fetches, and what the caller asked for.
  Result<std::vector<std::string>> nodes_to_preserve() const {
    return names(TF_GetNodesToPreserveListSize, TF_GetNodesToPreserveList);
  }
  Result<std::vector<std::string>> fetches() const {
    return names(TF_GetFetchNodesListSize, TF_GetFetchNodesList);
  }

 private:
  template <class Size, class List>
  Result<std::vector<std::string>> names(Size size_of, List list_of) const {
    Status status;
    int count = 0;
    std::size_t bytes = 0;
    size_of(item_, &count, &bytes, status.get());
    if (Error error = status.take(); !error.ok()) return error;
    if (count <= 0) return std::vector<std::string>();
    std::vector<char*> values(static_cast<std::size_t>(count));
    std::vector<std::size_t> lengths(values.size());
    std::vector<char> storage(bytes + 1);
    list_of(item_, values.data(), lengths.data(), count, storage.data(), bytes, status.get());
    if (Error error = status.take(); !error.ok()) return error;
    std::vector<std::string> out;
    for (std::size_t i = 0; i < values.size(); ++i) out.emplace_back(values[i], lengths[i]);
    return out;
  }

  const TF_GrapplerItem* item_;
};

// Dtype, shape and, where it was asked for and is known, value of one tensor. Owns its bytes.
class TensorProperties {
 public:
  TensorProperties() = default;
  explicit TensorProperties(std::string_view proto) : proto_(proto) {
    wire::Reader fields(proto_);
    while (fields.next()) {
      if (fields.field() == 1) dtype_ = static_cast<TF_DataType>(fields.int32());
      if (fields.field() == 2) shape_ = Shape::parse(fields.bytes());
    }
  }

  // 0 where it is not known.
  TF_DataType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  // Not ok() where the value is not known. A view: it lives as long as these properties.
  TensorProtoView value() const {
    TensorProtoView out;
    wire::Reader fields(proto_);
    while (fields.next()) {
      if (is_bytes(fields, 3)) out = TensorProtoView(fields.bytes());
    }
    return out;
  }

 private:
  std::string proto_;
  Shape shape_;
  TF_DataType dtype_ = static_cast<TF_DataType>(0);
};

// What shape inference may assume and should deliver.
struct InferenceOptions {
  bool assume_valid_feeds = false;
  bool aggressive = false;
  bool input_values = false;
  bool output_values = false;
};

// Shapes and dtypes of the graph as it was handed over: ask before you edit, by the old names.
class GraphProperties {
 public:
  static Result<GraphProperties> infer(const Item& item, InferenceOptions options = {}) {
    GraphProperties out;
    out.properties_.reset(TF_NewGraphProperties(item.get()));
    Status status;
    TF_InferStatically(out.properties_.get(), options.assume_valid_feeds, options.aggressive,
                       options.input_values, options.output_values, status.get());
    if (Error error = status.take(); !error.ok()) return error;
    return out;
  }

  // One for each data input; none for a node that is not in the graph.
  Result<std::vector<TensorProperties>> inputs(std::string_view node) const {
    return list(node, TF_GetInputPropertiesListSize, TF_GetInputPropertiesList);
  }
  Result<std::vector<TensorProperties>> outputs(std::string_view node) const {
    return list(node, TF_GetOutputPropertiesListSize, TF_GetOutputPropertiesList);
  }
  // Of one output; of unknown rank where nothing is known.
  Shape shape(std::string_view node, int output = 0) const {
    const Result<std::vector<TensorProperties>> all = outputs(node);
    const auto at = static_cast<std::size_t>(output);
    return all.ok() && at < all->size() ? (*all)[at].shape() : Shape();
  }

 private:
  struct Delete {
    void operator()(TF_GraphProperties* all) const { TF_DeleteGraphProperties(all); }
  };

  template <class Size, class List>
  Result<std::vector<TensorProperties>> list(std::string_view node, Size size_of,
                                             List list_of) const {
    const std::string name(node);
    Status status;
    int count = 0;
    size_of(properties_.get(), name.c_str(), &count, status.get());
    if (Error error = status.take(); !error.ok()) return error;
    std::vector<Buffer> buffers(static_cast<std::size_t>(count > 0 ? count : 0));
    std::vector<TF_Buffer*> handles;
    for (const Buffer& one : buffers) handles.push_back(one.get());
    list_of(properties_.get(), name.c_str(), handles.data(), static_cast<int>(handles.size()),
            status.get());
    if (Error error = status.take(); !error.ok()) return error;
    std::vector<TensorProperties> out;
    for (const Buffer& one : buffers) out.emplace_back(one.bytes());
    return out;
  }

  std::unique_ptr<TF_GraphProperties, Delete> properties_;
};

// An op definition together with the bytes it is a view of.
class OpDef {
 public:
  OpDef() = default;
  explicit OpDef(std::string_view proto) : proto_(std::make_unique<std::string>(proto)) {
    view_ = OpDefView(*proto_);
  }
  const OpDefView* operator->() const { return &view_; }
  const OpDefView& operator*() const { return view_; }

 private:
  std::unique_ptr<std::string> proto_;
  OpDefView view_;
};

// Definitions of every op that the host knows and of every function of a graph.
class FunctionLibrary {
 public:
  static Result<FunctionLibrary> open(const TF_Buffer* graph) {
    FunctionLibrary out;
    Status status;
    out.library_.reset(TF_NewFunctionLibraryDefinition(graph, status.get()));
    if (Error error = status.take(); !error.ok()) return error;
    return out;
  }

  // NOT_FOUND for a name that is neither an op nor a function.
  Result<OpDef> op_def(std::string_view name) const {
    const std::string text(name);
    Status status;
    Buffer buffer;
    TF_LookUpOpDef(library_.get(), text.c_str(), buffer.get(), status.get());
    if (Error error = status.take(); !error.ok()) return error;
    return OpDef(buffer.bytes());
  }

 private:
  struct Delete {
    void operator()(TF_FunctionLibraryDefinition* library) const {
      TF_DeleteFunctionLibraryDefinition(library);
    }
  };
  std::unique_ptr<TF_FunctionLibraryDefinition, Delete> library_;
};

}  // namespace drystone::sdk

#endif  // DRYSTONE_SDK_ITEM_HPP_
