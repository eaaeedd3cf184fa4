/* Kernels of the strict device: each puts one piece of work on its stream and returns.
 *
 * Shapes and axes come in host memory and are read when the kernel is called.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "drystone/kernels_experimental.h"
#include "drystone/logging.h"

/* ---- attributes ---- */

static bool has(TF_OpKernelConstruction* ctx, const char* name, TF_Status* status) {
  return TF_OpKernelConstruction_HasAttr(ctx, name, status) && TF_GetCode(status) == TF_OK;
}

static void read_flag(TF_OpKernelConstruction* ctx, const char* name, TF_Bool* flag, TF_Status* status) {
  if (has(ctx, name, status)) TF_OpKernelConstruction_GetAttrBool(ctx, name, flag, status);
}

static void read_four(TF_OpKernelConstruction* ctx, const char* name, int64_t* four, TF_Status* status) {
  if (has(ctx, name, status)) TF_OpKernelConstruction_GetAttrInt64List(ctx, name, four, 4, status);
}

static void read_text(TF_OpKernelConstruction* ctx, const char* name, char* text, size_t size, TF_Status* status) {
  if (has(ctx, name, status)) TF_OpKernelConstruction_GetAttrString(ctx, name, text, size - 1, status);
}

static void read_shape(TF_OpKernelConstruction* ctx, Attrs* attrs, TF_Status* status) {
  int32_t length = -1, rank = -1;
  if (has(ctx, "shape", status)) TF_OpKernelConstruction_GetAttrSize(ctx, "shape", &length, &rank, status);
  if (rank < 0 || rank > kRank || TF_GetCode(status) != TF_OK) return;
  attrs->rank = rank;
  TF_OpKernelConstruction_GetAttrTensorShape(ctx, "shape", attrs->shape, (size_t)rank, status);
}

void* strict_create(TF_OpKernelConstruction* ctx) {
  Attrs* const attrs = calloc(1, sizeof *attrs);
  TF_Status* const status = TF_NewStatus();
  char padding[16] = "";
  read_flag(ctx, "transpose_a", &attrs->transpose_a, status);
  read_flag(ctx, "transpose_b", &attrs->transpose_b, status);
  read_flag(ctx, "adj_x", &attrs->transpose_a, status);
  read_flag(ctx, "adj_y", &attrs->transpose_b, status);
  read_flag(ctx, "keep_dims", &attrs->keep_dims, status);
  read_flag(ctx, "use_nesterov", &attrs->use_nesterov, status);
  read_flag(ctx, "validate_shape", &attrs->validate_shape, status);
  read_flag(ctx, "resize_if_index_out_of_bounds", &attrs->grows, status);
  read_text(ctx, "var_name", attrs->variable, sizeof attrs->variable, status);
  read_shape(ctx, attrs, status);
  read_four(ctx, "strides", attrs->strides, status);
  read_four(ctx, "dilations", attrs->dilations, status);
  read_four(ctx, "ksize", attrs->window, status);
  read_text(ctx, "padding", padding, sizeof padding, status);
  read_text(ctx, "data_format", attrs->equation, sizeof attrs->equation, status);
  attrs->is_same = strcmp(padding, "SAME") == 0;
  if (strcmp(attrs->equation, "NCHW") == 0 || strcmp(padding, "EXPLICIT") == 0) {
    TF_SetStatus(status, TF_UNIMPLEMENTED, "the strict device has pictures as NHWC, padded by SAME or VALID");
    TF_OpKernelConstruction_Failure(ctx, status);
  }
  TF_DeleteStatus(status);
  return attrs;
}

/* ---- one call ---- */

bool is_well(const Call* call) { return TF_GetCode(call->status) == TF_OK; }

static Value describe(const TF_Tensor* tensor) {
  Value out = {.data = TF_TensorData(tensor), .count = TF_TensorElementCount(tensor), .rank = TF_NumDims(tensor),
               .type = TF_TensorType(tensor)};
  for (int d = 0; d < out.rank && d < kRank; ++d) out.dims[d] = TF_Dim(tensor, d);
  return out;
}

static void read_numbers(Task* task, const Value* value) {
  task->count = (int)(value->count < kNumbers ? value->count : kNumbers);
  for (int k = 0; k < task->count; ++k) {
    task->numbers[k] = value->type == TF_INT32 ? ((const int32_t*)value->data)[k] : ((const int64_t*)value->data)[k];
  }
}

void strict_hold_input(Call* call, int k, TF_Tensor* tensor) {
  call->inputs[k] = tensor;
  call->task->in[k] = describe(tensor);
  if (call->task->inputs <= k) call->task->inputs = k + 1;
  if (call->task->in[k].rank > kRank) TF_SetStatus(call->status, TF_UNIMPLEMENTED, "more dimensions than this device has");
}

void strict_take_input(Call* call, int k) {
  Task* const task = call->task;
  TF_Tensor* tensor = NULL;
  TF_GetInput(call->ctx, k, &tensor, call->status);
  if (is_well(call)) strict_hold_input(call, k, tensor);
  if (!is_well(call) || !TF_IsHostMemoryInput(call->ctx, k, call->status)) return;
  task->in[k].is_on_host = true;
  read_numbers(task, &task->in[k]);
}

void strict_begin(Call* call, TF_OpKernelContext* ctx, const Attrs* attrs) {
  const TF_StringView name = TF_GetOpKernelName(ctx);
  memset(call, 0, sizeof *call);
  call->ctx = ctx;
  call->status = TF_NewStatus();
  snprintf(call->node, sizeof call->node, "%.*s", (int)name.len, name.data);
  call->outer = strict_node;
  strict_node = call->node;
  if (*call->outer == '\0') strict_count(STRICT_KERNELS);
  call->task = calloc(1, sizeof *call->task);
  call->task->attrs = *attrs;
  call->task->count = -1;
  call->stream = TF_GetStream(ctx, call->status);
  if (TF_NumInputs(ctx) > kInputs) TF_SetStatus(call->status, TF_UNIMPLEMENTED, "more inputs than this device has");
}

/* With all inputs. */
static void begin(Call* call, TF_OpKernelContext* ctx, const Attrs* attrs) {
  strict_begin(call, ctx, attrs);
  for (int k = 0; k < TF_NumInputs(ctx) && is_well(call); ++k) strict_take_input(call, k);
}

void strict_end(Call* call) {
  if (!is_well(call)) TF_OpKernelContext_Failure(call->ctx, call->status);
  for (int k = 0; k < kInputs; ++k) TF_DeleteTensor(call->inputs[k]);
  TF_DeleteStatus(call->status);
  free(call->task); /* unless a stream has it */
  strict_node = call->outer;
}

/* ---- work on the device's thread ---- */

static void run_task(Work* work) {
  Task* const task = (Task*)work;
  for (int k = 0; k < task->inputs; ++k) {
    void* const real = strict_real(task->in[k].data);
    if (real != NULL) task->in[k].data = real;
  }
  task->out.data = strict_real(task->out.data);
  task->compute(task);
}

static void run_badly(Work* work) {
  Task* const task = (Task*)work;
  const size_t bytes = (size_t)task->out.count * size_of(task->out.type);
  ((char*)strict_real(task->out.data))[bytes + 3] = 0;
  run_task(work);
}

static void end_task(Work* work) { free(work); }

/* Faults that tests plant before the work is enqueued, and after. */
static void plant(Call* call) {
  static volatile char seen;
  if (strict_is_planted("host_read", call->node)) seen = *(const volatile char*)TF_TensorData(call->inputs[0]);
  if (strict_is_planted("write_outside", call->node)) call->task->work.run = run_badly;
  if (strict_is_planted("other_stream", call->node)) call->stream = strict_other_stream(strict_device_of(call->stream));
  (void)seen;
}

static void plant_after(const Call* call, const TF_Tensor* output) {
  if (!strict_is_planted("early_free", call->node)) return;
  SP_DeviceMemoryBase memory = {.opaque = TF_TensorData(output)};
  strict_free(strict_device_of(call->stream), &memory);
}

static Range range_of(const Value* value, bool is_written) {
  return (Range){value->data, (uint64_t)value->count * size_of(value->type), is_written, NULL};
}

void strict_put(Call* call, int written) {
  Task* const task = call->task;
  Range ranges[kStrictRanges];
  int count = 0;
  if (written > 0) task->out = task->in[0];
  if (task->out.count == 0) return;
  for (int k = 0; k < task->inputs; ++k) {
    if (!task->in[k].is_on_host) ranges[count++] = range_of(&task->in[k], k < written);
  }
  if (written == 0) ranges[count++] = range_of(&task->out, true);
  call->task = NULL;
  task->work = (Work){task->work.run == NULL ? run_task : task->work.run, end_task};
  strict_enqueue(call->stream, call->node, &task->work, ranges, count, call->status);
}

/* A kernel whose output is new memory. */
static void compute(const Attrs* attrs, TF_OpKernelContext* ctx, Shape shape, void (*function)(const Task*)) {
  Call call;
  begin(&call, ctx, attrs);
  Task* const task = call.task;
  task->compute = function;
  task->out.type = TF_ExpectedOutputDataType(ctx, 0);
  const char* const wrong = is_well(&call) ? shape(task) : NULL;
  if (wrong != NULL) TF_SetStatus(call.status, TF_INVALID_ARGUMENT, wrong);
  if (is_well(&call)) {
    TF_Tensor* const output = TF_AllocateOutput(ctx, 0, task->out.type, task->out.dims, task->out.rank,
                                                (size_t)task->out.count * size_of(task->out.type), call.status);
    if (is_well(&call)) {
      task->out.data = TF_TensorData(output);
      plant(&call);
      strict_put(&call, 0);
    }
    if (is_well(&call)) plant_after(&call, output);
    TF_DeleteTensor(output);
  }
  strict_end(&call);
}

/* A kernel whose output is its input with another shape. */
static void reshape(const Attrs* attrs, TF_OpKernelContext* ctx, Shape shape) {
  Call call;
  begin(&call, ctx, attrs);
  Value* const out = &call.task->out;
  const char* const wrong = is_well(&call) ? shape(call.task) : NULL;
  if (wrong != NULL) TF_SetStatus(call.status, TF_INVALID_ARGUMENT, wrong);
  if (is_well(&call)) {
    TF_Tensor* const output = TF_AllocateTensor(TF_FLOAT, (const int64_t[]){0}, 1, 0);
    TF_TensorBitcastFrom(call.inputs[0], out->type, output, out->dims, out->rank, call.status);
    if (is_well(&call)) TF_SetOutput(ctx, 0, output, call.status);
    TF_DeleteTensor(output);
  }
  strict_end(&call);
}

/* Its output lies in host memory, and is there when the kernel returns. */
static void shape_on_host(void* attrs, TF_OpKernelContext* ctx) {
  Call call;
  begin(&call, ctx, attrs);
  const TF_DataType type = TF_ExpectedOutputDataType(ctx, 0);
  if (is_well(&call)) {
    const Value* const in = &call.task->in[0];
    const int64_t rank = in->rank;
    TF_Tensor* const output = TF_AllocateOutput(ctx, 0, type, &rank, 1, (size_t)rank * size_of(type), call.status);
    for (int d = 0; is_well(&call) && d < in->rank; ++d) {
      if (type == TF_INT32) ((int32_t*)TF_TensorData(output))[d] = (int32_t)in->dims[d];
      else ((int64_t*)TF_TensorData(output))[d] = in->dims[d];
    }
    TF_DeleteTensor(output);
  }
  strict_end(&call);
}

#define CALL(NAME, SHAPE, FUNCTION) \
  static void call_##NAME(void* attrs, TF_OpKernelContext* ctx) { compute(attrs, ctx, SHAPE, FUNCTION); }
#define CALL_UNARY(OP, EXPRESSION) CALL(OP, shape_of_first, element_##OP)
#define CALL_BINARY(OP, EXPRESSION) CALL(OP, shape_of_both, element_##OP)
STRICT_UNARY(CALL_UNARY)
STRICT_BINARY(CALL_BINARY)
CALL(identity, shape_of_first, copy_elements)
CALL(cast, shape_of_first, cast)
CALL(product, shape_of_product, product)
CALL(softmax, shape_of_first, softmax)
CALL(sum, shape_of_reduction, sum)
CALL(mean, shape_of_reduction, mean)
CALL(greatest, shape_of_reduction, greatest)
CALL(transpose, shape_of_transpose, transpose)
CALL(concat, shape_of_concat, concat)
CALL(pad, shape_of_pad, pad)
CALL(convolution, shape_of_window, convolution)
CALL(depthwise, shape_of_window, depthwise)
CALL(max_pool, shape_of_window, max_pool)
CALL(average_pool, shape_of_window, average_pool)

static void call_reshape(void* attrs, TF_OpKernelContext* ctx) { reshape(attrs, ctx, shape_of_reshape); }
static void call_expand(void* attrs, TF_OpKernelContext* ctx) { reshape(attrs, ctx, shape_of_expand); }

/* ---- registration ---- */

#define RECIPE(OP, EXPRESSION) {#OP, call_##OP, NULL, "T"},

static const Recipe kRecipes[] = {
    STRICT_UNARY(RECIPE) STRICT_BINARY(RECIPE){"Identity", call_identity, NULL, "T"},
    {"MatMul", call_product, NULL, "T"},
    {"BatchMatMulV2", call_product, NULL, "T"},
    {"Softmax", call_softmax, NULL, "T"},
    {"Sum", call_sum, "reduction_indices", "T"},
    {"Mean", call_mean, "reduction_indices", "T"},
    {"Max", call_greatest, "reduction_indices", "T"},
    {"Transpose", call_transpose, "perm", "T"},
    {"ConcatV2", call_concat, "axis", "T"},
    {"Pad", call_pad, "paddings", "T"},
    {"Conv2D", call_convolution, NULL, "T"},
    {"DepthwiseConv2dNative", call_depthwise, NULL, "T"},
    {"MaxPool", call_max_pool, NULL, "T"},
    {"AvgPool", call_average_pool, NULL, "T"},
    {"Reshape", call_reshape, "shape", "T"},
    {"ExpandDims", call_expand, "dim", "T"},
    {"Shape", shape_on_host, "output", "T"},
};

void strict_register(const Recipe* recipe, const char* attr, TF_DataType type, const char* other, TF_DataType result) {
  TF_Status* const status = TF_NewStatus();
  TF_KernelBuilder* const builder = TF_NewKernelBuilder(recipe->op, STRICT_TYPE, strict_create, recipe->call, free);
  if (attr != NULL) TF_KernelBuilder_TypeConstraint(builder, attr, type, status);
  if (other != NULL) TF_KernelBuilder_TypeConstraint(builder, other, result, status);
  if (recipe->on_host != NULL) TF_KernelBuilder_HostMemory(builder, recipe->on_host);
  if (TF_GetCode(status) == TF_OK) TF_RegisterKernelBuilder(recipe->op, builder, status);
  else TF_DeleteKernelBuilder(builder);
  if (TF_GetCode(status) != TF_OK) TF_Log(TF_ERROR, "%s: %s", recipe->op, TF_Message(status));
  TF_DeleteStatus(status);
}

static void register_casts(void) {
  static const TF_DataType types[] = {TF_FLOAT, TF_INT32, TF_INT64, TF_UINT8, TF_BOOL};
  static const Recipe recipe = {"Cast", call_cast, NULL, NULL};
  const size_t count = sizeof types / sizeof *types;
  for (size_t from = 0; from < count; ++from) {
    for (size_t to = 0; to < count; ++to) strict_register(&recipe, "SrcT", types[from], "DstT", types[to]);
  }
}

void TF_InitKernel(void) {
  for (size_t k = 0; k < sizeof kRecipes / sizeof *kRecipes; ++k) {
    strict_register(&kRecipes[k], kRecipes[k].type, TF_FLOAT, NULL, TF_FLOAT);
  }
  register_casts();
  strict_register_variables();
  strict_register_lists();
}
