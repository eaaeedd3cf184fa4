// Defining ops, and their shape functions.
//
// Since ABI 1.0. Needs the host's op functions.
//
//   Error last_dim_gone(ShapeContext& node) {
//     Result<ShapeHandle> x = node.input_at_least(0, 1);
//     if (!x.ok()) return x.error();
//     return node.set_output(0, node.part(*x, 0, -1));
//   }
//   Error e = NewOp("Norm").attr("T: {float, double}").input("x: T").output("y: T")
//                 .shape<last_dim_gone>().add();
//
// A shape function is called by any thread, and by several at once, without the tensors' values.
#ifndef DRYSTONE_SDK_OP_HPP_
#define DRYSTONE_SDK_OP_HPP_

#include <cstdint>
#include <memory>
#include <string>

#include "drystone/ops.h"
#include "drystone/sdk/error.hpp"
#include "drystone/sdk/guard.hpp"
#include "drystone/sdk/shape.hpp"
#include "drystone/sdk/status.hpp"

namespace drystone::sdk {

// A shape during inference. Null only when memory was exhausted.
struct DeleteShapeHandle {
  void operator()(TF_ShapeHandle* handle) const { TF_DeleteShapeHandle(handle); }
};
using ShapeHandle = std::unique_ptr<TF_ShapeHandle, DeleteShapeHandle>;

class ShapeContext {
 public:
  explicit ShapeContext(TF_ShapeInferenceContext* context) : context_(context) {}
  TF_ShapeInferenceContext* get() const { return context_; }

  int inputs() const { return static_cast<int>(TF_ShapeInferenceContextNumInputs(context_)); }
  Result<ShapeHandle> input(int index) {
    ShapeHandle out(TF_NewShapeHandle());
    TF_ShapeInferenceContextGetInput(context_, index, out.get(), status_.get());
    return finish(std::move(out));
  }
  // The shape of an input that must have this rank, or (input_at_least) this rank or more.
  Result<ShapeHandle> input(int index, std::int64_t rank) {
    Result<ShapeHandle> out = input(index);
    if (!out.ok()) return out;
    TF_ShapeInferenceContextWithRank(context_, out->get(), rank, out->get(), status_.get());
    return finish(std::move(*out));
  }
  Result<ShapeHandle> input_at_least(int index, std::int64_t rank) {
    Result<ShapeHandle> out = input(index);
    if (!out.ok()) return out;
    TF_ShapeInferenceContextWithRankAtLeast(context_, out->get(), rank, out->get(),
                                            status_.get());
    return finish(std::move(*out));
  }
  Error set_output(int index, const Result<ShapeHandle>& shape) {
    if (!shape.ok()) return shape.error();
    TF_ShapeInferenceContextSetOutput(context_, index, shape->get(), status_.get());
    return status_.take();
  }
  Error set_unknown_outputs() {
    TF_ShapeInferenceContextSetUnknownShape(context_, status_.get());
    return status_.take();
  }

  Result<ShapeHandle> scalar() { return ShapeHandle(TF_ShapeInferenceContextScalar(context_)); }
  Result<ShapeHandle> vector(std::size_t size) {
    return ShapeHandle(TF_ShapeInferenceContextVectorFromSize(context_, size));
  }
  // Dimensions [from, to); negative ones count from the end, INT64_MAX means the end.
  Result<ShapeHandle> part(const ShapeHandle& shape, std::int64_t from, std::int64_t to) {
    ShapeHandle out(TF_NewShapeHandle());
    TF_ShapeInferenceContextSubshape(context_, shape.get(), from, to, out.get(), status_.get());
    return finish(std::move(out));
  }
  Result<ShapeHandle> joined(const ShapeHandle& first, const ShapeHandle& second) {
    ShapeHandle out(TF_NewShapeHandle());
    TF_ShapeInferenceContextConcatenateShapes(context_, first.get(), second.get(), out.get(),
                                              status_.get());
    return finish(std::move(out));
  }

  // -1 when unknown.
  std::int64_t rank(const ShapeHandle& shape) {
    return TF_ShapeInferenceContextRank(context_, shape.get());
  }
  // kUnknownDim when unknown.
  std::int64_t dim(const ShapeHandle& shape, std::int64_t index) {
    TF_DimensionHandle* handle = TF_NewDimensionHandle();
    TF_ShapeInferenceContextDim(context_, shape.get(), index, handle);
    const std::int64_t size =
        TF_DimensionHandleValueKnown(handle) ? TF_DimensionHandleValue(handle) : kUnknownDim;
    TF_DeleteDimensionHandle(handle);
    return size;
  }
  Result<TF_DataType> type(const char* attr) {
    TF_DataType out = TF_FLOAT;
    TF_ShapeInferenceContext_GetAttrType(context_, attr, &out, status_.get());
    if (Error error = status_.take(); !error.ok()) return error;
    return out;
  }

 private:
  Result<ShapeHandle> finish(ShapeHandle shape) {
    if (Error error = status_.take(); !error.ok()) return error;
    return shape;
  }

  TF_ShapeInferenceContext* context_;
  Status status_;
};

// Output 0 has the shape of input 0: for element-wise ops of one input.
inline Error same_shape(ShapeContext& node) { return node.set_output(0, node.input(0)); }

class [[nodiscard]] NewOp {
 public:
  explicit NewOp(const char* name) : builder_(TF_NewOpDefinitionBuilder(name)) {}

  // The grammar of the specs is that of drystone/ops.h.
  NewOp& attr(const char* spec) {
    TF_OpDefinitionBuilderAddAttr(builder_.get(), spec);
    return *this;
  }
  NewOp& input(const char* spec) {
    TF_OpDefinitionBuilderAddInput(builder_.get(), spec);
    return *this;
  }
  NewOp& output(const char* spec) {
    TF_OpDefinitionBuilderAddOutput(builder_.get(), spec);
    return *this;
  }
  NewOp& stateful() {
    TF_OpDefinitionBuilderSetIsStateful(builder_.get(), true);
    return *this;
  }
  NewOp& commutative() {
    TF_OpDefinitionBuilderSetIsCommutative(builder_.get(), true);
    return *this;
  }
  template <Error (*Function)(ShapeContext&)>
  NewOp& shape() {
    TF_OpDefinitionBuilderSetShapeInferenceFunction(builder_.get(), &infer<Function>);
    return *this;
  }
  // Make the op known. Use the builder no more.
  Error add() {
    Status status;
    TF_RegisterOpDefinition(builder_.release(), status.get());
    return status.take();
  }

 private:
  struct Delete {
    void operator()(TF_OpDefinitionBuilder* builder) const {
      TF_DeleteOpDefinitionBuilder(builder);
    }
  };

  template <Error (*Function)(ShapeContext&)>
  static void infer(TF_ShapeInferenceContext* context, TF_Status* status) noexcept {
    store(guarded("the shape function",
                  [&] {
                    ShapeContext node(context);
                    return Function(node);
                  }),
          status);
  }

  std::unique_ptr<TF_OpDefinitionBuilder, Delete> builder_;
};

}  // namespace drystone::sdk

#endif  // DRYSTONE_SDK_OP_HPP_
