/* What kernels keep beyond a call: objects behind resource tensors, and the state of a node.
 *
 * The host keeps a pointer and gives it to its destroy function when nothing needs it any more; it
 * never looks at what is behind it. Objects are shared between runs and threads: a kernel that changes
 * one locks it. Destroy functions are called on any thread and must neither fail nor call back.
 *
 * NULL from a function says that the call has failed. A drystone interface: TensorFlow has no such
 * functions. Since 1.0.
 */
#ifndef DRYSTONE_KERNEL_STATE_H_
#define DRYSTONE_KERNEL_STATE_H_

#include "drystone/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A kind of object. Two kinds are the same when their addresses are, so a plugin has one constant of
 * each. The host reads it once, when an object of the kind is given to it. */
typedef struct DS_ObjectKind {
  size_t struct_size;
  const char* name;               /* for messages: "stack" */
  void (*destroy)(void* object);  /* required */
} DS_ObjectKind;
#define DS_OBJECT_KIND_STRUCT_SIZE TF_OFFSET_OF_END(DS_ObjectKind, destroy)

/* Make output `i` a scalar of dtype TF_RESOURCE that stands for `object`, which the host owns from
 * now on, also when the function fails: it lives as long as any tensor or call that has the resource.
 * 0 when the call fails: INVALID_ARGUMENT for an output of another dtype. */
TF_CAPI_EXPORT extern TF_Bool DS_NewResource(TF_OpKernelContext* ctx, int i,
                                             const DS_ObjectKind* kind, void* object);

/* The object that input `i` stands for, until the call ends. NULL, and the call fails with NOT_FOUND,
 * for another kind of resource. */
TF_CAPI_EXPORT extern void* DS_ResourceObject(TF_OpKernelContext* ctx, int i,
                                              const DS_ObjectKind* kind);

/* The object that the kernels of one node share for as long as the session lives: nodes of the same
 * name in several plans of a session have one. `create` makes it the first time, on this thread, and
 * gives NULL when it cannot (RESOURCE_EXHAUSTED). In a call without a session it belongs to the kernel. */
TF_CAPI_EXPORT extern void* DS_NodeState(TF_OpKernelContext* ctx, const DS_ObjectKind* kind,
                                         void* (*create)(void* argument), void* argument);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_KERNEL_STATE_H_ */
