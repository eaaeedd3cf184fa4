/* What kernels of the strict device compute with. */
#ifndef STRICT_TASK_H_
#define STRICT_TASK_H_

#include "drystone/kernels.h"
#include "strict.h"

enum { kRank = 8, kInputs = 10, kNumbers = 32 };

typedef struct Value {
  void* data; /* of the device: where the host knows it, and in a computation where it is */
  int64_t count;
  int64_t dims[kRank];
  int rank;
  TF_DataType type;
  bool is_on_host; /* the kernel asked for it there */
} Value;

/* Attributes of a node; 0 where it has none of that name. */
typedef struct Attrs {
  TF_Bool transpose_a, transpose_b, keep_dims, is_same, use_nesterov, validate_shape, grows;
  int64_t strides[4], dilations[4], window[4];
  char equation[8]; /* data_format */
  int64_t shape[kRank];
  int rank;
  char variable[kStrictName]; /* var_name */
} Attrs;

typedef struct Task {
  Work work;
  void (*compute)(const struct Task*);
  Attrs attrs;
  Value in[kInputs];
  int inputs;
  int64_t numbers[kNumbers]; /* the elements of the input in host memory */
  int count;                 /* how many they are; -1: none is */
  Value out;
} Task;

/* Sets the shape and dtype of the output by those of the inputs; NULL or what is wrong. */
typedef const char* (*Shape)(Task*);

const char* shape_of_first(Task*);
const char* shape_of_both(Task*);
const char* shape_of_product(Task*);
const char* shape_of_reduction(Task*);
const char* shape_of_transpose(Task*);
const char* shape_of_concat(Task*);
const char* shape_of_pad(Task*);
const char* shape_of_window(Task*);
const char* shape_of_reshape(Task*);
const char* shape_of_expand(Task*);

void copy_elements(const Task*);
void cast(const Task*);
void product(const Task*);
void softmax(const Task*);
void sum(const Task*);
void mean(const Task*);
void greatest(const Task*);
void transpose(const Task*);
void concat(const Task*);
void pad(const Task*);
void convolution(const Task*);
void depthwise(const Task*);
void max_pool(const Task*);
void average_pool(const Task*);

#define STRICT_UNARY(X)                                                                               \
  X(Neg, -x) X(Abs, fabsf(x)) X(Exp, expf(x)) X(Log, logf(x)) X(Sqrt, sqrtf(x)) X(Rsqrt, 1 / sqrtf(x)) \
  X(Square, x* x) X(Tanh, tanhf(x)) X(Sigmoid, 1 / (1 + expf(-x))) X(Relu, x < 0 ? 0 : x)               \
  X(Relu6, x < 0 ? 0 : x > 6 ? 6 : x)
#define STRICT_BINARY(X)                                                                          \
  X(Add, x + y) X(AddV2, x + y) X(BiasAdd, x + y) X(Sub, x - y) X(Mul, x* y) X(RealDiv, x / y)      \
  X(Maximum, x > y || x != x ? x : y) X(Minimum, x < y || x != x ? x : y)                           \
  X(SquaredDifference, (x - y) * (x - y))

#define STRICT_DECLARE(OP, EXPRESSION) void element_##OP(const Task*);
STRICT_UNARY(STRICT_DECLARE)
STRICT_BINARY(STRICT_DECLARE)

size_t size_of(TF_DataType type);

#endif /* STRICT_TASK_H_ */
