// Registration of a plugin's optimizer: negotiation of sizes and versions, checks, the registry.
#include "optimizer/init.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string_view>
#include <utility>

#include "device/calls.h"
#include "device/padded_struct.h"
#include "library/loaded.h"
#include "library/open.h"
#include "optimizer/registry.h"

namespace drystone::host {
namespace {

using InitGraph = void (*)(TP_OptimizerRegistrationParams*, TF_Status*);

// TP_OptimizerConfigs before TensorFlow 2.10, without auto_mixed_precision_onednn_bfloat16. The RFC's
// are as long, with two members the other way round, and its examples do not state a size.
constexpr std::size_t kOldConfigsSize = 88;
constexpr std::size_t kInserted = 9;
constexpr std::size_t kAutoParallel = 16;
constexpr std::size_t kMemoryOptimization = 17;
constexpr const char* kRfcEntry = "TF_InitGraphPlugin";
constexpr std::size_t kFirstToggle = offsetof(TP_OptimizerConfigs, disable_model_pruning);

// The structs that TF_InitGraph fills in.
struct Tables {
  PaddedStruct<TP_OptimizerRegistrationParams> params =
      DRYSTONE_PADDED_STRUCT(TP_OptimizerRegistrationParams, TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE);
  PaddedStruct<TP_OptimizerConfigs> configs;
  PaddedStruct<TP_Optimizer> optimizer = DRYSTONE_PADDED_STRUCT(TP_Optimizer, TP_OPTIMIZER_STRUCT_SIZE);

  // `configs_size` is what configs state unless the plugin states another.
  explicit Tables(std::size_t configs_size)
      : configs("TP_OptimizerConfigs", "TP_OPTIMIZER_CONFIGS_STRUCT_SIZE", configs_size) {
    params->major_version = GO_MAJOR;
    params->minor_version = GO_MINOR;
    params->patch_version = GO_PATCH;
    params->optimizer_configs = configs.get();
    params->optimizer = optimizer.get();
  }
};

// The wishes, whichever of the known layouts the stated size and the entry symbol mean.
std::array<TF_TriState, kToggles.size()> read_configs(const TP_OptimizerConfigs& configs,
                                                      std::size_t stated, bool by_rfc) {
  std::array<TF_TriState, kToggles.size()> out{};
  std::int32_t raw[kToggles.size()] = {};
  static_assert(sizeof(TF_TriState) == sizeof(std::int32_t));
  std::memcpy(raw, reinterpret_cast<const char*>(&configs) + kFirstToggle, sizeof raw);
  const std::size_t there = std::min(kToggles.size(), (stated - kFirstToggle) / sizeof *raw);
  for (std::size_t k = 0; k < there; ++k) {
    const std::size_t to = stated == kOldConfigsSize && k >= kInserted ? k + 1 : k;
    if (raw[k] == TF_TriState_Off || raw[k] == TF_TriState_On) {
      out[to] = static_cast<TF_TriState>(raw[k]);
    }
  }
  if (by_rfc && stated == kOldConfigsSize) std::swap(out[kAutoParallel], out[kMemoryOptimization]);
  return out;
}

void check_device_type(const char* type) {
  if (type == nullptr || *type == '\0') {
    fail(TF_FAILED_PRECONDITION,
         "TP_OptimizerRegistrationParams.device_type is not set; set it to a type such as \"CPU\"");
  }
  const std::string_view text(type, ::strnlen(type, 256));
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
  if (!plain || text.size() > 255 || std::isdigit(static_cast<unsigned char>(text[0])) != 0) {
    fail(TF_FAILED_PRECONDITION,
         "TP_OptimizerRegistrationParams.device_type is no device type: it must be letters, digits "
         "and underscores, and not begin with a digit");
  }
}

void check_functions(const TP_Optimizer& optimizer) {
  require_members("TP_Optimizer", {{"optimize_func", optimizer.optimize_func != nullptr}});
  if (optimizer.create_func != nullptr && optimizer.destroy_func == nullptr) {
    fail(TF_FAILED_PRECONDITION,
         "TP_Optimizer.create_func is set but destroy_func is not; what one makes the other must "
         "free");
  }
}

void check_pointers(Tables& tables) {
  if (tables.params->optimizer_configs == tables.configs.get() &&
      tables.params->optimizer == tables.optimizer.get()) {
    return;
  }
  fail(TF_FAILED_PRECONDITION,
       "a pointer in TP_OptimizerRegistrationParams was changed; fill in the structs that it leads "
       "to");
}

Optimizer settle(Tables& tables, const std::string& path, const char* entry) {
  Optimizer out;
  out.params_size = tables.params.settle();
  if (tables.params->optimizer == nullptr && out.params_size < sizeof *tables.params.get()) {
    fail(TF_FAILED_PRECONDITION, "TP_OptimizerRegistrationParams.struct_size is " +
                                     std::to_string(out.params_size) +
                                     ", too short for the member optimizer");
  }
  check_pointers(tables);
  out.configs_size = tables.configs.settle();
  out.optimizer_size = tables.optimizer.settle();
  const auto& params = *tables.params;
  require_major("graph optimizer interface", GO_MAJOR, params.major_version, params.minor_version,
                params.patch_version);
  check_device_type(params.device_type);
  check_functions(*tables.optimizer);
  out.device = params.device_type;
  out.library = path;
  out.entry = entry;
  out.version = {params.major_version, params.minor_version, params.patch_version};
  out.configs = read_configs(*tables.configs, out.configs_size, out.entry == kRfcEntry);
  out.functions = *tables.optimizer;
  return out;
}

// "start", "end", or a name of 1 to 100 plain characters after "before " or "after ".
bool is_phase(std::string_view text) {
  if (text == "start" || text == "end") return true;
  for (const std::string_view word : {"before ", "after "}) {
    if (text.substr(0, word.size()) != word) continue;
    const std::string_view name = text.substr(word.size());
    return !name.empty() && name.size() <= 100 &&
           std::all_of(name.begin(), name.end(), [](unsigned char c) {
             return std::isalnum(c) != 0 || c == '_';
           });
  }
  return false;
}

void take_order(Library& library, const DS_OptimizerOrder& order) {
  const char* phase = order.phase == nullptr ? "end" : order.phase;
  const std::string_view text(phase, ::strnlen(phase, 256));
  if (!is_phase(text)) {
    fail(TF_FAILED_PRECONDITION,
         "DS_OptimizerOrder.phase is \"" + std::string(text) +
             "\"; it must be \"start\", \"end\", or \"before \" or \"after \" and the name of "
             "a pass");
  }
  library.phase = text;
  library.priority = order.priority;
  library.has_order = true;
}

// Asks the library for its order before anything is registered, whatever is called first.
void ask_order(Library& library) {
  if (void* found = find_own_symbol(library.handle, "DS_OrderOptimizer"); found != nullptr) {
    init_order(library, found);
  }
}

void init_by(Library& library, void* function, const char* entry) {
  ask_order(library);
  const bool by_rfc = std::string_view(entry) == kRfcEntry;
  Tables tables(by_rfc ? kOldConfigsSize : TP_OPTIMIZER_CONFIGS_STRUCT_SIZE);
  const auto init = reinterpret_cast<InitGraph>(function);
  call_entry(entry, [&](TF_Status* status) { init(tables.params.get(), status); });
  Optimizer optimizer = settle(tables, library.path, entry);
  optimizer.has_order = library.has_order;
  optimizer.phase = library.phase;
  optimizer.priority = library.priority;
  const std::string device = optimizer.device;
  add_optimizer(std::move(optimizer));
  library.optimizers.push_back(device);
}

}  // namespace

void init_order(Library& library, void* function) {
  if (library.asked_order) return;
  library.asked_order = true;
  PaddedStruct<DS_OptimizerOrder> order =
      DRYSTONE_PADDED_STRUCT(DS_OptimizerOrder, DS_OPTIMIZER_ORDER_STRUCT_SIZE);
  order->phase = "end";
  const auto ask = reinterpret_cast<void (*)(DS_OptimizerOrder*, TF_Status*)>(function);
  call_entry("DS_OrderOptimizer", [&](TF_Status* status) { ask(order.get(), status); });
  order.settle();
  take_order(library, *order);
}

void init_optimizer(Library& library, void* function) {
  init_by(library, function, "TF_InitGraph");
}

void init_optimizer_rfc(Library& library, void* function) {
  const auto& results = static_cast<DS_Library&>(library).results;
  const bool both = std::any_of(results.begin(), results.end(), [](const DS_EntryResult& result) {
    return std::string_view(result.entry->symbol) == "TF_InitGraph";
  });
  if (!both) init_by(library, function, kRfcEntry);
}

}  // namespace drystone::host
