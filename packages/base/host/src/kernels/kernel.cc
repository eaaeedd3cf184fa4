// Kernels of nodes: see kernels/kernel.h.
#include "kernels/kernel.h"

#include <optional>

#include "core/buffer.h"
#include "core/live.h"
#include "core/plugin_call.h"
#include "kernels/construction.h"
#include "kernels/context.h"
#include "drystone/logging.h"
#include "library/loaded.h"
#include "threads/abandonable_call.h"

namespace drystone::host::kernels {
namespace {

constexpr std::string_view kCpu = "/job:localhost/replica:0/task:0/device:CPU:0";

// The number after the last colon; 0 without one.
int number_of_device(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  int number = 0;
  for (const char digit : name.substr(colon == std::string_view::npos ? name.size() : colon + 1)) {
    if (digit < '0' || digit > '9' || number > 100'000'000) return 0;
    number = number * 10 + (digit - '0');
  }
  return number;
}

// One per tensor: whether it lies in host memory, as resources always do.
std::vector<unsigned char> marks_of_host(const Definition& definition, const Signature& signature) {
  std::vector<unsigned char> out(signature.types.size(), definition.device == "CPU" ? 1 : 0);
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (signature.types[k] == TF_RESOURCE) out[k] = 1;
  }
  for (const std::string& arg : definition.host_memory) {
    const Range* range = signature.range(arg);
    for (int k = range == nullptr ? 0 : range->start; range != nullptr && k < range->stop; ++k) {
      out[static_cast<std::size_t>(k)] = 1;
    }
  }
  return out;
}

}  // namespace
}  // namespace drystone::host::kernels

using namespace drystone::host;
using namespace drystone::host::kernels;

DS_Kernel::DS_Kernel(RegisteredPtr registered_, std::string_view node_def, std::string_view op_def,
                     std::string_view device)
    : registered(std::move(registered_)),
      node(node_def, op_def),
      function{"compute", registered->library.c_str(), node.name(), node.op(), registered->guards()},
      device_name(device.empty() ? kCpu : device),
      device_id(number_of_device(device_name)),
      inputs(node.input_signature()),
      outputs(node.output_signature()),
      stated(node.attr(kStatedShapes).integers(), inputs.types.size(), outputs.types.size()),
      input_on_host(marks_of_host(registered->definition, inputs)),
      output_on_host(marks_of_host(registered->definition, outputs)),
      takes_stored(inputs.types.size(), 0) {
  if (node.op() != registered->definition.op) {
    fail(TF_INVALID_ARGUMENT,
         "node '" + std::string(node.name()) + "' has op '" + std::string(node.op()) + "', the kernel is for op '" +
             registered->definition.op + "'",
         {{DS_PAYLOAD_NODE, std::string(node.name())}, {DS_PAYLOAD_OP, std::string(node.op())}});
  }
  born(Kind::kernel);
}

DS_Kernel* DS_Kernel::make(RegisteredPtr registered, std::string_view node_def, std::string_view op_def,
                           std::string_view device) {
  auto* const out = new DS_Kernel(std::move(registered), node_def, op_def, device);
  try {
    if (out->registered->is_watched) out->create_and_leave();
    else out->create();
  } catch (...) {
    out->release();
    throw;
  }
  return out;
}

DS_Kernel& DS_Kernel::of_no_call() {
  static auto* const only = [] {
    auto registered = std::make_shared<Registered>();
    registered->definition.op = "NoOp";
    registered->definition.device = "CPU";
    const std::string name = "a call that is over";
    const std::string op_def = std::string("\x0a\x04") + "NoOp";
    const std::string node_def = std::string("\x0a") + static_cast<char>(name.size()) + name + "\x12\x04" + "NoOp";
    auto* const made = new DS_Kernel(std::move(registered), node_def, op_def, "");
    died(Kind::kernel);  // it is never given back
    return made;
  }();
  return *only;
}

DS_Kernel::~DS_Kernel() {
  answered(0, [&] {
    const std::string text = later_writes.found();
    if (!text.empty()) TF_Log(TF_ERROR, "%s: %s", title().c_str(), text.c_str());
    return 0;
  });
  destroy_state();
  died(Kind::kernel);
}

// The function may take forever, and keeps the kernel as long as that.
void DS_Kernel::create_and_leave() {
  if (registered->create == nullptr) return create();
  retain();
  const std::shared_ptr<DS_Kernel> held(this, [](DS_Kernel* kernel) { kernel->release(); });
  if (call_abandonable(registered->library, [held] { held->create(); }, {}) == CallEnd::returned) return;
  fail_at(subject(), {TF_CANCELLED, "its create function was left as it had not returned"});
}

void DS_Kernel::create() {
  has_state_ = registered->create == nullptr;
  if (has_state_) return;
  TF_OpKernelConstruction construction{node, {}, &takes_stored};
  const PluginCall running("create", registered->library.c_str(), node.name(), node.op());
  // One look is for all nodes of a kernel that changes nothing: most make many.
  std::optional<HostState> host;
  if (!std::atomic_ref(registered->is_clean).load()) host.emplace();
  try {
    state = registered->create(&construction);
    has_state_ = true;
  } catch (const std::exception& error) {
    fail_at(subject(), {TF_INTERNAL, std::string("its create function threw a C++ exception: ") + error.what()});
  } catch (...) {
    fail_at(subject(), {TF_INTERNAL, "its create function threw a C++ exception of unknown type"});
  }
  if (!construction.failure) {
    if (host && settle_changes(registered->library, *host, "while create of a kernel ran")) {
      std::atomic_ref(registered->is_clean).store(true);
    }
    return;
  }
  fail_at(subject(), std::move(*construction.failure));
}

namespace {

constexpr std::int64_t kMostForDelete = 5000;

// What a plugin's delete function is called with: it may outlive the kernel.
struct Deletion {
  RegisteredPtr registered;
  std::string node;
  std::string op;
  void* state;

  void run() const noexcept {
    const PluginCall running("delete", registered->library.c_str(), node, op);
    answered(0, [&] {
      registered->destroy(state);
      return 0;
    });
  }
};

}  // namespace

void DS_Kernel::destroy_state() noexcept {
  if (registered->destroy == nullptr || !has_state_) return;
  answered(0, [&] {
    const auto deletion = std::make_shared<const Deletion>(
        Deletion{registered, std::string(node.name()), std::string(node.op()), state});
    if (!registered->is_watched) return deletion->run(), 0;
    if (has_abandoned_call(registered->library)) return 0;  // its others would wait, too
    const CallLimits patience{kMostForDelete, false};
    if (call_abandonable(registered->library, [deletion] { deletion->run(); }, patience) != CallEnd::returned) {
      TF_Log(TF_WARNING, "%s: its delete function has not returned for 5 s; drystone continues without it",
             title().c_str());
    }
    return 0;
  });
}

void DS_Kernel::release() noexcept {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

const std::string& DS_Kernel::keep(const char* text) {
  const std::lock_guard lock(mutex_);
  return *texts_.emplace(text).first;
}

Subject DS_Kernel::subject() const {
  return {std::string(node.name()), std::string(node.op()), registered->name, registered->library, device_name};
}

namespace {

TF_DataType type_at(const Signature& signature, int index) {
  if (index < 0 || index >= signature.size()) return static_cast<TF_DataType>(0);
  return signature.types[static_cast<std::size_t>(index)];
}

TF_Bool flag_at(const std::vector<unsigned char>& flags, int index) {
  if (index < 0 || static_cast<std::size_t>(index) >= flags.size()) return 0;
  return flags[static_cast<std::size_t>(index)];
}

}  // namespace

extern "C" {

DS_Kernel* DS_NewKernel(int64_t id, const TF_Buffer* node_def, const TF_Buffer* op_def,
                        const char* device_name, TF_Status* status) {
  DS_Kernel* out = nullptr;
  guarded(status, __func__, [&] {
    const RegisteredPtr registered = find(id);
    if (registered == nullptr) {
      fail(TF_NOT_FOUND, "no kernel has the id " + std::to_string(id));
    }
    out = DS_Kernel::make(registered, view(node_def), op_def == nullptr ? "" : view(op_def),
                        device_name == nullptr ? "" : device_name);
  });
  return out;
}

void DS_DeleteKernel(DS_Kernel* kernel) {
  if (kernel != nullptr) kernel->release();
}

int DS_KernelNumInputs(const DS_Kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->inputs.size();
}

int DS_KernelNumOutputs(const DS_Kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->outputs.size();
}

TF_DataType DS_KernelInputType(const DS_Kernel* kernel, int index) {
  return kernel == nullptr ? static_cast<TF_DataType>(0) : type_at(kernel->inputs, index);
}

TF_DataType DS_KernelOutputType(const DS_Kernel* kernel, int index) {
  return kernel == nullptr ? static_cast<TF_DataType>(0) : type_at(kernel->outputs, index);
}

TF_Bool DS_KernelInputOnHost(const DS_Kernel* kernel, int index) {
  return kernel == nullptr ? 0 : flag_at(kernel->input_on_host, index);
}

TF_Bool DS_KernelOutputOnHost(const DS_Kernel* kernel, int index) {
  return kernel == nullptr ? 0 : flag_at(kernel->output_on_host, index);
}

}  // extern "C"
