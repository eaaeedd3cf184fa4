/* Ops: defining an op, and inferring the shapes of its outputs.
 *
 * Since ABI 1.0. Implemented by the host; called by a plugin from TF_InitKernel (definitions) and
 * from its shape functions (everything named ShapeInferenceContext).
 *
 * An op definition says what a node of the op looks like: its name, inputs, outputs and attributes.
 * A kernel (drystone/kernels.h) says how it is computed. A plugin registers the definitions of ops
 * that the host does not know; graphs with such nodes are then valid, and are optimized, placed and
 * run like any others. Registering an op that the host knows with an equal definition is allowed.
 *
 * Example, an op with one attribute and a shape function:
 *
 *   static void same_shape(TF_ShapeInferenceContext* ctx, TF_Status* status) {
 *     TF_ShapeHandle* shape = TF_NewShapeHandle();
 *     TF_ShapeInferenceContextGetInput(ctx, 0, shape, status);
 *     if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextSetOutput(ctx, 0, shape, status);
 *     TF_DeleteShapeHandle(shape);
 *   }
 *
 *   TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("Triple");
 *   TF_OpDefinitionBuilderAddAttr(op, "T: {float, double}");
 *   TF_OpDefinitionBuilderAddInput(op, "x: T");
 *   TF_OpDefinitionBuilderAddOutput(op, "y: T");
 *   TF_OpDefinitionBuilderSetShapeInferenceFunction(op, same_shape);
 *   TF_RegisterOpDefinition(op, status);
 *
 * Strings that are passed in are copied. NULL handles are never dereferenced: a function with a
 * status answers TF_INVALID_ARGUMENT, any other does nothing or gives what its comment says.
 */
#ifndef DRYSTONE_OPS_H_
#define DRYSTONE_OPS_H_

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "drystone/datatype.h"
#include "drystone/macros.h"
#include "drystone/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A definition in the making. One thread at a time may use it. */
typedef struct TF_OpDefinitionBuilder TF_OpDefinitionBuilder;

/* One node whose output shapes are being inferred. The host makes it, and it lives only during the
 * call of the shape function that receives it. */
typedef struct TF_ShapeInferenceContext TF_ShapeInferenceContext;

/* A shape: of unknown rank, or a list of dimensions. Made with TF_NewShapeHandle; most functions
 * below replace what it holds. */
typedef struct TF_ShapeHandle TF_ShapeHandle;

/* A dimension: a size of 0 or more, or unknown. */
typedef struct TF_DimensionHandle TF_DimensionHandle;

/* ---- Defining an op ---------------------------------------------------------------------------
 *
 * Nothing is checked before TF_RegisterOpDefinition, so that these calls need no status: a wrong
 * spec makes the registration fail, with a message that quotes the spec and gives the position.
 */

/* Start the definition of an op. Names are CamelCase; those that begin with "_" are internal.
 * NULL only when memory is exhausted. The builder is consumed by TF_RegisterOpDefinition; one that
 * is not registered must be deleted. */
TF_CAPI_EXPORT extern TF_OpDefinitionBuilder* TF_NewOpDefinitionBuilder(const char* op_name);

/* Check the definition and make it known. Consumes the builder, whether it works or not. Statuses:
 * TF_INVALID_ARGUMENT (a spec or the definition as a whole is wrong; all errors are listed),
 * TF_ALREADY_EXISTS (the name has a different definition; the message names who registered that).
 * An equal definition that is there already is TF_OK. The definition cannot be taken back. */
TF_CAPI_EXPORT extern void TF_RegisterOpDefinition(TF_OpDefinitionBuilder* builder,
                                                   TF_Status* status);

/* Delete a builder that is not to be registered. */
TF_CAPI_EXPORT extern void TF_DeleteOpDefinitionBuilder(TF_OpDefinitionBuilder* builder);

/* Add an attribute: "NAME: TYPE" or "NAME: TYPE = DEFAULT".
 *
 *   TYPE     string int float bool type shape tensor func
 *            list(ANY OF THESE)
 *            {'a', "b"}                 a string out of these
 *            {float, int32}             a type out of these
 *            numbertype realnumbertype quantizedtype    a type out of a named set
 *            int >= 1                   an int with a minimum
 *            list(int) >= 2             a list with a minimum length
 *   DEFAULT  3, -0.5, true, "text", DT_FLOAT, { dim { size: 2 } }, { unknown_rank: true },
 *            [1, 2, 3], ...             values in protobuf's text format
 *
 * Order matters: an argument may refer to attributes only by name, but attributes are reported in
 * the order in which they were added. The full grammar is in
 * docs/reference/spec/op_spec_grammar.md. */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderAddAttr(TF_OpDefinitionBuilder* builder,
                                                         const char* attr_spec);

/* Add an input, in order: "NAME: TYPE", "NAME: N * TYPE" for a list whose length is the int
 * attribute N, or either with Ref(TYPE) for references. TYPE is a data type (float, int32, ...), an
 * attribute of type "type", or one of type "list(type)" for a list of mixed types. Attributes may
 * be added before or after. An attribute that serves as a length has a minimum of 1 unless it
 * states one. */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderAddInput(TF_OpDefinitionBuilder* builder,
                                                          const char* input_spec);

/* Add an output, in order; the same grammar. */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderAddOutput(TF_OpDefinitionBuilder* builder,
                                                           const char* output_spec);

/* Mark the op as commutative: both of its inputs may change places.
 * Here and in the next three the mark is set whatever the second argument is: to have it unset, do
 * not call the function. (Existing plugins rely on that.) */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderSetIsCommutative(TF_OpDefinitionBuilder* builder,
                                                                  bool is_commutative);

/* Mark the op as an aggregate: it takes any number of inputs of one type and gives one output of
 * it, and is associative and commutative, like AddN. */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderSetIsAggregate(TF_OpDefinitionBuilder* builder,
                                                                bool is_aggregate);

/* Mark the op as stateful: it reads or changes what is outside its inputs. Such nodes are neither
 * folded into constants nor merged nor removed as duplicates. */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderSetIsStateful(TF_OpDefinitionBuilder* builder,
                                                               bool is_stateful);

/* Mark the op as able to take uninitialized tensors, as Assign does. */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderSetAllowsUninitializedInput(
    TF_OpDefinitionBuilder* builder, bool allows_uninitialized_input);

/* State that the op may not be used from graph version `version` on, and what to use instead. Once
 * per op. */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderDeprecated(TF_OpDefinitionBuilder* builder,
                                                            int version, const char* explanation);

/* Set the shape function. Without one the outputs of the op have unknown shapes.
 *
 * The function is called by any thread, and by several at once. It reads inputs from `ctx`, sets
 * outputs, and leaves `status` as it is or sets an error; the host reports an error together with
 * the op, the node and the library. An output that it does not set is of unknown rank. It must not
 * throw (an exception is caught where that is possible, and reported). It deletes the handles that
 * it makes; those that it forgets are counted as leaks and deleted when it returns. */
TF_CAPI_EXPORT extern void TF_OpDefinitionBuilderSetShapeInferenceFunction(
    TF_OpDefinitionBuilder* builder,
    void (*shape_inference_func)(TF_ShapeInferenceContext* ctx, TF_Status* status));

/* ---- Inferring shapes -------------------------------------------------------------------------
 *
 * `result` may be the handle that is also read. A function that fails leaves `result` as it was.
 * Ranks are at most 254.
 */

/* Number of inputs of the node, lists counted by element; 0 for a NULL context. */
TF_CAPI_EXPORT extern int64_t TF_ShapeInferenceContextNumInputs(TF_ShapeInferenceContext* ctx);

/* A new handle of a shape of unknown rank. Delete it with TF_DeleteShapeHandle. */
TF_CAPI_EXPORT extern TF_ShapeHandle* TF_NewShapeHandle(void);

/* Write the shape of input `i` into `handle`; TF_INVALID_ARGUMENT where there is no such input. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextGetInput(TF_ShapeInferenceContext* ctx, int i,
                                                            TF_ShapeHandle* handle,
                                                            TF_Status* status);

/* State the shape of output `i`; TF_INVALID_ARGUMENT where there is no such output. The shape is
 * copied. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextSetOutput(TF_ShapeInferenceContext* ctx, int i,
                                                             TF_ShapeHandle* handle,
                                                             TF_Status* status);

/* A new handle of the shape of a scalar. The caller deletes it. */
TF_CAPI_EXPORT extern TF_ShapeHandle* TF_ShapeInferenceContextScalar(TF_ShapeInferenceContext* ctx);

/* A new handle of the shape of a vector of `size` elements. The caller deletes it. */
TF_CAPI_EXPORT extern TF_ShapeHandle* TF_ShapeInferenceContextVectorFromSize(
    TF_ShapeInferenceContext* ctx, size_t size);

/* A new handle of an unknown dimension. Delete it with TF_DeleteDimensionHandle. */
TF_CAPI_EXPORT extern TF_DimensionHandle* TF_NewDimensionHandle(void);

/* Write the value of an attribute of type "type" into `*val`; an attribute that the node does not
 * state has its default. TF_NOT_FOUND for an attribute that is not there, TF_INVALID_ARGUMENT for
 * one of another type. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContext_GetAttrType(TF_ShapeInferenceContext* ctx,
                                                                const char* attr_name,
                                                                TF_DataType* val,
                                                                TF_Status* status);

/* The rank of a shape, -1 where it is unknown. */
TF_CAPI_EXPORT extern int64_t TF_ShapeInferenceContextRank(TF_ShapeInferenceContext* ctx,
                                                           TF_ShapeHandle* handle);

/* 1 where the rank is known, else 0. */
TF_CAPI_EXPORT extern int TF_ShapeInferenceContextRankKnown(TF_ShapeInferenceContext* ctx,
                                                            TF_ShapeHandle* handle);

/* Require a rank: `result` becomes the shape, or `rank` unknown dimensions where its rank is
 * unknown. TF_INVALID_ARGUMENT where the rank is known and another one. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextWithRank(TF_ShapeInferenceContext* ctx,
                                                            TF_ShapeHandle* handle, int64_t rank,
                                                            TF_ShapeHandle* result,
                                                            TF_Status* status);

/* Require at least `rank` dimensions: `result` becomes the shape as it is. TF_INVALID_ARGUMENT
 * where the rank is known and lower. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextWithRankAtLeast(TF_ShapeInferenceContext* ctx,
                                                                   TF_ShapeHandle* handle,
                                                                   int64_t rank,
                                                                   TF_ShapeHandle* result,
                                                                   TF_Status* status);

/* Require at most `rank` dimensions, in the same way. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextWithRankAtMost(TF_ShapeInferenceContext* ctx,
                                                                  TF_ShapeHandle* handle,
                                                                  int64_t rank,
                                                                  TF_ShapeHandle* result,
                                                                  TF_Status* status);

/* Write dimension `i` into `result`. A negative `i` counts from the end. Where the rank is unknown
 * or there is no such dimension, `result` becomes unknown. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextDim(TF_ShapeInferenceContext* ctx,
                                                       TF_ShapeHandle* shape_handle, int64_t i,
                                                       TF_DimensionHandle* result);

/* Write dimensions [start, end) into `result`. Negative bounds count from the end; bounds past the
 * rank mean the rank (INT64_MAX for `end`: to the end). A shape of unknown rank gives one, unless
 * the whole is asked for. TF_INVALID_ARGUMENT for a bound before the first dimension, and for start
 * after end. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextSubshape(TF_ShapeInferenceContext* ctx,
                                                            TF_ShapeHandle* shape_handle,
                                                            int64_t start, int64_t end,
                                                            TF_ShapeHandle* result,
                                                            TF_Status* status);

/* State that the shapes of all outputs are unknown. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextSetUnknownShape(TF_ShapeInferenceContext* ctx,
                                                                   TF_Status* status);

/* 1 where the dimension is known, else 0. */
TF_CAPI_EXPORT extern int TF_DimensionHandleValueKnown(TF_DimensionHandle* dim_handle);

/* The dimension, -1 where it is unknown. */
TF_CAPI_EXPORT extern int64_t TF_DimensionHandleValue(TF_DimensionHandle* dim_handle);

/* Write the dimensions of `first` followed by those of `second` into `result`; of unknown rank
 * where one of them is. */
TF_CAPI_EXPORT extern void TF_ShapeInferenceContextConcatenateShapes(TF_ShapeInferenceContext* ctx,
                                                                     TF_ShapeHandle* first,
                                                                     TF_ShapeHandle* second,
                                                                     TF_ShapeHandle* result,
                                                                     TF_Status* status);

/* Delete a shape handle. */
TF_CAPI_EXPORT extern void TF_DeleteShapeHandle(TF_ShapeHandle* handle);

/* Delete a dimension handle. */
TF_CAPI_EXPORT extern void TF_DeleteDimensionHandle(TF_DimensionHandle* handle);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_OPS_H_ */
