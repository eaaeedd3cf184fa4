/* One call of a kernel of the strict device. */
#ifndef STRICT_CALL_H_
#define STRICT_CALL_H_

#include "task.h"

typedef struct Call {
  TF_OpKernelContext* ctx;
  TF_Status* status;
  SP_Stream stream;
  char node[kStrictName];
  const char* outer; /* what this thread was in before: a kernel that has a value copied */
  TF_Tensor* inputs[kInputs];
  Task* task;
} Call;

/* What kernels are made with: attributes of the node, an Attrs that free() ends. */
void* strict_create(TF_OpKernelConstruction* ctx);

bool is_well(const Call* call);
/* Without inputs; a call is ended whatever becomes of it. */
void strict_begin(Call* call, TF_OpKernelContext* ctx, const Attrs* attrs);
void strict_end(Call* call);
/* Input `k` as the kernel sees it; the numbers of one in host memory. */
void strict_take_input(Call* call, int k);
/* Describes a tensor that the call owns from then on as input `k`. */
void strict_hold_input(Call* call, int k, TF_Tensor* tensor);
/* Puts the task on the stream, which owns it then. The first `written` inputs are changed where they are;
 * unless there are none of them, the output is new memory. */
void strict_put(Call* call, int written);

typedef struct Recipe {
  const char* op;
  void (*call)(void*, TF_OpKernelContext*);
  const char* on_host; /* an argument that lies in host memory, or NULL */
  const char* type;    /* the attribute that must be float, or NULL: any type */
} Recipe;

/* Registers one kernel; `attr` and `other`: attributes that must be these types, or NULL. */
void strict_register(const Recipe* recipe, const char* attr, TF_DataType type, const char* other, TF_DataType result);
void strict_register_variables(void);
void strict_register_lists(void);

#endif /* STRICT_CALL_H_ */
