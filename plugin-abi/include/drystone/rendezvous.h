/* Rendezvous: exchange of tensors between devices, as kernels see it.
 *
 * Since ABI 1.0. Names and layouts are those of TensorFlow's rendezvous C API. TF_GetRendezvous
 * (drystone/kernels.h) gives a kernel the rendezvous of its run, in which the host's own _Send and _Recv
 * nodes meet, too: with the same name, those of a plugin and of the host exchange values. A key is such a
 * name ("tensor_name" of the host's nodes), or TensorFlow's
 * "SENDER;INCARNATION;RECEIVER;NAME;FRAME:ITERATION", of which the name counts. Values of one name are
 * received in the order in which they were sent.
 *
 * Calls that are of no run (an isolated plugin's, those outside of a session) get a table whose functions
 * all answer UNIMPLEMENTED in the way described with each. The functions may be called from any thread;
 * after the run they answer CANCELLED.
 */
#ifndef DRYSTONE_RENDEZVOUS_H_
#define DRYSTONE_RENDEZVOUS_H_

#include <stdbool.h>
#include <stdint.h>

#include "drystone/macros.h"
#include "drystone/status.h"
#include "drystone/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Both opaque; this host gives out neither. */
typedef struct TF_DeviceContext TF_DeviceContext;
typedef struct TFE_CancellationManager TFE_CancellationManager;

/* Where the memory of a tensor lies: bits of TensorFlow's own. */
typedef struct TFDevice_AllocatorAttributes {
  uint32_t value;
  int32_t scope_id;
} TFDevice_AllocatorAttributes;

/* What goes along with a tensor. */
typedef struct TF_RendezvousArgsStruct {
  TF_DeviceContext* device_context;
  TFDevice_AllocatorAttributes alloc_attrs;
  TFE_CancellationManager* cancellation_manager;
} TF_RendezvousArgsStruct;

/* Names an exchange; not NUL-terminated. */
typedef struct TF_RendezvousParsedKey {
  char* full_key;
  uint32_t full_key_size;
} TF_RendezvousParsedKey;

/* A tensor to send. All pointers are borrowed for the call. */
typedef struct TF_RendezvousSend_Params {
  const TF_RendezvousParsedKey* key;
  const TF_RendezvousArgsStruct* args;
  TF_Tensor* tensor;
  bool is_dead;
  TF_Status* status; /* out */
} TF_RendezvousSend_Params;

/* Leaves the tensor, whose memory is shared and not copied, for who receives it; never waits.
 * UNAVAILABLE where the task of the receiver is gone, CANCELLED after the run, or UNIMPLEMENTED. */
typedef void (*TF_RendezvousSend_Function)(void*, TF_RendezvousSend_Params*);

/* What was received: a status, and a tensor unless it failed. Borrowed for the call. */
typedef struct TF_RendezvousDoneCallback_Params {
  void* context;
  const TF_Status* status;
  const TF_Tensor* tensor;
  bool is_dead;
} TF_RendezvousDoneCallback_Params;

/* The receiver's function; its first argument is the `context` that it came with. No tensor and a status
 * that is OK: the value is dead. */
typedef void (*TF_RendezvousDoneCallback_Function)(void*, TF_RendezvousDoneCallback_Params*);

typedef struct TF_RendezvousDoneCallbackImpl {
  void* context;
  TF_RendezvousDoneCallback_Function callback;
} TF_RendezvousDoneCallbackImpl;

/* A tensor to wait for. */
typedef struct TF_RendezvousAsyncRecv_Params {
  void* context;
  const TF_RendezvousParsedKey* key;
  const TF_RendezvousArgsStruct* args;
  TF_RendezvousDoneCallbackImpl on_done;
} TF_RendezvousAsyncRecv_Params;

/* Calls params->on_done once: at once where the tensor is there, else on the thread that sends it. Where
 * none will come the status is CANCELLED, or UNIMPLEMENTED. So a kernel that receives should be an
 * asynchronous one, and call back in on_done. */
typedef void (*TF_RendezvousAsyncRecv_Function)(void*, TF_RendezvousAsyncRecv_Params*);

/* Nothing more is sent in the run: who waits is answered CANCELLED. Report the failure as well. */
typedef void (*TF_RendezvousStartAbort_Function)(void* context, const TF_Status*);

/* The exchange of one call, by value. */
typedef struct TF_RendezvousThunk {
  void* rendezvous; /* first argument of the functions */
  TF_RendezvousSend_Function send_func;
  TF_RendezvousAsyncRecv_Function async_recv_func;
  TF_RendezvousStartAbort_Function start_abort_func;
} TF_RendezvousThunk;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_RENDEZVOUS_H_ */
