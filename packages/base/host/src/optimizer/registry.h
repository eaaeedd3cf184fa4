// The optimizers that plugins registered, by device type.
#ifndef DRYSTONE_HOST_OPTIMIZER_REGISTRY_H_
#define DRYSTONE_HOST_OPTIMIZER_REGISTRY_H_

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "drystone/optimizer.h"

namespace drystone::host {

// Names of the wishes in TP_OptimizerConfigs, in the order of its members.
inline constexpr std::array<const char*, 19> kToggles = {
    "disable_model_pruning",
    "implementation_selector",
    "function_optimization",
    "common_subgraph_elimination",
    "arithmetic_optimization",
    "debug_stripper",
    "constant_folding",
    "shape_optimization",
    "auto_mixed_precision",
    "auto_mixed_precision_onednn_bfloat16",
    "auto_mixed_precision_mkl",
    "pin_to_host_optimization",
    "layout_optimizer",
    "remapping",
    "loop_optimization",
    "dependency_optimization",
    "auto_parallel",
    "memory_optimization",
    "scoped_allocator_optimization",
};

// What one library registered.
struct Optimizer {
  std::string device;
  std::string library;
  std::string entry;
  std::array<int, 3> version{};
  std::size_t params_size = 0;
  std::size_t configs_size = 0;
  std::size_t optimizer_size = 0;
  std::array<TF_TriState, kToggles.size()> configs{};
  TP_Optimizer functions{};
  bool has_order = false;  // whether the library declared where it runs
  std::string phase = "end";
  int priority = 0;
};

// Take an optimizer. Fails with ALREADY_EXISTS, naming both libraries, where its device has one and
// neither declared an order.
void add_optimizer(Optimizer optimizer);

// The optimizer of a device type, of that library unless `library` is empty: then the one that
// declared no order, or else the first. Fails with NOT_FOUND, listing the known types.
std::shared_ptr<const Optimizer> optimizer_of(std::string_view device, std::string_view library);

// All of them, sorted by device type and library.
std::vector<std::shared_ptr<const Optimizer>> all_optimizers();

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_OPTIMIZER_REGISTRY_H_
