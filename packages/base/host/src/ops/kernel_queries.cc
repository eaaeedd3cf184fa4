// Queries about kernels: see drystone/registry.h.
#include "core/failure.h"
#include "drystone/registry.h"
#include "kernels/registry.h"
#include "ops/services.h"

namespace host = drystone::host;

namespace {

// The kernels of plugins, then those of the program; two lists one after the other are one.
TF_Buffer* kernels(const char* op, TF_Status* status, const char* function) {
  TF_Buffer* answer = nullptr;
  host::guarded(status, function, [&] {
    const std::string list = host::kernels::kernel_list(op) + host::ops::embedder_kernels(op);
    answer = TF_NewBufferFromString(list.data(), list.size());
    if (answer == nullptr) throw std::bad_alloc();
  });
  return answer;
}

}  // namespace

extern "C" {

TF_CAPI_EXPORT TF_Buffer* TF_GetRegisteredKernelsForOp(const char* name, TF_Status* status) {
  if (name != nullptr) return kernels(name, status, __func__);
  host::guarded(status, __func__, [] { host::fail(TF_INVALID_ARGUMENT, "name must not be NULL"); });
  return nullptr;
}

TF_CAPI_EXPORT TF_Buffer* TF_GetAllRegisteredKernels(TF_Status* status) {
  return kernels(nullptr, status, __func__);
}

}  // extern "C"
