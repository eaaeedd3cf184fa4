// What shape functions call: see drystone/ops.h.
#include <algorithm>
#include <mutex>

#include "core/failure.h"
#include "drystone/ops.h"
#include "ops/attr_value.h"
#include "ops/shape.h"

namespace drystone::host::ops {
namespace {

// One call at a time: a thread that a shape function has left may ask while the function ends, and what it is
// given, or has deleted meanwhile, is looked at for the whole of its call.
template <class Body>
void guarded_alone(TF_Status* status, const char* function, Body&& body) {
  guarded(status, function, [&] {
    const std::lock_guard alone(calls_lock());
    body();
  });
}

template <class Answer, class Body>
Answer answered_alone(Answer otherwise, Body&& body) {
  return answered<Answer>(otherwise, [&]() -> Answer {
    const std::lock_guard alone(calls_lock());
    return body();
  });
}

Shape& shape_of(TF_ShapeHandle* handle) { return shape_handles().get(handle).shape; }

void check_rank(std::int64_t rank) {
  if (rank >= 0 && rank <= kMaxRank) return;
  fail(TF_INVALID_ARGUMENT, "rank " + std::to_string(rank) + " is not between 0 and " +
                                std::to_string(kMaxRank));
}

[[noreturn]] void wrong_rank(const char* relation, std::int64_t rank, const Shape& shape) {
  fail(TF_INVALID_ARGUMENT, std::string("the rank must be ") + relation + std::to_string(rank) +
                                ", but is " + std::to_string(shape.rank()));
}

TF_ShapeHandle* new_shape(Shape shape) {
  return shape_handles().add(TF_ShapeHandle{std::move(shape)}, running_context());
}

std::size_t checked_index(int index, std::size_t count, const char* what) {
  if (index >= 0 && static_cast<std::size_t>(index) < count) return static_cast<std::size_t>(index);
  fail(TF_INVALID_ARGUMENT, std::string("there is no ") + what + " " + std::to_string(index) +
                                ": the node has " + std::to_string(count));
}

// A bound of a subshape as an index: the end for one past it.
std::int64_t bound(std::int64_t given, std::int64_t rank, const char* what) {
  if (given >= 0) return std::min(given, rank);
  if (given < -rank) {
    fail(TF_INVALID_ARGUMENT, std::string(what) + " " + std::to_string(given) +
                                  " lies before the first of " + std::to_string(rank) +
                                  " dimensions");
  }
  return rank + given;
}

Shape subshape(const Shape& shape, std::int64_t start, std::int64_t end) {
  if (!shape.known) return shape;
  const std::int64_t first = bound(start, shape.rank(), "the start");
  const std::int64_t last = bound(end, shape.rank(), "the end");
  if (first > last) {
    fail(TF_INVALID_ARGUMENT, "the start " + std::to_string(start) + " lies after the end " +
                                  std::to_string(end) + " in a shape of " +
                                  std::to_string(shape.rank()) + " dimensions");
  }
  return Shape{true, {shape.dims.begin() + first, shape.dims.begin() + last}};
}

Shape concatenated(const Shape& first, const Shape& second) {
  if (!first.known || !second.known) return Shape{};
  check_rank(first.rank() + second.rank());
  Shape whole = first;
  whole.dims.insert(whole.dims.end(), second.dims.begin(), second.dims.end());
  return whole;
}

}  // namespace
}  // namespace drystone::host::ops

namespace host = drystone::host;
namespace ops = drystone::host::ops;

extern "C" {

TF_CAPI_EXPORT int64_t TF_ShapeInferenceContextNumInputs(TF_ShapeInferenceContext* ctx) {
  return ops::answered_alone<int64_t>(0, [&] {
    return static_cast<int64_t>(ops::live_context(ctx).inputs.size());
  });
}

TF_CAPI_EXPORT TF_ShapeHandle* TF_NewShapeHandle(void) {
  return ops::answered_alone<TF_ShapeHandle*>(nullptr, [] { return ops::new_shape({}); });
}

TF_CAPI_EXPORT TF_DimensionHandle* TF_NewDimensionHandle(void) {
  return ops::answered_alone<TF_DimensionHandle*>(nullptr, [] {
    return ops::dimension_handles().add({}, ops::running_context());
  });
}

TF_CAPI_EXPORT void TF_DeleteShapeHandle(TF_ShapeHandle* handle) {
  ops::answered_alone<bool>(false, [&] { return ops::shape_handles().remove(handle); });
}

TF_CAPI_EXPORT void TF_DeleteDimensionHandle(TF_DimensionHandle* handle) {
  ops::answered_alone<bool>(false, [&] { return ops::dimension_handles().remove(handle); });
}

TF_CAPI_EXPORT TF_ShapeHandle* TF_ShapeInferenceContextScalar(TF_ShapeInferenceContext* ctx) {
  return ops::answered_alone<TF_ShapeHandle*>(nullptr, [&] {
    ops::live_context(ctx);
    return ops::new_shape({true, {}});
  });
}

TF_CAPI_EXPORT TF_ShapeHandle* TF_ShapeInferenceContextVectorFromSize(
    TF_ShapeInferenceContext* ctx, size_t size) {
  return ops::answered_alone<TF_ShapeHandle*>(nullptr, [&] {
    ops::live_context(ctx);
    const bool fits = size <= static_cast<size_t>(INT64_MAX);
    return ops::new_shape({true, {fits ? static_cast<int64_t>(size) : ops::kUnknown}});
  });
}

TF_CAPI_EXPORT void TF_ShapeInferenceContextGetInput(TF_ShapeInferenceContext* ctx, int i,
                                                     TF_ShapeHandle* handle, TF_Status* status) {
  ops::guarded_alone(status, __func__, [&] {
    const auto& inputs = ops::live_context(ctx).inputs;
    ops::shape_of(handle) = inputs[ops::checked_index(i, inputs.size(), "input")];
  });
}

TF_CAPI_EXPORT void TF_ShapeInferenceContextSetOutput(TF_ShapeInferenceContext* ctx, int i,
                                                      TF_ShapeHandle* handle, TF_Status* status) {
  ops::guarded_alone(status, __func__, [&] {
    auto& outputs = ops::live_context(ctx).outputs;
    outputs[ops::checked_index(i, outputs.size(), "output")] = ops::shape_of(handle);
  });
}

TF_CAPI_EXPORT void TF_ShapeInferenceContextSetUnknownShape(TF_ShapeInferenceContext* ctx,
                                                            TF_Status* status) {
  ops::guarded_alone(status, __func__, [&] {
    for (auto& output : ops::live_context(ctx).outputs) output = {};
  });
}

TF_CAPI_EXPORT void TF_ShapeInferenceContext_GetAttrType(TF_ShapeInferenceContext* ctx,
                                                         const char* attr_name, TF_DataType* val,
                                                         TF_Status* status) {
  ops::guarded_alone(status, __func__, [&] {
    host::require(attr_name, "attr_name");
    host::require(val, "val");
    const auto& context = ops::live_context(ctx);
    const auto value = ops::decode_value(context.attrs.find(*context.def, attr_name));
    const std::string name = "attribute '" + std::string(attr_name) + "'";
    if (value.type.empty()) host::fail(TF_NOT_FOUND, "the node has no " + name);
    if (value.type != "type") {
      host::fail(TF_INVALID_ARGUMENT,
                 name + " is of type " + std::string(value.type) + ", not type");
    }
    *val = static_cast<TF_DataType>(value.numbers[0]);
  });
}

TF_CAPI_EXPORT int64_t TF_ShapeInferenceContextRank(TF_ShapeInferenceContext* ctx,
                                                    TF_ShapeHandle* handle) {
  return ops::answered_alone<int64_t>(ops::kUnknown, [&] {
    ops::live_context(ctx);
    return ops::shape_of(handle).rank();
  });
}

TF_CAPI_EXPORT int TF_ShapeInferenceContextRankKnown(TF_ShapeInferenceContext* ctx,
                                                     TF_ShapeHandle* handle) {
  return TF_ShapeInferenceContextRank(ctx, handle) >= 0 ? 1 : 0;
}

TF_CAPI_EXPORT void TF_ShapeInferenceContextWithRank(TF_ShapeInferenceContext* ctx,
                                                     TF_ShapeHandle* handle, int64_t rank,
                                                     TF_ShapeHandle* result, TF_Status* status) {
  ops::guarded_alone(status, __func__, [&] {
    ops::live_context(ctx);
    ops::check_rank(rank);
    ops::Shape shape = ops::shape_of(handle);
    if (!shape.known) {
      shape = {true, std::vector<int64_t>(static_cast<size_t>(rank), ops::kUnknown)};
    }
    if (shape.rank() != rank) ops::wrong_rank("", rank, shape);
    ops::shape_of(result) = std::move(shape);
  });
}

TF_CAPI_EXPORT void TF_ShapeInferenceContextWithRankAtLeast(TF_ShapeInferenceContext* ctx,
                                                            TF_ShapeHandle* handle, int64_t rank,
                                                            TF_ShapeHandle* result,
                                                            TF_Status* status) {
  ops::guarded_alone(status, __func__, [&] {
    ops::live_context(ctx);
    ops::check_rank(rank);
    const ops::Shape shape = ops::shape_of(handle);
    if (shape.known && shape.rank() < rank) ops::wrong_rank("at least ", rank, shape);
    ops::shape_of(result) = shape;
  });
}

TF_CAPI_EXPORT void TF_ShapeInferenceContextWithRankAtMost(TF_ShapeInferenceContext* ctx,
                                                           TF_ShapeHandle* handle, int64_t rank,
                                                           TF_ShapeHandle* result,
                                                           TF_Status* status) {
  ops::guarded_alone(status, __func__, [&] {
    ops::live_context(ctx);
    if (rank < 0) ops::check_rank(rank);
    const ops::Shape shape = ops::shape_of(handle);
    if (shape.rank() > rank) ops::wrong_rank("at most ", rank, shape);
    ops::shape_of(result) = shape;
  });
}

TF_CAPI_EXPORT void TF_ShapeInferenceContextDim(TF_ShapeInferenceContext* ctx,
                                                TF_ShapeHandle* shape_handle, int64_t i,
                                                TF_DimensionHandle* result) {
  ops::answered_alone<int>(0, [&] {
    auto& dimension = ops::dimension_handles().get(result);
    dimension.value = ops::kUnknown;
    ops::live_context(ctx);
    const ops::Shape& shape = ops::shape_of(shape_handle);
    const int64_t rank = shape.rank();
    if (!shape.known || i < -rank || i >= rank) return 0;
    dimension.value = shape.dims[static_cast<size_t>(i < 0 ? i + rank : i)];
    return 0;
  });
}

TF_CAPI_EXPORT void TF_ShapeInferenceContextSubshape(TF_ShapeInferenceContext* ctx,
                                                     TF_ShapeHandle* shape_handle, int64_t start,
                                                     int64_t end, TF_ShapeHandle* result,
                                                     TF_Status* status) {
  ops::guarded_alone(status, __func__, [&] {
    ops::live_context(ctx);
    ops::shape_of(result) = ops::subshape(ops::shape_of(shape_handle), start, end);
  });
}

TF_CAPI_EXPORT void TF_ShapeInferenceContextConcatenateShapes(TF_ShapeInferenceContext* ctx,
                                                              TF_ShapeHandle* first,
                                                              TF_ShapeHandle* second,
                                                              TF_ShapeHandle* result,
                                                              TF_Status* status) {
  ops::guarded_alone(status, __func__, [&] {
    ops::live_context(ctx);
    ops::shape_of(result) = ops::concatenated(ops::shape_of(first), ops::shape_of(second));
  });
}

TF_CAPI_EXPORT int TF_DimensionHandleValueKnown(TF_DimensionHandle* dim_handle) {
  return TF_DimensionHandleValue(dim_handle) >= 0 ? 1 : 0;
}

TF_CAPI_EXPORT int64_t TF_DimensionHandleValue(TF_DimensionHandle* dim_handle) {
  return ops::answered_alone<int64_t>(ops::kUnknown, [&] {
    return std::max(ops::dimension_handles().get(dim_handle).value, ops::kUnknown);
  });
}

}  // extern "C"
