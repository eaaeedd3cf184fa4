// A kernel made for one node.
#ifndef DRYSTONE_HOST_KERNELS_KERNEL_H_
#define DRYSTONE_HOST_KERNELS_KERNEL_H_

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/failure.h"
#include "core/plugin_call.h"
#include "drystone_host/kernels.h"
#include "kernels/later_writes.h"
#include "kernels/node.h"
#include "kernels/node_state.h"
#include "kernels/registry.h"
#include "kernels/stated_shapes.h"

struct DS_Kernel {
 public:
  // Calls the plugin's create function. Throws Failure.
  static DS_Kernel* make(drystone::host::kernels::RegisteredPtr registered, std::string_view node_def,
                         std::string_view op_def, std::string_view device_name);
  DS_Kernel(const DS_Kernel&) = delete;
  DS_Kernel& operator=(const DS_Kernel&) = delete;

  // What a context belongs to whose call is over: a kernel of a node without inputs and outputs.
  static DS_Kernel& of_no_call();

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept;

  // The text with a lifetime as long as the kernel's.
  const std::string& keep(const char* text);

  // What a failure of it is about.
  drystone::host::Subject subject() const;
  std::string title() const { return subject().title(); }
  bool on_cpu() const { return registered->definition.device == "CPU"; }

  const drystone::host::kernels::RegisteredPtr registered;
  const drystone::host::kernels::Node node;
  const drystone::host::PluginFunction function;  // that computes
  const std::string device_name;
  const int device_id;
  const drystone::host::kernels::Signature inputs;
  const drystone::host::kernels::Signature outputs;
  const drystone::host::kernels::StatedShapes stated;  // of a plugin's kernel
  const std::vector<unsigned char> input_on_host;
  const std::vector<unsigned char> output_on_host;
  std::vector<unsigned char> takes_stored;  // per input: its kernel asked for what stays in a file
  void* state = nullptr;
  DS_NodeStates states;  // of calls without a session
  std::atomic<std::uint32_t> calls{0};  // that were watched
  drystone::host::kernels::LaterWrites later_writes;

 private:
  DS_Kernel(drystone::host::kernels::RegisteredPtr registered, std::string_view node_def,
            std::string_view op_def, std::string_view device_name);
  ~DS_Kernel();
  void create();
  void create_and_leave();
  void destroy_state() noexcept;

  bool has_state_ = false;  // for delete: create has returned, or there is none
  std::atomic<int> references_{1};
  std::mutex mutex_;
  std::set<std::string, std::less<>> texts_;
};

namespace drystone::host::kernels {

// Run the kernel once and wait for it: DS_RunKernel without its checks of counts. `outputs`, which hold
// none, are set when it succeeds. `shares`: an output may be an input, held. Throws Failure.
void run_kernel(DS_Kernel& kernel, const DS_KernelCall& call, TF_Tensor* const* inputs,
                TF_Tensor** outputs, bool shares);
// The same for inputs of the dtypes that the node says, none of them a reference.
void run_kernel_unchecked(DS_Kernel& kernel, const DS_KernelCall& call, TF_Tensor* const* inputs,
                          TF_Tensor** outputs);

}  // namespace drystone::host::kernels

#endif  // DRYSTONE_HOST_KERNELS_KERNEL_H_
