// A graph optimizer in a few lines.
//
// Since ABI 1.0. Needs the host's optimizer functions.
//
//   class MyOptimizer {
//    public:
//     // Optional: which of the host's own passes to switch.
//     static void configure(Configs& configs) { configs.turn_off(Pass::remapping); }
//     // Change `graph`; an error leaves the caller with the graph as it was.
//     Error optimize(GraphEdit& graph, const Item& item);
//   };
//   TF_PLATFORM_STRINGS()
//   DRYSTONE_OPTIMIZER("CPU", MyOptimizer)
//
// The macro defines TF_InitGraph, the only symbol that the library needs to export. The host makes one
// MyOptimizer (default constructor) per optimization, calls optimize once or more, for the graph and for
// functions of it, and destroys it. Several of them may be at work on different threads.
//
// Before optimize runs, the bytes have been parsed and the nodes to preserve are protected in `graph`;
// afterwards the result is written back. A graph that was not changed is handed back byte for byte.
#ifndef DRYSTONE_SDK_OPTIMIZER_HPP_
#define DRYSTONE_SDK_OPTIMIZER_HPP_

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "drystone/optimizer.h"
#include "drystone/sdk/buffer.hpp"
#include "drystone/sdk/graph_edit.hpp"
#include "drystone/sdk/guard.hpp"
#include "drystone/sdk/item.hpp"
#include "drystone/sdk/status.hpp"

namespace drystone::sdk {

// The host's passes, in the order of TP_OptimizerConfigs.
enum class Pass : std::uint8_t {
  model_pruning,
  implementation_selector,
  function_optimization,
  common_subgraph_elimination,
  arithmetic_optimization,
  debug_stripper,
  constant_folding,
  shape_optimization,
  auto_mixed_precision,
  auto_mixed_precision_onednn_bfloat16,
  auto_mixed_precision_mkl,
  pin_to_host_optimization,
  layout_optimizer,
  remapping,
  loop_optimization,
  dependency_optimization,
  auto_parallel,
  memory_optimization,
  scoped_allocator_optimization,
};

// Recommendations to the host. Passes it does not know are ignored.
class Configs {
 public:
  explicit Configs(TP_OptimizerConfigs* configs) : configs_(configs) {}

  // No plugin can turn on what the user turned off, and one plugin's "off" wins over another's "on".
  void turn_off(Pass pass) { set(pass, TF_TriState_Off); }
  void turn_on(Pass pass) { set(pass, TF_TriState_On); }

 private:
  void set(Pass pass, TF_TriState state) {
    if (configs_ == nullptr) return;
    // The first member says "disable".
    if (pass == Pass::model_pruning && state != TF_TriState_Default) {
      state = state == TF_TriState_Off ? TF_TriState_On : TF_TriState_Off;
    }
    auto position = static_cast<std::size_t>(pass);
    if (configs_->struct_size < TP_OPTIMIZER_CONFIGS_STRUCT_SIZE) {
      // Hosts of before TensorFlow 2.10: one member fewer, in the middle.
      if (pass == Pass::auto_mixed_precision_onednn_bfloat16) return;
      if (pass > Pass::auto_mixed_precision_onednn_bfloat16) --position;
    }
    const std::size_t offset =
        offsetof(TP_OptimizerConfigs, disable_model_pruning) + position * sizeof(TF_TriState);
    if (offset + sizeof(TF_TriState) > configs_->struct_size) return;
    std::memcpy(reinterpret_cast<char*>(configs_) + offset, &state, sizeof state);
  }

  TP_OptimizerConfigs* configs_;
};

template <class Optimizer, class = void>
struct has_configure : std::false_type {};
template <class Optimizer>
struct has_configure<Optimizer,
                     std::void_t<decltype(Optimizer::configure(std::declval<Configs&>()))>>
    : std::true_type {};

// One optimization: bytes in, bytes out.
template <class Optimizer>
Error run_optimizer(Optimizer* optimizer, const TF_Buffer* graph, const TF_GrapplerItem* item,
                    TF_Buffer* out) {
  if (optimizer == nullptr) return failed_precondition("the optimizer was not created");
  const Result<GraphView> parsed = GraphView::parse(view(graph));
  if (!parsed.ok()) return parsed.error();
  GraphEdit edit(*parsed);
  const Item about(item);
  const Result<std::vector<std::string>> preserved = about.nodes_to_preserve();
  if (!preserved.ok()) return preserved.error();
  for (const std::string& name : *preserved) edit.protect(name);
  if (Error error = optimizer->optimize(edit, about); !error.ok()) return error;
  return fill(out, edit);
}

// The functions of TP_Optimizer.
template <class Optimizer>
struct OptimizerTable {
  static void* create() noexcept {
    Optimizer* made = nullptr;
    const Error ignored = guarded("creating the optimizer", [&] {
      made = new Optimizer();  // NOLINT(bugprone-unhandled-exception-at-new): guarded() handles it
      return Error();
    });
    static_cast<void>(ignored);  // optimize reports that there is none
    return made;
  }
  static void optimize(void* self, const TF_Buffer* graph, const TF_GrapplerItem* item,
                       TF_Buffer* out, TF_Status* status) noexcept {
    const Error error = guarded("the optimizer", [&] {
      return run_optimizer(static_cast<Optimizer*>(self), graph, item, out);
    });
    store(error, status);
  }
  static void destroy(void* self) noexcept { delete static_cast<Optimizer*>(self); }
};

template <class Optimizer>
void register_optimizer(const char* device_type, TP_OptimizerRegistrationParams* params,
                        TF_Status* status) noexcept {
  if (params == nullptr || params->struct_size < TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE ||
      params->optimizer == nullptr ||
      params->optimizer->struct_size < TP_OPTIMIZER_STRUCT_SIZE) {
    TF_SetStatus(status, TF_FAILED_PRECONDITION,
                 "the host's registration structs are older than this plugin can use");
    return;
  }
  params->major_version = GO_MAJOR;
  params->minor_version = GO_MINOR;
  params->patch_version = GO_PATCH;
  params->device_type = device_type;
  params->optimizer->create_func = &OptimizerTable<Optimizer>::create;
  params->optimizer->optimize_func = &OptimizerTable<Optimizer>::optimize;
  params->optimizer->destroy_func = &OptimizerTable<Optimizer>::destroy;
  if constexpr (has_configure<Optimizer>::value) {
    Configs configs(params->optimizer_configs);
    Optimizer::configure(configs);
  }
  TF_SetStatus(status, TF_OK, "");
}

}  // namespace drystone::sdk

// Defines the library's entry symbol. Use it once, outside of any namespace.
#define DRYSTONE_OPTIMIZER(device_type, Optimizer)                                              \
  extern "C" TF_CAPI_EXPORT void TF_InitGraph(TP_OptimizerRegistrationParams* params,           \
                                              TF_Status* status) {                              \
    ::drystone::sdk::register_optimizer<Optimizer>(device_type, params, status);                \
  }

// Beside DRYSTONE_OPTIMIZER, optional: where the optimizer runs, such as ("before remapping", 0),
// so that it may share its device type with others. See DS_OptimizerOrder.
#define DRYSTONE_OPTIMIZER_ORDER(where, rank)                                                   \
  extern "C" TF_CAPI_EXPORT void DS_OrderOptimizer(DS_OptimizerOrder* order, TF_Status* status) { \
    order->phase = (where);                                                                     \
    order->priority = (rank);                                                                   \
    TF_SetStatus(status, TF_OK, "");                                                            \
  }

#endif  // DRYSTONE_SDK_OPTIMIZER_HPP_
