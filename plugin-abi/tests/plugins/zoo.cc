// Bad plugins, one for each value of BAD. Built as C++ so that one of them can throw.
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <unistd.h>

#include "drystone/buffer.h"
#include "drystone/kernels.h"
#include "drystone/optimizer.h"
#include "drystone/platform_strings.h"
#include "drystone/status.h"

enum Bad {
  kNoEntry = 1,
  kMissingSymbol,
  kZeroSize,
  kFutureVersion,
  kThrows,
  kExits,
  kAborts,
  kCrashes,
  kWritesPast,
  kHangs,
  kGarbage,
  kTwice,
  kLeaks,
  kNoOptimize,
  kThrowsLater,
  kDropsFetch,
  kSaysNo,
  kGood,
  kHangsLater,
  kRegistersLater,
};

#ifdef RECORDS
__attribute__((used)) static const char records[] = RECORDS;
#else
TF_PLATFORM_STRINGS()
#endif

extern "C" {

void TF_NobodyHasThis(void);

[[maybe_unused]] static void compute(void*, TF_OpKernelContext*) {}

[[maybe_unused]] static void optimize(void*, const TF_Buffer* graph, const TF_GrapplerItem*, TF_Buffer* out,
                     TF_Status* status) {
  TF_SetStatus(status, TF_OK, "");
  TF_Buffer* copy = nullptr;
  switch (BAD) {
    case kGarbage:
      copy = TF_NewBufferFromString("\xff\xff\xff this is no graph", 20);
      break;
    case kDropsFetch:
      copy = TF_NewBufferFromString("\x0a\x09\x0a\x01z\x12\x04NoOp", 11);
      break;
    case kHangsLater:
      for (int second = 0; second < 90; ++second) sleep(1);
      break;
    case kRegistersLater: {
      TF_KernelBuilder* kernel = TF_NewKernelBuilder("Neg", "CPU", nullptr, compute, nullptr);
      TF_RegisterKernelBuilder("late", kernel, status);
      return;
    }
    case kThrowsLater:
      throw std::runtime_error("thrown by optimize");
    case kLeaks:
      (void)TF_NewBufferFromString("lost", 4);
      [[fallthrough]];
    default:
      copy = TF_NewBufferFromString(graph->data, graph->length);
  }
  *out = *copy;
  copy->data = nullptr;
  copy->data_deallocator = nullptr;
  TF_DeleteBuffer(copy);
}

[[maybe_unused]] static void misbehave() {
  switch (BAD) {
    case kMissingSymbol:
#if BAD == 2
      TF_NobodyHasThis();
#endif
      break;
    case kThrows:
      throw std::runtime_error("thrown by the entry function");
    case kExits:
      std::exit(7);
    case kAborts:
      std::abort();
    case kCrashes:
      std::raise(SIGSEGV);
      break;
    case kHangs:
      for (;;) pause();
    default:
      break;
  }
}

#if BAD == 1
#define ENTRY [[maybe_unused]] static void not_an_entry
#else
#define ENTRY TF_CAPI_EXPORT void TF_InitGraph
#endif
ENTRY(TP_OptimizerRegistrationParams* params, TF_Status* status) {
  misbehave();
  params->struct_size = BAD == kZeroSize ? 0 : TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE;
  if (BAD == kFutureVersion) params->major_version = 9;
  params->device_type = DEVICE;
  params->optimizer->struct_size = TP_OPTIMIZER_STRUCT_SIZE;
  if (BAD != kNoOptimize) params->optimizer->optimize_func = &optimize;
  params->optimizer_configs->struct_size = TP_OPTIMIZER_CONFIGS_STRUCT_SIZE;
  if (BAD == kWritesPast) std::memset(params->optimizer_configs + 1, 0xEE, 64);
  if (BAD == kSaysNo) TF_SetStatus(status, TF_UNAVAILABLE, "no licence was found");
}

#if BAD == 12
TF_CAPI_EXPORT void TF_InitKernel(void) {
  for (int k = 0; k < 2; ++k) {
    TF_Status* status = TF_NewStatus();
    TF_RegisterKernelBuilder(
        "zoo", TF_NewKernelBuilder("NoOp", "ZOO", nullptr, compute, nullptr), status);
    TF_DeleteStatus(status);
  }
}
#endif

}  // extern "C"
