/* What kernels of the strict device compute, plainly, on its thread. */
#include <math.h>
#include <string.h>

#include "task.h"

static const float* floats(const Value* value) { return value->data; }
static float* results(const Task* task) { return task->out.data; }

size_t size_of(TF_DataType type) { return TF_DataTypeSize(type); }

/* ---- element by element ---- */

#define DEFINE_UNARY(OP, EXPRESSION)                          \
  void element_##OP(const Task* task) {                       \
    const float* const from = floats(&task->in[0]);           \
    for (int64_t k = 0; k < task->out.count; ++k) {           \
      const float x = from[k];                                \
      results(task)[k] = (EXPRESSION);                        \
    }                                                         \
  }
STRICT_UNARY(DEFINE_UNARY)

/* Where element k of the output comes from in an input that is repeated along dimensions of 1. */
static int64_t broadcast(const Task* task, const Value* value, int64_t k) {
  int64_t at = 0, step = 1;
  for (int d = task->out.rank - 1; d >= 0; --d) {
    const int64_t index = k % task->out.dims[d];
    const int own = d - (task->out.rank - value->rank);
    k /= task->out.dims[d];
    if (own < 0) continue;
    if (value->dims[own] != 1) at += index * step;
    step *= value->dims[own];
  }
  return at;
}

#define DEFINE_BINARY(OP, EXPRESSION)                                                              \
  void element_##OP(const Task* task) {                                                            \
    const Value *const one = &task->in[0], *const other = &task->in[1];                            \
    for (int64_t k = 0; k < task->out.count; ++k) {                                                \
      const float x = floats(one)[one->count == task->out.count ? k : broadcast(task, one, k)];    \
      const float y = floats(other)[other->count == task->out.count ? k : broadcast(task, other, k)]; \
      results(task)[k] = (EXPRESSION);                                                             \
    }                                                                                              \
  }
STRICT_BINARY(DEFINE_BINARY)

void copy_elements(const Task* task) {
  memcpy(task->out.data, task->in[0].data, (size_t)task->out.count * size_of(task->out.type));
}

static double number_at(const Value* value, int64_t k) {
  switch (value->type) {
    case TF_FLOAT: return ((const float*)value->data)[k];
    case TF_INT32: return ((const int32_t*)value->data)[k];
    case TF_INT64: return (double)((const int64_t*)value->data)[k];
    default: return ((const uint8_t*)value->data)[k];
  }
}

void cast(const Task* task) {
  for (int64_t k = 0; k < task->out.count; ++k) {
    const double x = number_at(&task->in[0], k);
    switch (task->out.type) {
      case TF_FLOAT: ((float*)task->out.data)[k] = (float)x; break;
      case TF_INT32: ((int32_t*)task->out.data)[k] = (int32_t)x; break;
      case TF_INT64: ((int64_t*)task->out.data)[k] = (int64_t)x; break;
      case TF_BOOL: ((uint8_t*)task->out.data)[k] = x != 0; break;
      default: ((uint8_t*)task->out.data)[k] = (uint8_t)x; break;
    }
  }
}

/* ---- matrices ---- */

/* in[0] [.., m, k] times in[1] [.., k, n], either of them transposed; one matrix serves all of the other. */
void product(const Task* task) {
  const Value *const a = &task->in[0], *const b = &task->in[1];
  const int64_t m = task->out.dims[task->out.rank - 2], n = task->out.dims[task->out.rank - 1];
  const int64_t inner = a->dims[a->rank - (task->attrs.transpose_a ? 2 : 1)];
  const int64_t batches = m * n == 0 ? 0 : task->out.count / (m * n);
  for (int64_t batch = 0; batch < batches; ++batch) {
    const float* const left = floats(a) + (a->rank > 2 && a->count > m * inner ? batch * m * inner : 0);
    const float* const right = floats(b) + (b->rank > 2 && b->count > n * inner ? batch * n * inner : 0);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        float total = 0;
        for (int64_t k = 0; k < inner; ++k) {
          total += left[task->attrs.transpose_a ? k * m + i : i * inner + k] *
                   right[task->attrs.transpose_b ? j * inner + k : k * n + j];
        }
        results(task)[batch * m * n + i * n + j] = total;
      }
    }
  }
}

/* ---- reductions ---- */

void softmax(const Task* task) {
  const int64_t width = task->out.dims[task->out.rank - 1];
  for (int64_t begin = 0; begin < task->out.count; begin += width) {
    const float* const from = floats(&task->in[0]) + begin;
    float most = -INFINITY, total = 0;
    for (int64_t k = 0; k < width; ++k) most = from[k] > most ? from[k] : most;
    for (int64_t k = 0; k < width; ++k) total += results(task)[begin + k] = expf(from[k] - most);
    for (int64_t k = 0; k < width; ++k) results(task)[begin + k] /= total;
  }
}

static int is_axis(const Task* task, int d) {
  for (int k = 0; k < task->count; ++k) {
    if (task->numbers[k] == d || task->numbers[k] + task->in[0].rank == d) return 1;
  }
  return 0;
}

/* Where element k of the input goes. */
static int64_t target(const Task* task, int64_t k) {
  const Value* const in = &task->in[0];
  int64_t at = 0, step = 1;
  for (int d = in->rank - 1; d >= 0; --d) {
    const int64_t index = k % in->dims[d];
    k /= in->dims[d];
    if (is_axis(task, d)) continue;
    at += index * step;
    step *= in->dims[d];
  }
  return at;
}

static void reduce(const Task* task, float first, int is_sum) {
  for (int64_t k = 0; k < task->out.count; ++k) results(task)[k] = first;
  for (int64_t k = 0; k < task->in[0].count; ++k) {
    const float x = floats(&task->in[0])[k];
    float* const to = &results(task)[target(task, k)];
    if (is_sum) *to += x;
    else if (x > *to || x != x) *to = x;
  }
}

void sum(const Task* task) { reduce(task, 0, 1); }
void greatest(const Task* task) { reduce(task, -INFINITY, 0); }

void mean(const Task* task) {
  sum(task);
  const float share = (float)task->out.count / (float)task->in[0].count;
  for (int64_t k = 0; k < task->out.count; ++k) results(task)[k] *= share;
}

/* ---- moving elements ---- */

void transpose(const Task* task) {
  const Value *const in = &task->in[0], *const out = &task->out;
  const size_t size = size_of(in->type);
  int64_t steps[kRank], step = 1;
  for (int d = in->rank - 1; d >= 0; --d) {
    steps[d] = step;
    step *= in->dims[d];
  }
  for (int64_t k = 0; k < out->count; ++k) {
    int64_t at = 0, rest = k;
    for (int d = out->rank - 1; d >= 0; --d) {
      at += rest % out->dims[d] * steps[task->numbers[d]];
      rest /= out->dims[d];
    }
    memcpy((char*)out->data + (size_t)k * size, (const char*)in->data + (size_t)at * size, size);
  }
}

void concat(const Task* task) {
  const Value* const out = &task->out;
  const int axis = (int)(task->numbers[0] < 0 ? task->numbers[0] + out->rank : task->numbers[0]);
  size_t inner = size_of(out->type), row = 0;
  int64_t rows = 1;
  for (int d = 0; d < axis; ++d) rows *= out->dims[d];
  for (int d = axis + 1; d < out->rank; ++d) inner *= (size_t)out->dims[d];
  row = inner * (size_t)out->dims[axis];
  size_t before = 0;
  for (int k = 0; k < task->inputs - 1; ++k) {
    const size_t width = inner * (size_t)task->in[k].dims[axis];
    for (int64_t r = 0; r < rows; ++r) {
      memcpy((char*)out->data + (size_t)r * row + before, (const char*)task->in[k].data + (size_t)r * width, width);
    }
    before += width;
  }
}

void pad(const Task* task) {
  const Value *const in = &task->in[0], *const out = &task->out;
  memset(out->data, 0, (size_t)out->count * sizeof(float));
  for (int64_t k = 0; k < in->count; ++k) {
    int64_t at = 0, step = 1, rest = k;
    for (int d = in->rank - 1; d >= 0; --d) {
      at += (rest % in->dims[d] + task->numbers[2 * d]) * step;
      rest /= in->dims[d];
      step *= out->dims[d];
    }
    results(task)[at] = floats(in)[k];
  }
}

/* ---- windows over pictures: NHWC ---- */

/* Where a window begins before the picture does: what "SAME" puts on the side that comes first. */
static int64_t before(const Task* task, int d, int64_t window) {
  if (!task->attrs.is_same) return 0;
  const int64_t needed = (task->out.dims[d] - 1) * task->attrs.strides[d] + window - task->in[0].dims[d];
  return needed > 0 ? needed / 2 : 0;
}

typedef struct Place {
  int64_t n, y, x, c;       /* of the output */
  int64_t top, left;        /* of its window */
  int64_t height, width;    /* of the window */
} Place;

typedef float (*AtPlace)(const Task*, const Place*);

static void each_place(const Task* task, int64_t height, int64_t width, AtPlace compute) {
  const int64_t* const d = task->out.dims;
  const int64_t dy = task->attrs.dilations[1] ? task->attrs.dilations[1] : 1;
  const int64_t dx = task->attrs.dilations[2] ? task->attrs.dilations[2] : 1;
  const int64_t top = before(task, 1, (height - 1) * dy + 1), left = before(task, 2, (width - 1) * dx + 1);
  for (int64_t k = 0; k < task->out.count; ++k) {
    Place at = {.height = height, .width = width, .c = k % d[3], .x = k / d[3] % d[2], .y = k / d[3] / d[2] % d[1],
                .n = k / d[3] / d[2] / d[1]};
    at.top = at.y * task->attrs.strides[1] - top;
    at.left = at.x * task->attrs.strides[2] - left;
    results(task)[k] = compute(task, &at);
  }
}

/* A row of channels of the picture at a place of the window; NULL outside of it. */
static const float* pixel(const Task* task, const Place* at, int64_t i, int64_t j) {
  const Value* const in = &task->in[0];
  const int64_t y = at->top + i * (task->attrs.dilations[1] ? task->attrs.dilations[1] : 1);
  const int64_t x = at->left + j * (task->attrs.dilations[2] ? task->attrs.dilations[2] : 1);
  if (y < 0 || x < 0 || y >= in->dims[1] || x >= in->dims[2]) return NULL;
  return floats(in) + ((at->n * in->dims[1] + y) * in->dims[2] + x) * in->dims[3];
}

static float convolved(const Task* task, const Place* at) {
  const int64_t channels = task->in[1].dims[2], filters = task->in[1].dims[3];
  float total = 0;
  for (int64_t i = 0; i < at->height; ++i) {
    for (int64_t j = 0; j < at->width; ++j) {
      const float* const from = pixel(task, at, i, j);
      if (from == NULL) continue;
      const float* const weights = floats(&task->in[1]) + (i * at->width + j) * channels * filters + at->c;
      for (int64_t c = 0; c < channels; ++c) total += from[c] * weights[c * filters];
    }
  }
  return total;
}

static float convolved_by_channel(const Task* task, const Place* at) {
  const int64_t channels = task->in[1].dims[2], times = task->in[1].dims[3];
  float total = 0;
  for (int64_t i = 0; i < at->height; ++i) {
    for (int64_t j = 0; j < at->width; ++j) {
      const float* const from = pixel(task, at, i, j);
      if (from == NULL) continue;
      total += from[at->c / times] * floats(&task->in[1])[(i * at->width + j) * channels * times + at->c];
    }
  }
  return total;
}

static float pooled(const Task* task, const Place* at, int is_sum) {
  float found = is_sum ? 0 : -INFINITY;
  int seen = 0;
  for (int64_t i = 0; i < at->height; ++i) {
    for (int64_t j = 0; j < at->width; ++j) {
      const float* const from = pixel(task, at, i, j);
      if (from == NULL) continue;
      ++seen;
      if (is_sum) found += from[at->c];
      else if (from[at->c] > found) found = from[at->c];
    }
  }
  return is_sum ? found / (float)seen : found;
}

static float greatest_of(const Task* task, const Place* at) { return pooled(task, at, 0); }
static float average_of(const Task* task, const Place* at) { return pooled(task, at, 1); }

void convolution(const Task* task) { each_place(task, task->in[1].dims[0], task->in[1].dims[1], convolved); }
void depthwise(const Task* task) { each_place(task, task->in[1].dims[0], task->in[1].dims[1], convolved_by_channel); }
void max_pool(const Task* task) { each_place(task, task->attrs.window[1], task->attrs.window[2], greatest_of); }
void average_pool(const Task* task) { each_place(task, task->attrs.window[1], task->attrs.window[2], average_of); }
