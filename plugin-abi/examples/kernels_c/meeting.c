/* Kernels that exchange values by the rendezvous of their run.
 *
 *   ExampleSend(x)  leaves the float tensor x under the name in its attribute "tensor_name"
 *   ExampleRecv()   = the tensor that was left under that name, as soon as it is there
 *
 * They meet each other, and the host's _Send and _Recv of the same name, also on other devices and tasks.
 * ExampleRecv is asynchronous: no thread waits for the value. */
#include <stdlib.h>
#include <string.h>

#include "drystone/kernels.h"
#include "drystone/ops.h"
#include "kernels.h"

/* The kernel of a node: the name. */
static void* create(TF_OpKernelConstruction* ctx) {
  TF_Status* status = TF_NewStatus();
  int32_t items = 0;
  int32_t size = 0;
  char* name = NULL;
  TF_OpKernelConstruction_GetAttrSize(ctx, "tensor_name", &items, &size, status);
  if (TF_GetCode(status) == TF_OK) name = (char*)calloc((size_t)size + 1, 1);
  if (name != NULL) TF_OpKernelConstruction_GetAttrString(ctx, "tensor_name", name, (size_t)size, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelConstruction_Failure(ctx, status);
  TF_DeleteStatus(status);
  return name;
}

static void fail(TF_OpKernelContext* call, const TF_Status* status) {
  TF_Status* copy = TF_NewStatus();
  TF_SetStatus(copy, TF_GetCode(status), TF_Message(status));
  TF_OpKernelContext_Failure(call, copy);
  TF_DeleteStatus(copy);
}

static void send(void* kernel, TF_OpKernelContext* call) {
  TF_Status* status = TF_NewStatus();
  TF_Tensor* x = NULL;
  TF_GetInput(call, 0, &x, status);
  if (TF_GetCode(status) == TF_OK) {
    const TF_RendezvousThunk meeting = TF_GetRendezvous(call);
    const TF_RendezvousParsedKey key = {(char*)kernel, (uint32_t)strlen((char*)kernel)};
    TF_RendezvousSend_Params params = {&key, NULL, x, false, status};
    meeting.send_func(meeting.rendezvous, &params);
  }
  if (TF_GetCode(status) != TF_OK) fail(call, status);
  TF_DeleteTensor(x);
  TF_DeleteStatus(status);
}

typedef struct Waiting {
  TF_OpKernelContext* call;
  TF_AsyncOpKernelDoneCallback* done;
} Waiting;

/* On whichever thread sends the value. */
static void received(void* context, TF_RendezvousDoneCallback_Params* params) {
  Waiting* waiting = (Waiting*)context;
  TF_AsyncOpKernelDoneCallback* done = waiting->done;
  TF_Status* status = TF_NewStatus();
  if (TF_GetCode(params->status) != TF_OK) {
    fail(waiting->call, params->status);
  } else if (params->tensor == NULL) {
    TF_SetStatus(status, TF_FAILED_PRECONDITION, "ExampleRecv: the value is dead");
  } else {
    TF_SetOutput(waiting->call, 0, params->tensor, status);
  }
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(waiting->call, status);
  TF_DeleteStatus(status);
  free(waiting);
  TF_RunAsyncOpKernelDoneCallback(done);
}

static void recv(void* kernel, TF_OpKernelContext* call, TF_AsyncOpKernelDoneCallback* done) {
  Waiting* waiting = (Waiting*)malloc(sizeof *waiting);
  if (waiting == NULL) {
    TF_Status* status = TF_NewStatus();
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "ExampleRecv: no memory to wait");
    TF_OpKernelContext_Failure(call, status);
    TF_DeleteStatus(status);
    TF_RunAsyncOpKernelDoneCallback(done);
    return;
  }
  waiting->call = call;
  waiting->done = done;
  const TF_RendezvousThunk meeting = TF_GetRendezvous(call);
  const TF_RendezvousParsedKey key = {(char*)kernel, (uint32_t)strlen((char*)kernel)};
  TF_RendezvousAsyncRecv_Params params = {waiting, &key, NULL, {waiting, received}};
  meeting.async_recv_func(meeting.rendezvous, &params);
}

static void infer_unknown(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  TF_ShapeInferenceContextSetUnknownShape(ctx, status);
}

static void register_op(const char* name, const char* input, const char* output, TF_Status* status) {
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(name);
  if (input != NULL) TF_OpDefinitionBuilderAddInput(op, input);
  if (output != NULL) TF_OpDefinitionBuilderAddOutput(op, output);
  TF_OpDefinitionBuilderAddAttr(op, "tensor_name: string");
  TF_OpDefinitionBuilderSetIsStateful(op, true); /* two of them are not one */
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, infer_unknown);
  TF_RegisterOpDefinition(op, status);
}

void register_send(TF_Status* status) {
  register_op("ExampleSend", "x: float", NULL, status);
  if (TF_GetCode(status) != TF_OK) return;
  TF_RegisterKernelBuilder("ExampleSend", TF_NewKernelBuilder("ExampleSend", "CPU", create, send, free), status);
}

void register_recv(TF_Status* status) {
  register_op("ExampleRecv", NULL, "y: float", status);
  if (TF_GetCode(status) != TF_OK) return;
  TF_RegisterKernelBuilder("ExampleRecv", TF_NewAsyncKernelBuilder("ExampleRecv", "CPU", create, recv, free),
                           status);
}
