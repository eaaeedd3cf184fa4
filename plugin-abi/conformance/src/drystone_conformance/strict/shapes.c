/* Shapes of what kernels of the strict device give. */
#include "task.h"

static void set(Value* out, const Value* like) {
  const void* const data = out->data;
  *out = *like;
  out->data = (void*)data;
}

static void count(Value* value) {
  value->count = 1;
  for (int d = 0; d < value->rank; ++d) value->count *= value->dims[d];
}

const char* shape_of_first(Task* task) {
  const TF_DataType type = task->out.type;
  set(&task->out, &task->in[0]);
  task->out.type = type;
  return NULL;
}

const char* shape_of_both(Task* task) {
  const Value* longer = &task->in[0];
  const Value* shorter = &task->in[1];
  if (longer->rank < shorter->rank) longer = &task->in[1], shorter = &task->in[0];
  set(&task->out, longer);
  for (int d = 1; d <= shorter->rank; ++d) {
    int64_t* const dim = &task->out.dims[task->out.rank - d];
    const int64_t other = shorter->dims[shorter->rank - d];
    if (*dim == 1) *dim = other;
    else if (other != 1 && other != *dim) return "shapes that do not fit each other";
  }
  count(&task->out);
  return NULL;
}

const char* shape_of_product(Task* task) {
  const Value *const a = &task->in[0], *const b = &task->in[1];
  if (a->rank < 2 || b->rank < 2) return "a product needs matrices";
  const bool ta = task->attrs.transpose_a != 0, tb = task->attrs.transpose_b != 0;
  if (a->dims[a->rank - (ta ? 2 : 1)] != b->dims[b->rank - (tb ? 1 : 2)]) return "matrices that do not fit each other";
  const Value* const longer = a->count / (a->dims[a->rank - 1] * a->dims[a->rank - 2] + 1) >
                                      b->count / (b->dims[b->rank - 1] * b->dims[b->rank - 2] + 1) || a->rank >= b->rank ? a : b;
  const int64_t m = a->dims[a->rank - (ta ? 1 : 2)], n = b->dims[b->rank - (tb ? 2 : 1)];
  set(&task->out, longer);
  task->out.dims[task->out.rank - 2] = m;
  task->out.dims[task->out.rank - 1] = n;
  count(&task->out);
  return NULL;
}

const char* shape_of_reduction(Task* task) {
  Value* const out = &task->out;
  const Value* const in = &task->in[0];
  bool goes[kRank] = {false};
  for (int k = 0; k < task->count; ++k) {
    const int64_t axis = task->numbers[k] < 0 ? task->numbers[k] + in->rank : task->numbers[k];
    if (axis < 0 || axis >= in->rank) return "an axis that is not there";
    goes[axis] = true;
  }
  out->type = in->type;
  out->rank = 0;
  for (int d = 0; d < in->rank; ++d) {
    if (goes[d] && !task->attrs.keep_dims) continue;
    out->dims[out->rank++] = goes[d] ? 1 : in->dims[d];
  }
  count(out);
  return NULL;
}

const char* shape_of_transpose(Task* task) {
  const Value* const in = &task->in[0];
  if (task->count != in->rank) return "a permutation of another length than the rank";
  set(&task->out, in);
  for (int d = 0; d < in->rank; ++d) {
    if (task->numbers[d] < 0) task->numbers[d] += in->rank;
    if (task->numbers[d] < 0 || task->numbers[d] >= in->rank) return "no permutation";
    task->out.dims[d] = in->dims[task->numbers[d]];
  }
  return NULL;
}

const char* shape_of_concat(Task* task) {
  Value* const out = &task->out;
  set(out, &task->in[0]);
  const int64_t axis = task->numbers[0] < 0 ? task->numbers[0] + out->rank : task->numbers[0];
  if (axis < 0 || axis >= out->rank) return "an axis that is not there";
  for (int k = 1; k < task->inputs - 1; ++k) {
    if (task->in[k].rank != out->rank) return "values of different ranks";
    out->dims[axis] += task->in[k].dims[axis];
  }
  count(out);
  return NULL;
}

const char* shape_of_pad(Task* task) {
  set(&task->out, &task->in[0]);
  if (task->count != 2 * task->out.rank) return "paddings of another length than the rank";
  for (int d = 0; d < task->out.rank; ++d) task->out.dims[d] += task->numbers[2 * d] + task->numbers[2 * d + 1];
  count(&task->out);
  return NULL;
}

/* Of convolutions, whose window is the filter's, and of pools. */
const char* shape_of_window(Task* task) {
  const Value* const in = &task->in[0];
  Value* const out = &task->out;
  if (in->rank != 4) return "a picture must have rank 4";
  set(out, in);
  for (int d = 1; d <= 2; ++d) {
    const int64_t step = task->attrs.strides[d], gap = task->attrs.dilations[d] ? task->attrs.dilations[d] : 1;
    const int64_t window = task->inputs == 2 ? task->in[1].dims[d - 1] : task->attrs.window[d];
    const int64_t reach = (window - 1) * gap + 1;
    out->dims[d] = task->attrs.is_same ? (in->dims[d] + step - 1) / step : (in->dims[d] - reach + step) / step;
    if (out->dims[d] < 0) out->dims[d] = 0;
  }
  if (task->inputs == 2) {
    const int64_t* const filter = task->in[1].dims;
    out->dims[3] = filter[2] == in->dims[3] && task->compute == depthwise ? filter[2] * filter[3] : filter[3];
    if (filter[2] != in->dims[3]) return "a filter of another depth than the picture";
  }
  count(out);
  return NULL;
}

const char* shape_of_reshape(Task* task) {
  Value* const out = &task->out;
  const Value* const in = &task->in[0];
  int64_t known = 1;
  int open = -1;
  if (task->count > kRank) return "more dimensions than this device has";
  out->type = in->type;
  out->rank = task->count;
  for (int d = 0; d < out->rank; ++d) {
    out->dims[d] = task->numbers[d];
    if (out->dims[d] < 0) open = d;
    else known *= out->dims[d];
  }
  if (open >= 0) out->dims[open] = known == 0 ? 0 : in->count / known;
  count(out);
  return out->count == in->count ? NULL : "a shape of another number of elements";
}

const char* shape_of_expand(Task* task) {
  Value* const out = &task->out;
  const Value* const in = &task->in[0];
  const int64_t axis = task->numbers[0] < 0 ? task->numbers[0] + in->rank + 1 : task->numbers[0];
  if (axis < 0 || axis > in->rank || in->rank == kRank) return "an axis that is not there";
  set(out, in);
  out->rank = in->rank + 1;
  for (int d = in->rank; d > axis; --d) out->dims[d] = in->dims[d - 1];
  out->dims[axis] = 1;
  return NULL;
}
