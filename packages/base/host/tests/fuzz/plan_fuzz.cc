// Plans: the bytes are a PlanDef. What is not refused is run, with kernels of the embedder that give
// back an input or a number, and must end: in values, or in a failure. Nothing outlives the session.
#include <cstdint>
#include <cstring>
#include <vector>

#include "drystone/session.h"
#include "drystone_host/core.h"

namespace {

constexpr std::int64_t kMost = 4;      // milliseconds
constexpr int kConstants = 4;
constexpr int kMostFeeds = 64;

TF_Tensor* number(std::int32_t value) {
  TF_Tensor* out = TF_AllocateTensor(TF_INT32, nullptr, 0, sizeof value);
  if (out != nullptr) std::memcpy(TF_TensorData(out), &value, sizeof value);
  return out;
}

// Gives inputs on, and small numbers where there are none: 0 as often as not, so that loops end.
void compute(void* context, void*, std::int32_t kernel, TF_Tensor* const* inputs, int num_inputs,
             TF_Tensor** outputs, int num_outputs, TF_Status* status) {
  auto* calls = static_cast<int*>(context);
  ++*calls;
  if (*calls % 50 == 0) return TF_SetStatus(status, TF_ABORTED, "it fails now and then");
  for (int k = 0; k < num_outputs; ++k) {
    const bool gives_on = k < num_inputs && (kernel + k) % 3 != 0;
    outputs[k] = gives_on ? DS_ShareTensor(inputs[k]) : number(*calls % 2);
  }
}

TF_Tensor* constant(int which) {
  if (which == 0) return DS_NewOpaqueTensor(&which, TF_STRING, [](void*) {});
  const std::int64_t dims[] = {3, 2};
  TF_Tensor* out = TF_AllocateTensor(which == 1 ? TF_BOOL : TF_FLOAT, dims, which - 1, 64);
  if (out != nullptr) return out;
  return number(which);
}

void run(DS_Plan* plan) {
  const int num_feeds = DS_PlanNumFeeds(plan);
  if (num_feeds > kMostFeeds) return;
  std::vector<TF_Tensor*> feeds;
  for (int k = 0; k < num_feeds; ++k) {
    const std::int64_t none[] = {0};
    feeds.push_back(TF_AllocateTensor(DS_PlanFeedType(plan, k), none, k % 2, 64));
    if (feeds.back() == nullptr) feeds.back() = number(k);
  }
  std::vector<TF_Tensor*> fetches(static_cast<std::size_t>(DS_PlanNumFetches(plan)));
  DS_RunOptions options{};
  options.struct_size = DS_RUN_OPTIONS_STRUCT_SIZE;
  options.deadline_ms = kMost;
  TF_Status* status = TF_NewStatus();
  for (int again = 0; again < 2; ++again) {
    DS_RunPlan(plan, &options, feeds.data(), num_feeds, fetches.data(),
               static_cast<int>(fetches.size()), status);
    if (TF_GetCode(status) != TF_OK && *TF_Message(status) == '\0') __builtin_trap();
    for (TF_Tensor* fetch : fetches) TF_DeleteTensor(fetch);
  }
  TF_DeleteStatus(status);
  for (TF_Tensor* feed : feeds) TF_DeleteTensor(feed);
}

std::int64_t live_tensors() {
  DS_LiveObjects live{};
  live.struct_size = DS_LIVE_OBJECTS_STRUCT_SIZE;
  DS_GetLiveObjects(&live);
  return live.tensors;
}

void use(const std::uint8_t* data, std::size_t size) {
  int calls = 0;
  const DS_Callbacks callbacks{DS_CALLBACKS_STRUCT_SIZE, &calls, compute, nullptr, nullptr};
  const DS_SessionOptions options{DS_SESSION_OPTIONS_STRUCT_SIZE, &callbacks, 2, 2,
                                  1};  // byte for a micro-batch: one example at a time
  DS_Session* session = DS_NewSession(&options, nullptr);
  TF_Tensor* constants[kConstants];
  for (int k = 0; k < kConstants; ++k) constants[k] = constant(k);
  TF_Status* status = TF_NewStatus();
  TF_Buffer* bytes = TF_NewBufferFromString(data, size);
  DS_Plan* plan = DS_NewPlan(session, bytes, constants, kConstants, status);
  if (plan != nullptr) {
    run(plan);
    TF_Buffer* json = TF_NewBuffer();
    DS_DescribePlan(plan, json, status);
    TF_DeleteBuffer(json);
    DS_DeletePlan(plan);
  } else if (*TF_Message(status) == '\0') {
    __builtin_trap();
  }
  TF_DeleteBuffer(bytes);
  for (TF_Tensor* tensor : constants) TF_DeleteTensor(tensor);
  TF_DeleteStatus(status);
  DS_DeleteSession(session);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::int64_t before = live_tensors();
  use(data, size);
  if (live_tensors() != before) __builtin_trap();
  return 0;
}
