/* Rendezvous: exchange of tensors between devices, as kernels see it.
 *
 * Since ABI 1.0. Names and layouts are those of TensorFlow's rendezvous C API. Kernels of plugins have no
 * such exchange in this host, which itself moves values between devices and between tasks, by the _Send
 * and _Recv nodes that it makes: TF_GetRendezvous (drystone/kernels.h) gives a table whose functions all
 * answer UNIMPLEMENTED in the way described with each, so that a plugin built for TensorFlow gets an
 * error that it can report and not a crash. They may be called from any thread while the call lasts that
 * the table came from.
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

/* Sets params->status to UNIMPLEMENTED. */
typedef void (*TF_RendezvousSend_Function)(void*, TF_RendezvousSend_Params*);

/* What was received: a status, and a tensor unless it failed. Borrowed for the call. */
typedef struct TF_RendezvousDoneCallback_Params {
  void* context;
  const TF_Status* status;
  const TF_Tensor* tensor;
  bool is_dead;
} TF_RendezvousDoneCallback_Params;

/* The receiver's function; its first argument is the `context` that it came with. */
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

/* Calls params->on_done at once, with a status that is UNIMPLEMENTED and no tensor. */
typedef void (*TF_RendezvousAsyncRecv_Function)(void*, TF_RendezvousAsyncRecv_Params*);

/* Does nothing. */
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
