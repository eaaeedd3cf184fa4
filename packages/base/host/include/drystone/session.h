/* The host library's executor: load a lowered graph, run it. For programs in any language.
 *
 * A plan is a graph lowered for one set of feeds and fetches, as bytes: a serialised PlanDef
 * (drystone_abi/protos/plan.proto), which `drystone lower` or Session.plan() in Python writes. Kernels
 * come from the libraries that were opened before (drystone_host/library.h), so that a program without
 * Python runs a model like this:
 *
 *   DS_Library* library = DS_OpenLibrary("libdrystone_cpu.so", status);
 *   DS_InitLibrary(library, "TF_InitKernel", status);
 *   DS_Session* session = DS_NewSession(NULL, status);
 *   DS_Plan* plan = DS_NewPlan(session, &bytes, NULL, 0, status);
 *   DS_RunPlan(plan, NULL, feeds, num_feeds, fetches, num_fetches, status);
 *   ... TF_DeleteTensor(fetches[0]) ...
 *   DS_DeletePlan(plan);
 *   DS_DeleteSession(session);
 *
 * Rules for statuses, buffers and NULL are those of drystone/status.h and drystone/buffer.h. Functions
 * may be called by any thread; one plan may be run by several at once. Since 1.0.
 */
#ifndef DRYSTONE_SESSION_H_
#define DRYSTONE_SESSION_H_

#include "drystone/buffer.h"
#include "drystone/datatype.h"
#include "drystone/macros.h"
#include "drystone/status.h"
#include "drystone/tensor.h"
#include "drystone_host/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what the embedder may do itself ---- */

/* Kernels of the embedder, for nodes that no library has one for, and values that only it knows.
 * Called on the thread that called DS_RunPlan, or, where DS_RunOptions.begin_aside is set, on the one
 * that the run was given to. Zero the struct, set struct_size. */
typedef struct DS_Callbacks {
  size_t struct_size;
  void* context; /* the first argument of all of them */
  /* Compute a node: `kernel` is the number that the plan has for it (InstructionDef.callback - 1),
   * `run_context` what DS_RunOptions has. Inputs are borrowed. Every output must be set to a new
   * handle, or the status to a failure. Of a PLAN_TRANSFER a NULL input is a dead value, and an
   * output that stays NULL is one. */
  void (*compute)(void* context, void* run_context, int32_t kernel, TF_Tensor* const* inputs,
                  int num_inputs, TF_Tensor** outputs, int num_outputs, TF_Status* status);
  /* A kernel of a library needs the value of an opaque tensor: a new tensor of that dtype, or NULL
   * and a failure. */
  TF_Tensor* (*adapt)(void* context, const TF_Tensor* opaque, TF_DataType dtype,
                      TF_Status* status);
  /* The same where a reference to a variable is needed. */
  DS_Variable* (*adapt_variable)(void* context, const TF_Tensor* opaque, TF_Status* status);
} DS_Callbacks;
#define DS_CALLBACKS_STRUCT_SIZE TF_OFFSET_OF_END(DS_Callbacks, adapt_variable)

/* Say of a tensor of the embedder's memory that others have that memory, too, or that it cannot be
 * written: no kernel changes it in place. */
TF_CAPI_EXPORT extern void DS_MarkTensorShared(TF_Tensor* tensor);

/* A feed for DS_RunPlan in memory that kernels cannot use as it is, as its address is no multiple of
 * TF_TensorDefaultAlignment() or they may keep what they get: each run that is given the tensor copies it
 * first, in pieces between which it looks whether it is over. Otherwise as TF_NewTensor makes it, but never
 * of strings or handles. NULL for what is no tensor, or without memory; the deallocator is not called then. */
TF_CAPI_EXPORT extern TF_Tensor* DS_NewFeed(TF_DataType dtype, const int64_t* dims, int num_dims,
                                            void* data, size_t len,
                                            void (*deallocator)(void* data, size_t len, void* arg),
                                            void* deallocator_arg);

/* A scalar tensor that stands for an object of the embedder: it goes from kernel to kernel of the
 * embedder as it is. `release` is called with the object when the last handle goes, on any thread.
 * NULL without memory; the object is not released then. */
TF_CAPI_EXPORT extern TF_Tensor* DS_NewOpaqueTensor(void* object, TF_DataType dtype,
                                                    void (*release)(void* object));
/* The object, or NULL for a tensor that is not opaque. */
TF_CAPI_EXPORT extern void* DS_OpaqueObject(const TF_Tensor* tensor);

/* ---- sessions ---- */

/* State that outlives runs: what plans of one session keep. */
typedef struct DS_Session DS_Session;

/* How a session works. Zero the struct, set struct_size; all zero is fine. */
typedef struct DS_SessionOptions {
  size_t struct_size;
  const DS_Callbacks* callbacks; /* copied; NULL: none */
  int32_t threads;               /* that one kernel may use; 0: one per core */
  /* Kernels that may run at once, where measuring says that it pays, and micro-batches; 0: as many
   * as there are threads; 1: one after another. Then the same inputs, with as many threads, give the same bits; otherwise a
   * kernel may run on one thread in one run and on several in the next. All threads are those of the
   * one pool of the process (drystone/threads.h). */
  int32_t inter_op_threads;
  /* A plan that computes each example of a batch by itself runs on some examples at a time, so many
   * that values take about so many bytes; 0: half of the last cache, 4 to 16 MiB. Below 0: always on
   * whole batches. */
  int64_t micro_batch_bytes;
} DS_SessionOptions;
#define DS_SESSION_OPTIONS_STRUCT_SIZE TF_OFFSET_OF_END(DS_SessionOptions, micro_batch_bytes)

/* A new session; `options` may be NULL. */
TF_CAPI_EXPORT extern DS_Session* DS_NewSession(const DS_SessionOptions* options,
                                                TF_Status* status);
/* Delete it, when its plans are deleted, too. NULL is ignored. */
TF_CAPI_EXPORT extern void DS_DeleteSession(DS_Session* session);
/* Forget what its plans keep. */
TF_CAPI_EXPORT extern void DS_ResetSession(DS_Session* session);

/* ---- plans ---- */

/* A loaded plan with its kernels. Belongs to a session, which must outlive it. */
typedef struct DS_Plan DS_Plan;

/* Load a plan: `plan` is a serialised PlanDef, whose bytes are copied. `constants` are tensors that
 * its constants refer to; their memory is shared. NULL on failure: INVALID_ARGUMENT (malformed bytes,
 * numbers out of range), UNIMPLEMENTED (a node that neither a library nor the embedder has a kernel
 * for), or what a kernel's creation gave. */
TF_CAPI_EXPORT extern DS_Plan* DS_NewPlan(DS_Session* session, const TF_Buffer* plan,
                                          TF_Tensor* const* constants, int num_constants,
                                          TF_Status* status);
/* Delete it; a run that was left goes on without harm. NULL is ignored. */
TF_CAPI_EXPORT extern void DS_DeletePlan(DS_Plan* plan);

/* Feeds and fetches: how many, and what they are called ("node:0"); 0, NULL for a bad index. */
TF_CAPI_EXPORT extern int DS_PlanNumFeeds(const DS_Plan* plan);
TF_CAPI_EXPORT extern int DS_PlanNumFetches(const DS_Plan* plan);
TF_CAPI_EXPORT extern const char* DS_PlanFeedName(const DS_Plan* plan, int index);
TF_CAPI_EXPORT extern const char* DS_PlanFetchName(const DS_Plan* plan, int index);
TF_CAPI_EXPORT extern TF_DataType DS_PlanFeedType(const DS_Plan* plan, int index);

/* What the plan consists of, as JSON: blocks, instructions, which kernel each one has, which values
 * (numbers within the block, feeds first) it takes and makes, and which nothing needs after it; of a
 * compiled region, how many bytes its arena has by now; of the first block, how many bytes values of
 * one example of a batch take, or why batches run as a whole. */
TF_CAPI_EXPORT extern void DS_DescribePlan(const DS_Plan* plan, TF_Buffer* json, TF_Status* status);

/* ---- running ---- */

/* Lets other threads stop a run. */
typedef struct DS_Cancellation DS_Cancellation;
TF_CAPI_EXPORT extern DS_Cancellation* DS_NewCancellation(void);
TF_CAPI_EXPORT extern void DS_DeleteCancellation(DS_Cancellation* cancellation);
/* Stop the runs that were given it, now and later: they end with CANCELLED within half a second. May be
 * called from a signal handler. */
TF_CAPI_EXPORT extern void DS_Cancel(DS_Cancellation* cancellation);

/* A record of a run is JSON,
 *   {"events": [[block, instruction, thread, start, end, held, outputs, allocations, time, device], ...],
 *    "devices": ...},
 * in the order in which instructions ended, those inside a call before the call, constants left out.
 * Block and instruction are positions in what DS_DescribePlan gives; thread is the system's number of
 * it; start and end are nanoseconds of the monotonic clock; held is the memory in bytes that values of
 * the run take right after, constants left out (in blocks with frames it is counted from time to time).
 * Outputs has [bytes, memory] for each: outputs with one number, other than -1, are in one memory while
 * it is held. Allocations has [kind, bytes] for each: "small block" (kept by a thread), "large block" (kept by
 * the process), "heap", "arena" (of a compiled region), "borrowed" (not the host's) or "" (no array), and
 * what was taken there, a head of the host's included. Time and device are left out unless the instruction
 * put work on a device with timers: the nanoseconds that it took there, and its name. "devices", which is left
 * out unless the plan has some, is [{"name", "peak", "free", "total", "allocator"}]: the most bytes that values of
 * the run took there, and after the run what DS_DescribeDevice says of the device's memory. A run that fails
 * fills it, too. Recording slows small nodes; a run without it pays nothing. */

/* Facts of one run. Zero the struct, set struct_size; all zero is fine. */
typedef struct DS_RunOptions {
  size_t struct_size;
  void* run_context;              /* for callbacks */
  int64_t deadline_ms;            /* time the run may take; 0: as long as it does */
  int64_t step_id;                /* 0: a new one */
  DS_Cancellation* cancellation;  /* NULL: none */
  TF_Buffer* trace;               /* empty: filled with a record of the run; NULL: not wanted */
  /* Asked about every 50 ms, on the thread that called DS_RunPlan, whether to go on: not 0 ends the
   * run with CANCELLED. NULL: no question is asked. Costs a load per node. */
  int32_t (*poll)(void* run_context);
  /* A run with a deadline, a cancellation or a poll may be given to a thread of its own, so that
   * DS_RunPlan can return while a kernel does not: see there. A plan that needs the embedder's callbacks
   * stays on the caller's thread unless the first two of these are set. Each is called with
   * run_context. On that thread, before the run: */
  void (*begin_aside)(void* run_context);
  /* ... and after it. `was_left`: DS_RunPlan has returned before; run_context is needed no more. */
  void (*end_aside)(void* run_context, int32_t was_left);
  /* On the caller's thread: the run must end, and the callback that may be under way on the other one
   * should. NULL: it does as it likes. */
  void (*interrupt)(void* run_context);
  /* NULL, or set to 1 where DS_RunPlan returns and the run's thread goes on. */
  int32_t* was_left;
  /* Where kernels send and receive values (TF_GetRendezvous); must answer for as long as a kernel of the
   * run goes on, also one that was left. NULL: nowhere. */
  const TF_RendezvousThunk* rendezvous;
} DS_RunOptions;
#define DS_RUN_OPTIONS_STRUCT_SIZE TF_OFFSET_OF_END(DS_RunOptions, rendezvous)

/* Run the plan. `feeds` are borrowed. On success every fetch is a new handle for the caller to
 * delete; on failure all are NULL. Errors: INVALID_ARGUMENT (another number of feeds or fetches, a
 * feed of another dtype, a fetch that was not computed), CANCELLED, DEADLINE_EXCEEDED,
 * RESOURCE_EXHAUSTED, and whatever a kernel reported, naming the node and the functions that it was
 * called through. After a failure the plan can be run again.
 *
 * A run that is over by its deadline, its cancellation or its poll ends within half a second, also where a
 * kernel does not return: its thread goes on then, with all that it needs (plan and session may be
 * deleted), the status says so, and runs of the session that need the node fail with UNAVAILABLE until
 * it has returned. Of a callback of the embedder's that is under way then, see DS_RunOptions.end_aside. */
TF_CAPI_EXPORT extern void DS_RunPlan(DS_Plan* plan, const DS_RunOptions* options,
                                      TF_Tensor* const* feeds, int num_feeds, TF_Tensor** fetches,
                                      int num_fetches, TF_Status* status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_SESSION_H_ */
