/* Variables of the strict device: kernels that replace their values, and that change them where they are.
 *
 * All goes through the functions that TensorFlow has for it in its C API: a value may be the host's before
 * the first of these kernels runs, and others may hold it.
 */
#include <math.h>
#include <string.h>

#include "call.h"
#include "drystone/kernels_experimental.h"

enum { kMostVariables = 3 };

/* ---- in place, on the device's thread ---- */

static float* values(const Task* task, int k) { return task->in[k].data; }
static float number(const Task* task, int k) { return values(task, k)[0]; }

static void add_to(const Task* task) {
  for (int64_t k = 0; k < task->in[0].count; ++k) values(task, 0)[k] += values(task, 1)[k];
}

static void subtract_from(const Task* task) {
  for (int64_t k = 0; k < task->in[0].count; ++k) values(task, 0)[k] -= values(task, 1)[k];
}

/* var, alpha, delta */
static void descend(const Task* task) {
  for (int64_t k = 0; k < task->in[0].count; ++k) values(task, 0)[k] -= number(task, 1) * values(task, 2)[k];
}

/* var, accum, lr, grad, momentum */
static void descend_with_momentum(const Task* task) {
  const float lr = number(task, 2), momentum = number(task, 4);
  for (int64_t k = 0; k < task->in[0].count; ++k) {
    float* const accum = &values(task, 1)[k];
    const float grad = values(task, 3)[k];
    *accum = *accum * momentum + grad;
    values(task, 0)[k] -= task->attrs.use_nesterov ? grad * lr + *accum * momentum * lr : *accum * lr;
  }
}

/* var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad */
static void descend_by_adam(const Task* task) {
  const float beta1 = number(task, 6), beta2 = number(task, 7), epsilon = number(task, 8);
  const float alpha = number(task, 5) * sqrtf(1 - number(task, 4)) / (1 - number(task, 3));
  for (int64_t k = 0; k < task->in[0].count; ++k) {
    float *const m = &values(task, 1)[k], *const v = &values(task, 2)[k];
    const float grad = values(task, 9)[k];
    *m += (grad - *m) * (1 - beta1);
    *v += (grad * grad - *v) * (1 - beta2);
    const float step = task->attrs.use_nesterov ? grad * (1 - beta1) + beta1 * *m : *m;
    values(task, 0)[k] -= step * alpha / (sqrtf(*v) + epsilon);
  }
}

/* ---- what the host calls ---- */

/* Puts work on the stream of a call that gives tensors away: `to` becomes what `from` makes of it. */
static void put_pair(TF_OpKernelContext* ctx, TF_Tensor* to, TF_Tensor* from, void (*function)(const Task*), int written) {
  static const Attrs none;
  Call call;
  strict_begin(&call, ctx, &none);
  call.task->compute = function;
  strict_hold_input(&call, 0, written == 0 ? from : to);
  strict_hold_input(&call, 1, written == 0 ? to : from);
  if (written == 0) {
    call.task->out = call.task->in[1];
    call.task->inputs = 1;
  }
  if (is_well(&call)) strict_put(&call, written);
  strict_end(&call);
}

static void copy(TF_OpKernelContext* ctx, TF_Tensor* from, TF_Tensor* to) { put_pair(ctx, to, from, copy_elements, 0); }

static void change(TF_OpKernelContext* ctx, TF_Tensor* value, TF_Tensor* by, int sign) {
  put_pair(ctx, value, by, sign > 0 ? add_to : subtract_from, 1);
}

static void check_shapes(const Call* call, int variables, int gradient) {
  const Value* const in = call->task->in;
  bool fits = in[gradient].count == in[0].count;
  for (int k = 1; k < variables; ++k) fits = fits && in[k].count == in[0].count;
  for (int k = variables; k < call->task->inputs; ++k) fits = fits && (k == gradient || in[k].count == 1);
  if (!fits) TF_SetStatus(call->status, TF_INVALID_ARGUMENT, "shapes that do not fit each other");
}

typedef struct Rule {
  int variables; /* the first inputs */
  int gradient;  /* the input that has their shape; all others are numbers */
  bool is_ref;
  void (*function)(const Task*);
} Rule;

/* Changes the variables that the first inputs are, by all inputs. */
static void update(const Attrs* attrs, TF_OpKernelContext* ctx, const Rule* rule) {
  const int variables = rule->variables;
  static const int places[kMostVariables] = {0, 1, 2};
  TF_VariableInputLockHolder* lock = NULL;
  Call call;
  strict_begin(&call, ctx, attrs);
  call.task->compute = rule->function;
  if (is_well(&call)) TF_MaybeLockVariableInputMutexesInOrder(ctx, true, false, places, (size_t)variables, copy, &lock, call.status);
  for (int k = 0; k < variables && is_well(&call); ++k) {
    TF_Tensor* value = NULL;
    TF_GetInputTensorFromVariable(ctx, k, true, false, false, copy, &value, call.status);
    if (is_well(&call)) strict_hold_input(&call, k, value);
  }
  for (int k = variables; k < TF_NumInputs(ctx) && is_well(&call); ++k) strict_take_input(&call, k);
  if (is_well(&call)) check_shapes(&call, variables, rule->gradient);
  if (is_well(&call)) strict_put(&call, variables);
  TF_ReleaseVariableInputLockHolder(lock);
  if (rule->is_ref && is_well(&call)) TF_OpKernelContext_ForwardRefInputToRefOutput(ctx, 0, 0);
  strict_end(&call);
}

static void assign(void* attrs, TF_OpKernelContext* ctx) {
  Call call;
  strict_begin(&call, ctx, attrs);
  TF_AssignVariable(ctx, 0, 1, call.task->attrs.validate_shape, copy, call.status);
  strict_end(&call);
}

static void assign_ref(void* attrs, TF_OpKernelContext* ctx) {
  Call call;
  strict_begin(&call, ctx, attrs);
  TF_AssignRefVariable(ctx, 0, 0, 1, true, call.task->attrs.validate_shape, copy, call.status);
  strict_end(&call);
}

static void assign_change(void* attrs, TF_OpKernelContext* ctx, int sign) {
  Call call;
  strict_begin(&call, ctx, attrs);
  TF_AssignUpdateVariable(ctx, 0, 1, sign, 0, copy, change, call.status);
  strict_end(&call);
}

static void assign_add(void* attrs, TF_OpKernelContext* ctx) { assign_change(attrs, ctx, 1); }
static void assign_sub(void* attrs, TF_OpKernelContext* ctx) { assign_change(attrs, ctx, -1); }

/* A temporary variable is named by its attribute, else by its node. */
static TF_StringView name_of(const Call* call) {
  const Attrs* const attrs = &call->task->attrs;
  const char* const text = attrs->variable[0] == '\0' ? call->node : attrs->variable;
  return (TF_StringView){text, strlen(text)};
}

static void temporary(void* attrs, TF_OpKernelContext* ctx) {
  Call call;
  strict_begin(&call, ctx, attrs);
  TF_StringView name = name_of(&call);
  const Attrs* const given = &call.task->attrs;
  TF_TemporaryVariable(ctx, TF_FLOAT, given->shape, given->rank, &name, NULL, call.status);
  strict_end(&call);
}

static void end_temporary(void* attrs, TF_OpKernelContext* ctx) {
  Call call;
  strict_begin(&call, ctx, attrs);
  TF_StringView name = name_of(&call);
  TF_DestroyTemporaryVariable(ctx, 0, &name, call.status);
  strict_end(&call);
}

/* ---- registration ---- */

#define UPDATES(X)                                                                                \
  X(AssignAdd, 1, 1, true, add_to) X(AssignSub, 1, 1, true, subtract_from)                         \
  X(ApplyGradientDescent, 1, 2, true, descend) X(ResourceApplyGradientDescent, 1, 2, false, descend) \
  X(ApplyMomentum, 2, 3, true, descend_with_momentum)                                              \
  X(ResourceApplyMomentum, 2, 3, false, descend_with_momentum)                                     \
  X(ApplyAdam, 3, 9, true, descend_by_adam) X(ResourceApplyAdam, 3, 9, false, descend_by_adam)

#define DEFINE_UPDATE(OP, VARIABLES, GRADIENT, IS_REF, FUNCTION)        \
  static void update_##OP(void* attrs, TF_OpKernelContext* ctx) {       \
    static const Rule rule = {VARIABLES, GRADIENT, IS_REF, FUNCTION};   \
    update(attrs, ctx, &rule);                                          \
  }
UPDATES(DEFINE_UPDATE)

#define UPDATE_RECIPE(OP, VARIABLES, GRADIENT, IS_REF, FUNCTION) {#OP, update_##OP, NULL, "T"},

static const Recipe kRecipes[] = {
    UPDATES(UPDATE_RECIPE){"AssignVariableOp", assign, NULL, "dtype"},
    {"AssignAddVariableOp", assign_add, NULL, "dtype"},
    {"AssignSubVariableOp", assign_sub, NULL, "dtype"},
    {"Assign", assign_ref, NULL, "T"},
    {"TemporaryVariable", temporary, NULL, "dtype"},
    {"DestroyTemporaryVariable", end_temporary, NULL, "T"},
};

void strict_register_variables(void) {
  for (size_t k = 0; k < sizeof kRecipes / sizeof *kRecipes; ++k) {
    strict_register(&kRecipes[k], kRecipes[k].type, TF_FLOAT, NULL, TF_FLOAT);
  }
}
