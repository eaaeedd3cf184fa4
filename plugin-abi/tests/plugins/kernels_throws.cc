// A kernel library that lets C++ exceptions out: -DWHERE=1 of TF_InitKernel (after it registered a
// kernel), 2 of create, 3 of compute, 4 of delete.
#include <stdexcept>

#include "drystone/kernels.h"

namespace {

constexpr int kWhere = WHERE;

void leave(int where) {
  if (where == kWhere) throw std::runtime_error("thrown by the plugin");
}

void* create(TF_OpKernelConstruction*) {
  leave(2);
  return nullptr;
}

void compute(void*, TF_OpKernelContext*) { leave(3); }

void destroy(void*) { leave(4); }

}  // namespace

extern "C" TF_CAPI_EXPORT void TF_InitKernel() {
  constexpr const char* kOps[] = {"", "Throws1", "Throws2", "Throws3", "Throws4"};
  TF_Status* status = TF_NewStatus();
  TF_RegisterKernelBuilder(
      "Thrower", TF_NewKernelBuilder(kOps[kWhere], "CPU", create, compute, destroy), status);
  TF_DeleteStatus(status);
  leave(1);
}
