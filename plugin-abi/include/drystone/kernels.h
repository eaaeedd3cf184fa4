/* Kernels: how a library computes ops.
 *
 * Entry symbol: TF_InitKernel, called once. In it a library describes each kernel with a builder
 * and registers it. Names, signatures and layouts are those of TensorFlow's kernel C API. Since ABI
 * 1.0.
 *
 *   static void compute(void* self, TF_OpKernelContext* ctx) {
 *     TF_Status* status = TF_NewStatus();
 *     TF_Tensor *x = NULL, *y = NULL;
 *     int64_t dims[1];
 *     TF_GetInput(ctx, 0, &x, status);
 *     if (TF_GetCode(status) == TF_OK) {
 *       dims[0] = TF_TensorElementCount(x);
 *       y = TF_AllocateOutput(ctx, 0, TF_FLOAT, dims, 1, TF_TensorByteSize(x), status);
 *     }
 *     if (y != NULL) relu(TF_TensorData(x), TF_TensorData(y), dims[0]);
 *     else TF_OpKernelContext_Failure(ctx, status);
 *     if (x != NULL) TF_DeleteTensor(x);
 *     if (y != NULL) TF_DeleteTensor(y);
 *     TF_DeleteStatus(status);
 *   }
 *
 *   void TF_InitKernel(void) {
 *     TF_Status* status = TF_NewStatus();
 *     TF_KernelBuilder* builder = TF_NewKernelBuilder("Relu", "CPU", NULL, compute, NULL);
 *     TF_KernelBuilder_TypeConstraint(builder, "T", TF_FLOAT, status);
 *     if (TF_GetCode(status) == TF_OK) TF_RegisterKernelBuilder("MyRelu", builder, status);
 *     else TF_DeleteKernelBuilder(builder);
 *     TF_DeleteStatus(status);
 *   }
 *
 * The life of a kernel
 *   1. A node of the op is to run on the device. Of the registered kernels those fit whose label is
 *      the node's `_kernel` attribute ("" without one) and whose type constraints hold; the highest
 *      priority wins, and of equals the one that was registered first.
 *   2. create_func is called with a construction context: it reads attributes and returns the
 *      kernel's state. The context ends with the call.
 *   3. compute_func is called once per run of the node with that state and a context: it reads
 *      inputs and sets outputs. The context ends with the call (an asynchronous kernel's: with its
 *      done callback).
 *   4. delete_func is called with the state when the node is no longer needed.
 *
 * Threads. Registration happens on one thread. compute_func may run on several threads at once,
 * with the same state and different contexts. Functions of one context may be called by several
 * threads of an asynchronous kernel, as long as no two of them set the same output.
 *
 * An asynchronous kernel hands context and callback to whatever finishes the work, and returns:
 *
 *   static void compute_async(void* self, TF_OpKernelContext* ctx,
 *                             TF_AsyncOpKernelDoneCallback* done) {
 *     queue_work(self, ctx, done);  // ends with: set outputs or a failure, then
 *   }                               // TF_RunAsyncOpKernelDoneCallback(done)
 *
 * Ownership. Tensors that a function returns are new handles: the caller deletes each with
 * TF_DeleteTensor, which does not touch what other handles share. Strings of TF_StringView belong
 * to the kernel and live as long as it does.
 *
 * Failing. A function with a status sets it: OK, or an error and then nothing else was changed. The
 * kernel passes errors on with TF_OpKernelConstruction_Failure or TF_OpKernelContext_Failure; the
 * first one counts. Returning from compute_func without having set every output is an error, too.
 * C++ exceptions must not leave these functions; the host turns one that does into an error of the
 * node.
 *
 * NULL. A NULL context or other pointer that is needed gives INVALID_ARGUMENT, and functions
 * without a status then answer 0, false, -1 or an empty string. A NULL status is accepted
 * everywhere: the error is then lost.
 *
 * Differences from TensorFlow: a bad index gives an answer where TensorFlow aborts; registering the
 * same kernel twice is a status; a status is always set, never left as it was; memory of the CPU
 * is host memory for TF_IsHostMemoryInput and -Output, declared or not; and TF_GetStream says
 * UNIMPLEMENTED on the CPU, not FAILED_PRECONDITION.
 */
#ifndef DRYSTONE_KERNELS_H_
#define DRYSTONE_KERNELS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drystone/buffer.h"
#include "drystone/datatype.h"
#include "drystone/device.h"
#include "drystone/macros.h"
#include "drystone/rendezvous.h"
#include "drystone/status.h"
#include "drystone/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A string that another owner holds; not NUL-terminated. */
#ifndef DRYSTONE_STRING_VIEW_DEFINED
#define DRYSTONE_STRING_VIEW_DEFINED
typedef struct TF_StringView {
  const char* data;
  size_t len;
} TF_StringView;
#endif

/* Describes one kernel until it is registered. Not for two threads at once. */
typedef struct TF_KernelBuilder TF_KernelBuilder;
/* One node while its kernel is made: its attributes. Lives during create_func. */
typedef struct TF_OpKernelConstruction TF_OpKernelConstruction;
/* One call of a kernel: its inputs and outputs. Lives during compute_func, or until an asynchronous
 * kernel calls back. */
typedef struct TF_OpKernelContext TF_OpKernelContext;
/* What an asynchronous kernel calls at the end of one call. The host's; never delete it. */
typedef struct TF_AsyncOpKernelDoneCallback TF_AsyncOpKernelDoneCallback;

/* ---- registration ---------------------------------------------------------------------------- */

/* Defined by the plugin. It cannot report failure: each registration has its own status, and the
 * host remembers their errors with the library. */
TF_CAPI_EXPORT void TF_InitKernel(void);

/* A builder for kernels of op `op_name` on device type `device_name`, such as "CPU".
 * create_func and delete_func may be NULL; the state is then NULL. compute_func is required. NULL
 * when a name or compute_func is NULL or memory is exhausted. Ends with TF_RegisterKernelBuilder
 * or TF_DeleteKernelBuilder. */
TF_CAPI_EXPORT extern TF_KernelBuilder* TF_NewKernelBuilder(
    const char* op_name, const char* device_name, void* (*create_func)(TF_OpKernelConstruction*),
    void (*compute_func)(void*, TF_OpKernelContext*), void (*delete_func)(void*));

/* The same for a kernel that may finish after compute_async_func has returned, on any thread. It
 * must call TF_RunAsyncOpKernelDoneCallback(done) exactly once, when outputs or a failure are set;
 * the context is dead from then on. */
TF_CAPI_EXPORT extern TF_KernelBuilder* TF_NewAsyncKernelBuilder(
    const char* op_name, const char* device_name, void* (*create_func)(TF_OpKernelConstruction*),
    void (*compute_async_func)(void*, TF_OpKernelContext*, TF_AsyncOpKernelDoneCallback* done),
    void (*delete_func)(void*));

/* An asynchronous kernel is done. A second call is ignored, unless a thousand asynchronous calls
 * have been made since the first. */
TF_CAPI_EXPORT extern void TF_RunAsyncOpKernelDoneCallback(TF_AsyncOpKernelDoneCallback* done);

/* The kernel fits only nodes whose attribute `attr_name` (a type, or a list of types) is `type`.
 * Constraints add up: each must hold. UNIMPLEMENTED for a number that is no TF_DataType. */
TF_CAPI_EXPORT extern void TF_KernelBuilder_TypeConstraint(TF_KernelBuilder* kernel_builder,
                                                           const char* attr_name, TF_DataType type,
                                                           TF_Status* status);

/* The input or output argument `arg_name` lies in host memory, whatever the device. */
TF_CAPI_EXPORT extern void TF_KernelBuilder_HostMemory(TF_KernelBuilder* kernel_builder,
                                                       const char* arg_name);

/* Preference over other kernels that fit; 0 without this call. The host's own reference kernels
 * count as -1. */
TF_CAPI_EXPORT extern void TF_KernelBuilder_Priority(TF_KernelBuilder* kernel_builder,
                                                     int32_t priority_number);

/* The kernel serves only nodes with that string in their attribute `_kernel`. */
TF_CAPI_EXPORT extern void TF_KernelBuilder_Label(TF_KernelBuilder* kernel_builder,
                                                  const char* label);

/* Register; takes over the builder, also when it fails. `kernel_name` is for people to read; NULL
 * means "". ALREADY_EXISTS, naming both libraries, when a kernel with the same op, device,
 * constraints, label and priority is registered. */
TF_CAPI_EXPORT extern void TF_RegisterKernelBuilder(const char* kernel_name,
                                                    TF_KernelBuilder* builder, TF_Status* status);

/* The same, except that op, device, constraints, host memory, label and priority come from a
 * serialised KernelDef (NUL-terminated, which bytes of a KernelDef can be since none is zero). NULL
 * means TF_RegisterKernelBuilder. INVALID_ARGUMENT for bytes that are no KernelDef with an op and a
 * device type. */
TF_CAPI_EXPORT extern void TF_RegisterKernelBuilderWithKernelDef(const char* serialized_kernel_def,
                                                                 const char* name,
                                                                 TF_KernelBuilder* builder,
                                                                 TF_Status* status);

/* Delete a builder that is not going to be registered. */
TF_CAPI_EXPORT extern void TF_DeleteKernelBuilder(TF_KernelBuilder* builder);

/* ---- construction: reading attributes -------------------------------------------------------- */

/* All of these look at the node first, and at the op's default when the node does not have the
 * attribute. Common errors of the Get functions: NOT_FOUND without such an attribute (for lists of
 * types, numbers and bools INVALID_ARGUMENT, as in TensorFlow), INVALID_ARGUMENT when it is of
 * another kind or does not fit the memory given. Nothing is ever written past `max_vals` entries
 * or `storage_size` bytes. */

/* Whether the node has the attribute or the op a default for it. */
TF_CAPI_EXPORT extern bool TF_OpKernelConstruction_HasAttr(TF_OpKernelConstruction* ctx,
                                                           const char* attr_name,
                                                           TF_Status* status);

/* The node's name. */
TF_CAPI_EXPORT extern TF_StringView TF_OpKernelConstruction_GetName(TF_OpKernelConstruction* ctx);

/* How much memory the other functions need.
 *   attribute         list_size   total_size
 *   string            -1          its bytes
 *   shape             -1          its rank, -1 when unknown
 *   any other single  -1          -1
 *   list of strings   its length  bytes of all strings
 *   list of shapes    its length  dimensions of all shapes whose rank is known
 *   any other list    its length  -1
 *   absent            -1          -1, and INVALID_ARGUMENT */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrSize(TF_OpKernelConstruction* ctx,
                                                               const char* attr_name,
                                                               int32_t* list_size,
                                                               int32_t* total_size,
                                                               TF_Status* status);

/* A dtype. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrType(TF_OpKernelConstruction* ctx,
                                                               const char* attr_name,
                                                               TF_DataType* val,
                                                               TF_Status* status);

/* An integer; INVALID_ARGUMENT when the value does not fit 32 bits. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrInt32(TF_OpKernelConstruction* ctx,
                                                                const char* attr_name,
                                                                int32_t* val, TF_Status* status);

/* An integer. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrInt64(TF_OpKernelConstruction* ctx,
                                                                const char* attr_name,
                                                                int64_t* val, TF_Status* status);

/* A real number. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrFloat(TF_OpKernelConstruction* ctx,
                                                                const char* attr_name, float* val,
                                                                TF_Status* status);

/* A boolean: 0 or 1. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrBool(TF_OpKernelConstruction* ctx,
                                                               const char* attr_name, TF_Bool* val,
                                                               TF_Status* status);

/* The first `max_length` bytes of the string, without a NUL; ask GetAttrSize for the length. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrString(TF_OpKernelConstruction* ctx,
                                                                 const char* attr_name, char* val,
                                                                 size_t max_length,
                                                                 TF_Status* status);

/* A constant, as a new tensor that the caller deletes. INVALID_ARGUMENT also for a constant that is
 * malformed or claims more than 2 GiB by repeating one element. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrTensor(TF_OpKernelConstruction* ctx,
                                                                 const char* attr_name,
                                                                 TF_Tensor** val,
                                                                 TF_Status* status);

/* Lists: the first `max_vals` elements; entries of `vals` past the list's end are left alone. Ask
 * GetAttrSize for the length. `vals` may be NULL where nothing is to be written. An empty list is
 * a list of any kind. Of dtypes: */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrTypeList(TF_OpKernelConstruction* ctx,
                                                                   const char* attr_name,
                                                                   TF_DataType* vals, int max_vals,
                                                                   TF_Status* status);

/* Of integers; INVALID_ARGUMENT when one of the list does not fit 32 bits, asked for or not. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrInt32List(TF_OpKernelConstruction* ctx,
                                                                    const char* attr_name,
                                                                    int32_t* vals, int max_vals,
                                                                    TF_Status* status);

/* Of integers. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrInt64List(TF_OpKernelConstruction* ctx,
                                                                    const char* attr_name,
                                                                    int64_t* vals, int max_vals,
                                                                    TF_Status* status);

/* Of real numbers. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrFloatList(TF_OpKernelConstruction* ctx,
                                                                    const char* attr_name,
                                                                    float* vals, int max_vals,
                                                                    TF_Status* status);

/* Of booleans, each 0 or 1. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrBoolList(TF_OpKernelConstruction* ctx,
                                                                   const char* attr_name,
                                                                   TF_Bool* vals, int max_vals,
                                                                   TF_Status* status);

/* Packs the strings one after the other into `storage`, without NULs; values[i] points there and
 * lengths[i] is its length. INVALID_ARGUMENT when `storage` is too small. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrStringList(
    TF_OpKernelConstruction* ctx, const char* attr_name, char** values, size_t* lengths,
    int max_values, void* storage, size_t storage_size, TF_Status* status);

/* Of constants, as new tensors that the caller deletes. Either all are made or none. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_GetAttrTensorList(TF_OpKernelConstruction* ctx,
                                                                     const char* attr_name,
                                                                     TF_Tensor** vals,
                                                                     int max_values,
                                                                     TF_Status* status);

/* A function's name and attributes as a serialised NameAttrList; the caller deletes the buffer.
 * NULL on failure. */
TF_CAPI_EXPORT extern TF_Buffer* TF_OpKernelConstruction_GetAttrFunction(
    TF_OpKernelConstruction* ctx, const char* attr_name, TF_Status* status);

/* The serialised NodeDef; the caller deletes the buffer. NULL on failure. */
TF_CAPI_EXPORT extern TF_Buffer* TF_OpKernelConstruction_GetNodeDef(TF_OpKernelConstruction* ctx,
                                                                    TF_Status* status);

/* The kernel cannot be made. What create_func returns is then still given to delete_func. A status
 * that is OK changes nothing. */
TF_CAPI_EXPORT extern void TF_OpKernelConstruction_Failure(TF_OpKernelConstruction* ctx,
                                                           TF_Status* status);

/* ---- context: inputs ------------------------------------------------------------------------- */

/* How many inputs the node has, those of lists counted one by one; control inputs are none. 0 for
 * NULL. */
TF_CAPI_EXPORT extern int TF_NumInputs(TF_OpKernelContext* ctx);

/* A new handle of input `i`. Its memory may be shared with others: read only. OUT_OF_RANGE for a
 * bad index. */
TF_CAPI_EXPORT extern void TF_GetInput(TF_OpKernelContext* ctx, int i, TF_Tensor** tensor,
                                       TF_Status* status);

/* Where the inputs of one argument of the op lie: [start, stop). Set struct_size, zero the rest. */
typedef struct TF_InputRange_Args {
  size_t struct_size;
  void* priv; /* reserved: NULL */
  int start;  /* out */
  int stop;   /* out */
  TF_Status* status;
} TF_InputRange_Args;
#define TF_InputRange_Args_STRUCT_SIZE TF_OFFSET_OF_END(TF_InputRange_Args, status)

/* INVALID_ARGUMENT for an argument that the op does not have; a struct_size too small to reach
 * `status` gives no answer at all. */
TF_CAPI_EXPORT extern void TF_InputRange(TF_OpKernelContext* ctx, const char* name,
                                         TF_InputRange_Args* args);

/* The dtype of an input; 100 more for one that is a reference. 0 for a bad index. */
TF_CAPI_EXPORT extern TF_DataType TF_InputDatatype(TF_OpKernelContext* ctx, int index);

/* Whether input `i` lies in host memory: always so on the CPU. OUT_OF_RANGE for a bad index. */
TF_CAPI_EXPORT extern bool TF_IsHostMemoryInput(TF_OpKernelContext* ctx, int i, TF_Status* status);

/* ---- context: outputs ------------------------------------------------------------------------ */

/* How many outputs the node has, those of lists counted one by one. 0 for NULL. */
TF_CAPI_EXPORT extern int TF_NumOutputs(TF_OpKernelContext* ctx);

/* The dtype that output `i` must have; 100 more for a reference. 0 for a bad index. */
TF_CAPI_EXPORT extern TF_DataType TF_ExpectedOutputDataType(TF_OpKernelContext* ctx, int i);

/* Whether output `i` must lie in host memory. OUT_OF_RANGE for a bad index. */
TF_CAPI_EXPORT extern bool TF_IsHostMemoryOutput(TF_OpKernelContext* ctx, int i,
                                                 TF_Status* status);

/* Fresh memory for output `index`, which it becomes. `dtype` must be the expected one. The host
 * takes the size from dtype and dims; `len` says what the kernel means to write, and is not read.
 * NULL on failure: OUT_OF_RANGE, INVALID_ARGUMENT or RESOURCE_EXHAUSTED. */
TF_CAPI_EXPORT extern TF_Tensor* TF_AllocateOutput(TF_OpKernelContext* context, int index,
                                                   TF_DataType dtype, const int64_t* dims,
                                                   int num_dims, size_t len, TF_Status* status);

/* Let output `output_index` have the memory of the first candidate input that nothing else needs and
 * that has as many bytes, dtype and placement; else fresh memory. `forwarded_input` (NULL is fine)
 * becomes that input's index, or -1. OUT_OF_RANGE for any bad index. */
TF_CAPI_EXPORT extern TF_Tensor* TF_ForwardInputOrAllocateOutput(
    TF_OpKernelContext* context, const int* candidate_input_indices,
    int num_candidate_input_indices, int output_index, const int64_t* output_dims,
    int output_num_dims, int* forwarded_input, TF_Status* status);

/* Output `i` is this tensor, whose memory is shared from now on. OUT_OF_RANGE for a bad index,
 * INVALID_ARGUMENT for another dtype than expected. */
TF_CAPI_EXPORT extern void TF_SetOutput(TF_OpKernelContext* ctx, int i, const TF_Tensor* tensor,
                                        TF_Status* status);

/* A new handle of what output `i` is now. OUT_OF_RANGE for a bad index, FAILED_PRECONDITION before
 * it is set. */
TF_CAPI_EXPORT extern TF_Tensor* TF_GetMutableOutput(TF_OpKernelContext* ctx, int i,
                                                     TF_Status* status);

/* Memory for this call, not zeroed. `alloc_attrs` NULL: in the device's memory. NULL on failure.
 * May be used after the call as long as the handle lives. */
TF_CAPI_EXPORT extern TF_Tensor* TF_AllocateTemp(TF_OpKernelContext* context, TF_DataType dtype,
                                                 const int64_t* dims, int num_dims,
                                                 TF_AllocatorAttributes* alloc_attrs,
                                                 TF_Status* status);

/* The call has failed; the first failure counts. A status that is OK changes nothing. */
TF_CAPI_EXPORT extern void TF_OpKernelContext_Failure(TF_OpKernelContext* ctx, TF_Status* status);

/* ---- context: facts -------------------------------------------------------------------------- */

/* The run that the call belongs to. Both names say the same. */
TF_CAPI_EXPORT extern int64_t TF_StepId(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern int64_t TF_GetStepId(TF_OpKernelContext* ctx);
/* The frame of the loop that the node runs in, and the iteration; 0 outside loops. */
TF_CAPI_EXPORT extern uint64_t TF_GetFrameId(TF_OpKernelContext* ctx);
TF_CAPI_EXPORT extern int64_t TF_GetIterId(TF_OpKernelContext* ctx);
/* The number of the device among those of its type; -1 for NULL. */
TF_CAPI_EXPORT extern int TF_GetDeviceId(TF_OpKernelContext* ctx);
/* The full name, such as "/job:localhost/replica:0/task:0/device:CPU:0". */
TF_CAPI_EXPORT extern TF_StringView TF_GetDeviceName(TF_OpKernelContext* ctx);
/* The producer version that the graph states; 0 when it does not. */
TF_CAPI_EXPORT extern int TF_GetGraphDefVersion(TF_OpKernelContext* ctx);
/* The node's name. */
TF_CAPI_EXPORT extern TF_StringView TF_GetOpKernelName(TF_OpKernelContext* ctx);
/* The input string `index` of the node, such as "conv:1"; {NULL, 0} for a bad index. */
TF_CAPI_EXPORT extern TF_StringView TF_GetOpKernelRequestedInput(TF_OpKernelContext* ctx,
                                                                 size_t index);
/* The container that resources without one belong to: "localhost" unless the session says other. */
TF_CAPI_EXPORT extern TF_StringView TF_GetResourceMgrDefaultContainerName(TF_OpKernelContext* ctx);

/* Serialised protos into a buffer that must arrive empty: the functions of the graph (a
 * FunctionDefLibrary), the session's settings (a ConfigProto), and what the resource handle at
 * input `i` stands for (a ResourceHandleProto). OUT_OF_RANGE for a bad index, INVALID_ARGUMENT
 * when the input is no scalar resource, NOT_FOUND when the resource is gone. */
TF_CAPI_EXPORT extern void TF_GetSerializedFunctionDefLibrary(
    TF_OpKernelContext* ctx, TF_Buffer* serialized_function_def_library, TF_Status* status);
TF_CAPI_EXPORT extern void TF_GetSerializedConfigProto(TF_OpKernelContext* ctx,
                                                       TF_Buffer* serialized_config_proto,
                                                       TF_Status* status);
TF_CAPI_EXPORT extern void TF_GetSerializedResourceHandleProto(
    TF_OpKernelContext* ctx, int i, TF_Buffer* serialized_resource_handle_proto,
    TF_Status* status);

/* The stream of the device that the call runs on. NULL and UNIMPLEMENTED when the device was not
 * registered through drystone/device.h, the CPU included. */
TF_CAPI_EXPORT extern SP_Stream TF_GetStream(TF_OpKernelContext* ctx, TF_Status* status);

/* Work that goes on after compute_func has returned: Inc before it starts, Dec once when it is
 * over, from any thread. The call lasts until all of it is over; until the last Dec the context
 * may be used for these two functions and TF_OpKernelContext_Failure. A Dec without its Inc is
 * ignored. */
TF_CAPI_EXPORT extern void TF_IncNumDeferredOps(TF_OpKernelContext* context);
TF_CAPI_EXPORT extern void TF_DecNumDeferredOps(TF_OpKernelContext* context);

/* ---- context: rendezvous --------------------------------------------------------------------- */

/* The table that exchanges tensors in a run (drystone/rendezvous.h). For NULL, and for calls that are of
 * no run, one whose functions all answer UNIMPLEMENTED. */
TF_CAPI_EXPORT extern TF_RendezvousThunk TF_GetRendezvous(TF_OpKernelContext* ctx);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_KERNELS_H_ */
