/* The host library's own interface, for programs that embed it: kernels.
 *
 * A library registers kernels while DS_InitLibrary(library, "TF_InitKernel", status) runs. The embedder
 * lists them, makes an instance for one node, runs it any number of times and deletes it. Rules for
 * statuses, buffers and NULL are those of drystone/status.h and drystone/buffer.h. Since 1.0.
 *
 *   int64_t id = DS_FindKernel(node, NULL, "CPU", status);
 *   DS_Kernel* kernel = DS_NewKernel(id, node, NULL, NULL, status);
 *   TF_Tensor* out[1];
 *   DS_RunKernel(kernel, NULL, inputs, 2, out, 1, status);
 *   ... TF_DeleteTensor(out[0]);
 *   DS_DeleteKernel(kernel);
 *
 * Nothing a kernel does with the interface of drystone/kernels.h crosses this boundary except as a
 * status: a C++ exception becomes INTERNAL naming kernel and library, and so does an output that was
 * not set or has another dtype than the op says.
 */
#ifndef DRYSTONE_HOST_KERNELS_H_
#define DRYSTONE_HOST_KERNELS_H_

#include "drystone/buffer.h"
#include "drystone/datatype.h"
#include "drystone/macros.h"
#include "drystone/rendezvous.h"
#include "drystone/status.h"
#include "drystone/tensor.h"
#include "drystone/tensor_list.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what is registered ---- */

/* The registered kernels of an op (NULL: of all ops) as a JSON list, in order of registration; one
 * object each:
 *   {"id": 7, "op": "MatMul", "name": "MyMatMul", "device": "CPU", "priority": 0, "label": "",
 *    "constraints": [{"attr": "T", "types": [1, 2]}], "host_memory": ["shape"], "is_async": false,
 *    "library": "/path/plugin.so"}
 * `name` is the name given to TF_RegisterKernelBuilder, "library" is "the host program" for kernels
 * that no library registered. Numbers in "types" are TF_DataTypes; a kernel fits a node when every
 * constraint's attribute holds one of its types. `json` must arrive empty. */
TF_CAPI_EXPORT extern void DS_ListKernels(const char* op, TF_Buffer* json, TF_Status* status);

/* The id of the kernel for a node: of the kernels of the node's op for `device_type` (NULL or "":
 * "CPU") whose label is the node's `_kernel` attribute and whose constraints hold, the one of highest
 * priority; of several, the first registered. Ids are never negative and never reused; -1 and
 * NOT_FOUND when none fits, with the reason per candidate. `node_def` is a serialised NodeDef, `op_def`
 * a serialised OpDef (for defaults of attributes), or NULL to use the one that is registered. */
TF_CAPI_EXPORT extern int64_t DS_FindKernel(const TF_Buffer* node_def, const TF_Buffer* op_def,
                                            const char* device_type, TF_Status* status);

/* ---- one node's kernel ---- */

/* A kernel made for one node. May be run by several threads at once, as a kernel's compute function
 * may be; deleted when none runs it. */
typedef struct DS_Kernel DS_Kernel;

/* Make kernel `id` for a node: calls the plugin's create function. `op_def` may be NULL when the op is
 * registered with the host. `device_name` is the full device name the kernel sees; NULL or "" means
 * "/job:localhost/replica:0/task:0/device:CPU:0". Both buffers are copied. NULL on failure: NOT_FOUND
 * (no such id, unknown op), INVALID_ARGUMENT (malformed bytes, attributes that the arguments need are
 * missing, a node of another op), or what the plugin gave to TF_OpKernelConstruction_Failure. */
TF_CAPI_EXPORT extern DS_Kernel* DS_NewKernel(int64_t id, const TF_Buffer* node_def,
                                              const TF_Buffer* op_def, const char* device_name,
                                              TF_Status* status);

/* Delete it: calls the plugin's delete function, or leaves that to the last call still under way
 * when a deadline has passed. NULL is ignored. */
TF_CAPI_EXPORT extern void DS_DeleteKernel(DS_Kernel* kernel);

/* How many inputs and outputs the node has; 0 for NULL. */
TF_CAPI_EXPORT extern int DS_KernelNumInputs(const DS_Kernel* kernel);
TF_CAPI_EXPORT extern int DS_KernelNumOutputs(const DS_Kernel* kernel);

/* The dtype of an input or output (without the 100 that marks a reference); 0 for a bad index. */
TF_CAPI_EXPORT extern TF_DataType DS_KernelInputType(const DS_Kernel* kernel, int index);
TF_CAPI_EXPORT extern TF_DataType DS_KernelOutputType(const DS_Kernel* kernel, int index);

/* Whether an input or output must lie in host memory: always for a kernel of the CPU, and where the
 * kernel was registered with TF_KernelBuilder_HostMemory. False for a bad index. */
TF_CAPI_EXPORT extern TF_Bool DS_KernelInputOnHost(const DS_Kernel* kernel, int index);
TF_CAPI_EXPORT extern TF_Bool DS_KernelOutputOnHost(const DS_Kernel* kernel, int index);

/* ---- variables ---- */

/* A named tensor that kernels read and change. A handle counts one reference; several handles may
 * stand for one variable. Threads: any, each function is atomic. */
typedef struct DS_Variable DS_Variable;

/* A new variable. `container` NULL means "localhost"; `value` NULL leaves it uninitialised, otherwise
 * its memory is shared (a kernel that writes in place gets a copy first unless nothing else holds
 * it). `dtype` must be that of `value`. */
TF_CAPI_EXPORT extern DS_Variable* DS_NewVariable(const char* name, const char* container,
                                                  TF_DataType dtype, const TF_Tensor* value,
                                                  TF_Status* status);
/* Another handle of the same variable; NULL for NULL. */
TF_CAPI_EXPORT extern DS_Variable* DS_ShareVariable(const DS_Variable* variable);
/* Give the handle back. The variable itself goes when no handle, resource tensor or call has it. */
TF_CAPI_EXPORT extern void DS_DeleteVariable(DS_Variable* variable);
/* A new tensor handle of the value; FAILED_PRECONDITION when uninitialised. */
TF_CAPI_EXPORT extern TF_Tensor* DS_VariableTensor(const DS_Variable* variable, TF_Status* status);
/* The version of the value, which changes whenever that does: no other value of any variable has the
 * same. 0 when uninitialised. */
TF_CAPI_EXPORT extern int64_t DS_VariableVersion(const DS_Variable* variable);
/* Replace the value, whose memory is shared; NULL makes it uninitialised. */
TF_CAPI_EXPORT extern void DS_SetVariable(DS_Variable* variable, const TF_Tensor* value,
                                          TF_Status* status);
/* A scalar TF_RESOURCE tensor that stands for the variable: what kernels of resource variables take
 * as input. Its 8 bytes are a number looked up in a table, never an address: bytes that a plugin made
 * up are NOT_FOUND. The tensor keeps the variable alive. */
TF_CAPI_EXPORT extern TF_Tensor* DS_VariableHandle(const DS_Variable* variable, TF_Status* status);
/* A new handle of the variable that element `index` of a resource tensor stands for. */
TF_CAPI_EXPORT extern DS_Variable* DS_VariableOfHandle(const TF_Tensor* resource, int64_t index,
                                                       TF_Status* status);

/* ---- variants ---- */

/* A scalar TF_VARIANT tensor that wraps `num_parts` tensors: one for a wrapped tensor, any number for
 * a list. Memory is shared. Elements are numbers in a table, as for resources. */
TF_CAPI_EXPORT extern TF_Tensor* DS_NewVariant(const TF_Tensor* const* parts, int num_parts,
                                               TF_Status* status);
/* How many tensors a variant scalar wraps; -1 on failure. */
TF_CAPI_EXPORT extern int DS_VariantNumParts(const TF_Tensor* variant, TF_Status* status);
/* A new handle of one of them. */
TF_CAPI_EXPORT extern TF_Tensor* DS_VariantPart(const TF_Tensor* variant, int index,
                                                TF_Status* status);

/* ---- tensor lists (drystone/tensor_list.h) ---- */

/* A scalar TF_VARIANT tensor with a list of `facts->length` elements, of which `items[k]` may be NULL:
 * unset. Memory is shared. INVALID_ARGUMENT for an item of another dtype. */
TF_CAPI_EXPORT extern TF_Tensor* DS_NewListTensor(const DS_ListFacts* facts,
                                                  const TF_Tensor* const* items,
                                                  TF_Status* status);
/* The list in a tensor, valid as long as that; NULL for a tensor without one. `facts` may be NULL. */
TF_CAPI_EXPORT extern const DS_TensorList* DS_ListOfTensor(const TF_Tensor* tensor,
                                                           DS_ListFacts* facts);
/* A new handle of an element; NULL for one that is unset or not there. */
TF_CAPI_EXPORT extern TF_Tensor* DS_ListTensorItem(const DS_TensorList* list, int64_t k);

/* A tensor of dtype TF_VARIANT or TF_RESOURCE whose elements only the embedder knows, such as elements
 * of a list may be. `release(object)` is called when nothing holds it; both belong to the host even
 * when the function gives NULL. */
TF_CAPI_EXPORT extern TF_Tensor* DS_NewForeignTensor(TF_DataType dtype, const int64_t* dims,
                                                     int num_dims, void* object,
                                                     void (*release)(void* object));
/* The object of such a tensor, borrowed; NULL for any other. */
TF_CAPI_EXPORT extern void* DS_ForeignObject(const TF_Tensor* tensor);

/* ---- states of nodes (drystone/kernel_state.h) ---- */

typedef struct DS_NodeStates DS_NodeStates;
TF_CAPI_EXPORT extern DS_NodeStates* DS_NewNodeStates(void);
/* Destroys the states. No call may use them any more. NULL is ignored. */
TF_CAPI_EXPORT extern void DS_DeleteNodeStates(DS_NodeStates* states);

/* ---- running ---- */

/* A new tensor in the memory of a device, or NULL and a status. Called on any thread of the kernel. */
typedef TF_Tensor* (*DS_Allocate)(void* context, TF_DataType dtype, const int64_t* dims,
                                  int num_dims, TF_Status* status);

/* Facts of one call. Zero the struct, set struct_size, then what matters; all zero is fine. Members
 * beyond struct_size count as zero. Everything pointed to is borrowed for the call. */
typedef struct DS_KernelCall {
  size_t struct_size;
  int64_t step_id;                   /* of the run that the call belongs to */
  uint64_t frame_id;                 /* of a loop's frame */
  int64_t iter_id;                   /* of the iteration in that frame */
  int64_t deadline_ms;               /* how long to wait for an asynchronous kernel, for deferred
                                        work and for a variable's lock; 0: as long as it takes */
  int32_t graph_def_version;         /* producer version of the graph */
  int32_t device_id;                 /* 0: the number at the end of the device name */
  const TF_Buffer* function_library; /* serialised FunctionDefLibrary; NULL: no functions */
  const TF_Buffer* config;           /* serialised ConfigProto; NULL: an empty one */
  const char* container;             /* default resource container; NULL: "localhost" */
  void* stream;                      /* SP_Stream of the device; NULL: none */
  const TF_Bool* overwritable;       /* one per input; not 0: the caller gives the value up, so that
                                        the kernel may write its output over it. NULL: none */
  DS_Variable* const* input_variables; /* one per input: the variable of an input that is a
                                          reference, whose entry in `inputs` is not read; NULL for
                                          all others. NULL: no references */
  DS_Variable** output_variables;    /* one per output, written when the call succeeds: a new handle
                                        for an output that is a reference, else NULL. NULL: not
                                        wanted */
  DS_Allocate allocate;              /* memory for outputs and temporaries that lie on the device;
                                        NULL: host memory */
  void* allocate_context;            /* its first argument; must live until calls that were given up
                                        at a deadline are over, too */
  DS_NodeStates* states;             /* of the session; NULL: kernels keep their own */
  TF_RendezvousThunk rendezvous;     /* what TF_GetRendezvous answers; without functions: none */
} DS_KernelCall;
#define DS_KERNEL_CALL_STRUCT_SIZE TF_OFFSET_OF_END(DS_KernelCall, rendezvous)

/* Run the kernel once, and wait for it. `call` may be NULL. `inputs` are borrowed; none may be NULL
 * except for references. On success every entry of `outputs` is a new handle for the caller to
 * delete (NULL for a reference to a variable without a value); on failure all are NULL. Errors: INVALID_ARGUMENT (another number of inputs or outputs than
 * the node has, an input of another dtype), INTERNAL (see above), DEADLINE_EXCEEDED (the call goes on
 * by itself and its result is thrown away), and whatever the kernel reported; all of them name node,
 * op and library. */
TF_CAPI_EXPORT extern void DS_RunKernel(DS_Kernel* kernel, const DS_KernelCall* call,
                                        TF_Tensor* const* inputs, int num_inputs,
                                        TF_Tensor** outputs, int num_outputs, TF_Status* status);

/* A step is over: forget its temporary variables that were never destroyed; how many they were. */
TF_CAPI_EXPORT extern int DS_EndStep(int64_t step_id);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_HOST_KERNELS_H_ */
