// Values that are sent and received without Python: see binding/session.h.
#include <algorithm>

#include "binding/session.h"

namespace drystone::binding {
namespace {

constexpr int kReferences = 100;  // dtypes from here on are no values'

TF_RendezvousParsedKey named(const Transfer& transfer) {
  return {const_cast<char*>(transfer.key.data()), static_cast<std::uint32_t>(transfer.key.size())};
}

// Whether the memory of a tensor is its value's.
bool is_plain(const TF_Tensor* tensor) {
  return host.TF_TensorType(tensor) < kReferences && host.DS_OpaqueObject(tensor) == nullptr &&
         (host.TF_TensorData(tensor) != nullptr || host.TF_TensorByteSize(tensor) == 0);
}

// Whether what a rendezvous answered is final: a failure's text is `status` then.
bool is_final(const TF_Status* answer, TF_Status* status) {
  const TF_Code code = host.TF_GetCode(answer);
  if (code == TF_UNIMPLEMENTED) return false;
  if (code != TF_OK) host.TF_SetStatus(status, code, host.TF_Message(answer));
  return true;
}

bool send(const TF_RendezvousThunk& rendezvous, const Transfer& transfer, TF_Tensor* value, TF_Status* status) {
  if (value != nullptr && !is_plain(value)) return false;
  const TF_RendezvousParsedKey key = named(transfer);
  TF_Status* const answer = host.TF_NewStatus();
  TF_RendezvousSend_Params params{&key, nullptr, value, value == nullptr, answer};
  rendezvous.send_func(rendezvous.rendezvous, &params);
  const bool done = is_final(answer, status);
  host.TF_DeleteStatus(answer);
  return done;
}

struct Received {
  TF_Tensor** output;
  TF_Status* status;
  bool done = false;
};

// The rendezvous calls it before it returns.
void take(void* context, TF_RendezvousDoneCallback_Params* params) {
  auto* received = static_cast<Received*>(context);
  received->done = is_final(params->status, received->status);
  if (params->tensor != nullptr) *received->output = host.DS_ShareTensor(params->tensor);
}

bool receive(const TF_RendezvousThunk& rendezvous, const Transfer& transfer, TF_Tensor** output, TF_Status* status) {
  const TF_RendezvousParsedKey key = named(transfer);
  Received received{output, status};
  TF_RendezvousAsyncRecv_Params params{&received, &key, nullptr, {&received, take}};
  rendezvous.async_recv_func(rendezvous.rendezvous, &params);
  return received.done;
}

}  // namespace

bool transferred(const CurrentRun& run, std::int32_t kernel, TF_Tensor* const* inputs, int num_inputs,
                 TF_Tensor** outputs, int num_outputs, TF_Status* status) {
  if (run.rendezvous == nullptr) return false;
  const auto found = std::ranges::lower_bound(*run.transfers, kernel, {}, &Transfer::kernel);
  if (found == run.transfers->end() || found->kernel != kernel) return false;
  if (found->sends) return num_inputs == 1 && send(*run.rendezvous, *found, inputs[0], status);
  return num_outputs == 1 && receive(*run.rendezvous, *found, outputs, status);
}

}  // namespace drystone::binding
