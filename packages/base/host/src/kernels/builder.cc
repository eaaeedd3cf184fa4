// Kernel builders: see drystone/kernels.h.
#include <memory>

#include "core/failure.h"
#include "core/library.h"
#include "core/live.h"
#include "kernels/registry.h"
#include "library/registering.h"

using namespace drystone::host;
using namespace drystone::host::kernels;

struct TF_KernelBuilder {
  TF_KernelBuilder() { born(Kind::handle); }
  ~TF_KernelBuilder() { died(Kind::handle); }
  TF_KernelBuilder(const TF_KernelBuilder&) = delete;
  TF_KernelBuilder& operator=(const TF_KernelBuilder&) = delete;

  Registered kernel;
};

namespace {

TF_KernelBuilder* new_builder(const char* op, const char* device, Create create, Compute compute,
                              ComputeAsync compute_async, Delete destroy) {
  return answered<TF_KernelBuilder*>(nullptr, [&]() -> TF_KernelBuilder* {
    const bool runs = compute != nullptr || compute_async != nullptr;
    if (op == nullptr || device == nullptr || !runs) return nullptr;
    auto builder = std::make_unique<TF_KernelBuilder>();
    builder->kernel.definition.op = op;
    builder->kernel.definition.device = device;
    builder->kernel.create = create;
    builder->kernel.compute = compute;
    builder->kernel.compute_async = compute_async;
    builder->kernel.destroy = destroy;
    return builder.release();
  });
}

// Registers and deletes the builder. What goes wrong is remembered with the library, too: its
// TF_InitKernel cannot return it.
void register_builder(const char* function, const void* caller, const char* name,
                      const char* kernel_def, TF_KernelBuilder* builder, TF_Status* status) {
  const std::unique_ptr<TF_KernelBuilder> owned(builder);
  TF_Status result;
  guarded(&result, function, [&] {
    require(builder, "builder");
    require_registering("kernels are registered in entry functions only, such as TF_InitKernel", caller);
    Registered& kernel = builder->kernel;
    if (kernel_def != nullptr) kernel.definition = parse_kernel_def(kernel_def);
    kernel.name = name == nullptr ? "" : name;
    kernel.library = current_origin();
    const bool is_ours = current_library() != nullptr && current_library()->is_vouched_for;
    kernel.is_watched = current_library() != nullptr && !is_ours;
    kernel.is_clean = is_ours;  // drystone's own need no look: each takes a hundred system calls
    kernel.computes_clean = is_ours && kernel.compute != nullptr;
    const RegisteredPtr added = add(std::move(kernel));
    if (Library* library = current_library()) library->kernels.push_back(added->definition.op);
  });
  if (result.code != TF_OK) record_error(result.message);
  set(status, result.code, nullptr, result.message.c_str());
}

// Changes what has no status to report through.
template <class Body>
void quietly(TF_KernelBuilder* builder, const char* text, Body&& body) {
  if (builder == nullptr || text == nullptr) return;
  answered(0, [&] {
    std::forward<Body>(body)(builder->kernel.definition);
    return 0;
  });
}

}  // namespace

extern "C" {

TF_KernelBuilder* TF_NewKernelBuilder(const char* op_name, const char* device_name,
                                      void* (*create_func)(TF_OpKernelConstruction*),
                                      void (*compute_func)(void*, TF_OpKernelContext*),
                                      void (*delete_func)(void*)) {
  return new_builder(op_name, device_name, create_func, compute_func, nullptr, delete_func);
}

TF_KernelBuilder* TF_NewAsyncKernelBuilder(
    const char* op_name, const char* device_name, void* (*create_func)(TF_OpKernelConstruction*),
    void (*compute_async_func)(void*, TF_OpKernelContext*, TF_AsyncOpKernelDoneCallback*),
    void (*delete_func)(void*)) {
  return new_builder(op_name, device_name, create_func, nullptr, compute_async_func, delete_func);
}

void TF_KernelBuilder_TypeConstraint(TF_KernelBuilder* kernel_builder, const char* attr_name,
                                     TF_DataType type, TF_Status* status) {
  guarded(status, __func__, [&] {
    require(kernel_builder, "kernel_builder");
    require(attr_name, "attr_name");
    const int number = static_cast<int>(type);
    if (!known_dtype(number)) {
      fail(TF_UNIMPLEMENTED, "there is no dtype with the number " + std::to_string(number));
    }
    kernel_builder->kernel.definition.constraints.push_back({attr_name, {number}});
  });
}

void TF_KernelBuilder_HostMemory(TF_KernelBuilder* kernel_builder, const char* arg_name) {
  quietly(kernel_builder, arg_name,
          [&](Definition& definition) { definition.host_memory.emplace_back(arg_name); });
}

void TF_KernelBuilder_Priority(TF_KernelBuilder* kernel_builder, int32_t priority_number) {
  if (kernel_builder != nullptr) kernel_builder->kernel.definition.priority = priority_number;
}

void TF_KernelBuilder_Label(TF_KernelBuilder* kernel_builder, const char* label) {
  quietly(kernel_builder, label, [&](Definition& definition) { definition.label = label; });
}

void TF_RegisterKernelBuilder(const char* kernel_name, TF_KernelBuilder* builder,
                              TF_Status* status) {
  register_builder(__func__, __builtin_return_address(0), kernel_name, nullptr, builder, status);
}

void TF_RegisterKernelBuilderWithKernelDef(const char* serialized_kernel_def, const char* name,
                                           TF_KernelBuilder* builder, TF_Status* status) {
  register_builder(__func__, __builtin_return_address(0), name, serialized_kernel_def, builder, status);
}

void TF_DeleteKernelBuilder(TF_KernelBuilder* builder) { delete builder; }

}  // extern "C"
