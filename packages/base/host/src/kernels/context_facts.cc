// Facts of a call, deferred work and rendezvous: see drystone/kernels.h.
#include "core/buffer.h"
#include "drystone/sdk/shape.hpp"
#include "drystone/sdk/wire.hpp"
#include "kernels/context.h"

using namespace drystone::host;
using namespace drystone::host::kernels;

namespace {

TF_StringView whole(std::string_view text) { return {text.data(), text.size()}; }

// Copies bytes that the caller lent for the call, unless the caller has gone.
void answer_bytes(TF_OpKernelContext* ctx, TF_Buffer* out,
                  const TF_Buffer* DS_KernelCall::* member) {
  require(ctx, "ctx");
  const std::lock_guard lock(ctx->mutex);
  const TF_Buffer* bytes = ctx->call->*member;
  fill(out, bytes == nullptr ? std::string_view() : view(bytes));
}

std::string resource_proto(const std::string& device, const Variable& variable) {
  std::string place;
  drystone::wire::Writer fact(&place);
  fact.varint(1, static_cast<std::uint64_t>(variable.dtype()));
  drystone::sdk::Shape shape;
  if (const auto value = variable.value()) {
    const std::int64_t* dims = value->dims.data();
    shape = drystone::sdk::Shape(std::vector<std::int64_t>(dims, dims + value->dims.rank()));
  }
  fact.bytes(2, shape.proto());
  std::string out;
  drystone::wire::Writer writer(&out);
  writer.bytes(1, device);
  writer.bytes(2, variable.container());
  writer.bytes(3, variable.name());
  writer.varint(4, variable.number());
  writer.bytes(5, "tensorflow::Var");
  writer.bytes(6, place);
  return out;
}

constexpr const char* kNoRendezvous = "this call is part of no run in which values meet";

extern "C" void refuse_send(void*, TF_RendezvousSend_Params* params) {
  if (params != nullptr) set(params->status, TF_UNIMPLEMENTED, "TF_GetRendezvous", kNoRendezvous);
}

extern "C" void refuse_receive(void*, TF_RendezvousAsyncRecv_Params* params) {
  if (params == nullptr || params->on_done.callback == nullptr) return;
  TF_Status status;
  set(&status, TF_UNIMPLEMENTED, "TF_GetRendezvous", kNoRendezvous);
  TF_RendezvousDoneCallback_Params answer{params->on_done.context, &status, nullptr, false};
  params->on_done.callback(params->on_done.context, &answer);
}

extern "C" void ignore_abort(void*, const TF_Status*) {}

}  // namespace

extern "C" {

int64_t TF_StepId(TF_OpKernelContext* ctx) { return ctx == nullptr ? 0 : ctx->call->step_id; }

int64_t TF_GetStepId(TF_OpKernelContext* ctx) { return TF_StepId(ctx); }

uint64_t TF_GetFrameId(TF_OpKernelContext* ctx) { return ctx == nullptr ? 0 : ctx->call->frame_id; }

int64_t TF_GetIterId(TF_OpKernelContext* ctx) { return ctx == nullptr ? 0 : ctx->call->iter_id; }

int TF_GetGraphDefVersion(TF_OpKernelContext* ctx) {
  return ctx == nullptr ? 0 : ctx->call->graph_def_version;
}

int TF_GetDeviceId(TF_OpKernelContext* ctx) {
  if (ctx == nullptr) return -1;
  return ctx->call->device_id > 0 ? ctx->call->device_id : ctx->kernel().device_id;
}

TF_StringView TF_GetDeviceName(TF_OpKernelContext* ctx) {
  return ctx == nullptr ? TF_StringView{nullptr, 0} : whole(ctx->kernel().device_name);
}

TF_StringView TF_GetOpKernelName(TF_OpKernelContext* ctx) {
  return ctx == nullptr ? TF_StringView{nullptr, 0} : whole(ctx->kernel().node.name());
}

TF_StringView TF_GetOpKernelRequestedInput(TF_OpKernelContext* ctx, size_t index) {
  if (ctx == nullptr || index >= ctx->kernel().node.inputs().size()) return {nullptr, 0};
  return whole(ctx->kernel().node.inputs()[index]);
}

TF_StringView TF_GetResourceMgrDefaultContainerName(TF_OpKernelContext* ctx) {
  return answered(TF_StringView{nullptr, 0}, [&] {
    require(ctx, "ctx");
    const char* given = ctx->call->container;
    return whole(ctx->kernel().keep(given == nullptr ? "localhost" : given));
  });
}

void TF_GetSerializedFunctionDefLibrary(TF_OpKernelContext* ctx,
                                        TF_Buffer* serialized_function_def_library,
                                        TF_Status* status) {
  guarded(status, __func__, [&] {
    answer_bytes(ctx, serialized_function_def_library, &DS_KernelCall::function_library);
  });
}

void TF_GetSerializedConfigProto(TF_OpKernelContext* ctx, TF_Buffer* serialized_config_proto,
                                 TF_Status* status) {
  guarded(status, __func__,
          [&] { answer_bytes(ctx, serialized_config_proto, &DS_KernelCall::config); });
}

void TF_GetSerializedResourceHandleProto(TF_OpKernelContext* ctx, int i,
                                         TF_Buffer* serialized_resource_handle_proto,
                                         TF_Status* status) {
  guarded(status, __func__, [&] {
    require(ctx, "ctx");
    const auto input = ctx->input(ctx->input_index(i));
    fill(serialized_resource_handle_proto,
         resource_proto(ctx->kernel().device_name, *variable_at(*input, 0)));
  });
}

SP_Stream TF_GetStream(TF_OpKernelContext* ctx, TF_Status* status) {
  SP_Stream stream = nullptr;
  guarded(status, __func__, [&] {
    require(ctx, "ctx");
    stream = static_cast<SP_Stream>(ctx->call->stream);
    if (stream == nullptr) {
      fail(TF_UNIMPLEMENTED, "device " + ctx->kernel().device_name + " has no stream");
    }
  });
  return stream;
}

void TF_IncNumDeferredOps(TF_OpKernelContext* context) {
  if (context == nullptr || context->is_closed()) return;
  if (!context->has_deferred.load(std::memory_order_acquire)) {
    answered(0, [&] {
      context->keep_inputs();
      return 0;
    });
  }
  const std::lock_guard lock(context->mutex);
  context->has_deferred.store(true, std::memory_order_release);
  ++context->deferred;
}

void TF_DecNumDeferredOps(TF_OpKernelContext* context) {
  if (context == nullptr) return;
  std::unique_lock lock(context->mutex);
  if (context->deferred == 0) return;
  --context->deferred;
  context->settle(std::move(lock), false);
}

TF_RendezvousThunk TF_GetRendezvous(TF_OpKernelContext* ctx) {
  if (ctx != nullptr && ctx->call->rendezvous.send_func != nullptr) return ctx->call->rendezvous;
  return {nullptr, refuse_send, refuse_receive, ignore_abort};
}

}  // extern "C"
