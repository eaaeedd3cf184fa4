// Entry functions of a plugin that fills the structs it is given with whatever the bytes say.
//
// Numbers (sizes, versions, counts) are fuzzed freely; pointers are NULL, a good object or a good
// function, because no host can survive a wild one. Memory is only written within the sizes given.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/failure.h"
#include "core/library.h"
#include "device/init.h"
#include "drystone/device.h"
#include "drystone/filesystem.h"
#include "drystone/optimizer.h"
#include "drystone/profiler.h"
#include "filesystem/init.h"
#include "fuzz_input.h"
#include "optimizer/init.h"

namespace {

Input* in = nullptr;
std::string names[4];  // of device types and schemes; must outlive the call

template <class F, class G>
void maybe(F& member, G good) {
  if (in->below(4) != 0) member = good;
}

// A size near the right one, or any.
std::size_t size_near(std::size_t right) {
  const std::size_t choice = in->below(8);
  if (choice < 4) return right;
  return choice == 7 ? in->number() : right + in->below(64) - 32;
}

const char* name(int slot) {
  names[slot] = in->below(3) == 0 ? in->text(12) : "FUZZ_" + std::string(1, 'A' + in->below(26));
  return in->below(8) == 0 ? nullptr : names[slot].c_str();
}

void answer(TF_Status* status) {
  if (in->below(4) == 0) TF_SetStatus(status, static_cast<TF_Code>(in->below(20)), "as fuzzed");
}

void* create() { return nullptr; }
void destroy(void*) {}
void optimize(void*, const TF_Buffer*, const TF_GrapplerItem*, TF_Buffer*, TF_Status*) {}

void init_graph(TP_OptimizerRegistrationParams* params, TF_Status* status) {
  params->struct_size = size_near(TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE);
  if (in->below(4) == 0) params->major_version = static_cast<std::int32_t>(in->number());
  if (in->below(4) == 0) params->minor_version = static_cast<std::int32_t>(in->number());
  params->device_type = name(0);
  if (params->optimizer_configs != nullptr) {
    params->optimizer_configs->struct_size = size_near(TP_OPTIMIZER_CONFIGS_STRUCT_SIZE);
    auto* toggle = &params->optimizer_configs->disable_model_pruning;
    for (int k = 0; k < 18; ++k) toggle[k] = static_cast<TF_TriState>(in->below(5));
  }
  if (params->optimizer != nullptr) {
    params->optimizer->struct_size = size_near(TP_OPTIMIZER_STRUCT_SIZE);
    maybe(params->optimizer->create_func, &create);
    maybe(params->optimizer->optimize_func, &optimize);
    maybe(params->optimizer->destroy_func, &destroy);
  }
  if (in->below(8) == 0) params->optimizer_configs = nullptr;
  if (in->below(8) == 0) params->optimizer = nullptr;
  answer(status);
}

void fs_init(TF_Filesystem*, TF_Status* status) { answer(status); }
void fs_cleanup(TF_Filesystem*) {}

template <class Table>
Table* table(std::size_t* size, int* abi, int* api) {
  if (in->below(5) == 0) return nullptr;
  *size = in->below(6) == 0 ? 8 * in->below(sizeof(Table) / 8 + 1) : sizeof(Table);
  *abi = in->below(8) == 0 ? static_cast<int>(in->number()) : 0;
  *api = in->below(4) == 0 ? static_cast<int>(in->number()) : 0;
  return static_cast<Table*>(std::calloc(1, sizeof(Table)));
}

void fill_scheme(TF_FilesystemPluginOps* ops) {
  const char* scheme = name(1);
  if (scheme != nullptr) ops->scheme = strdup(scheme);
  ops->filesystem_ops = table<TF_FilesystemOps>(&ops->filesystem_ops_size, &ops->filesystem_ops_abi,
                                                &ops->filesystem_ops_api);
  if (ops->filesystem_ops != nullptr) {
    maybe(ops->filesystem_ops->init, &fs_init);
    maybe(ops->filesystem_ops->cleanup, &fs_cleanup);
  }
  ops->random_access_file_ops = table<TF_RandomAccessFileOps>(
      &ops->random_access_file_ops_size, &ops->random_access_file_ops_abi,
      &ops->random_access_file_ops_api);
  ops->writable_file_ops =
      table<TF_WritableFileOps>(&ops->writable_file_ops_size, &ops->writable_file_ops_abi,
                                &ops->writable_file_ops_api);
}

void init_plugin(TF_FilesystemPluginInfo* info) {
  maybe(info->plugin_memory_allocate, &std::malloc);
  maybe(info->plugin_memory_free, &std::free);
  const std::size_t count = in->below(4);
  if (count == 0) return;
  info->num_schemes = count;
  // Without both functions the host takes nothing over, so there is nothing to hand over.
  if (info->plugin_memory_allocate == nullptr || info->plugin_memory_free == nullptr) return;
  if (in->below(8) == 0) return;  // a count without a table
  info->ops = static_cast<TF_FilesystemPluginOps*>(std::calloc(count, sizeof *info->ops));
  for (std::size_t k = 0; k < count; ++k) fill_scheme(&info->ops[k]);
}

void no_platform(SP_Platform*) {}
void no_functions(SP_PlatformFns*) {}
void count_devices(const SP_Platform*, int* count, TF_Status* status) {
  *count = in == nullptr ? 0 : static_cast<int>(in->number());
  if (in != nullptr) answer(status);
}

void se_init(SE_PlatformRegistrationParams* params, TF_Status* status) {
  params->struct_size = size_near(SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE);
  if (in->below(4) == 0) params->major_version = static_cast<std::int32_t>(in->number());
  if (params->platform != nullptr) {
    params->platform->struct_size = size_near(SP_PLATFORM_STRUCT_SIZE);
    params->platform->name = name(2);
    params->platform->type = name(3);
  }
  if (params->platform_fns != nullptr) {
    params->platform_fns->struct_size = size_near(SP_PLATFORM_FNS_STRUCT_SIZE);
    maybe(params->platform_fns->get_device_count, &count_devices);
  }
  maybe(params->destroy_platform, &no_platform);
  maybe(params->destroy_platform_fns, &no_functions);
  answer(status);
}

void no_profiler(TP_Profiler*) {}
void no_profiler_functions(TP_ProfilerFns*) {}
void start(const TP_Profiler*, TF_Status* status) { TF_SetStatus(status, TF_OK, ""); }

void profiler_init(TF_ProfilerRegistrationParams* params, TF_Status* status) {
  params->struct_size = size_near(TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE);
  if (params->profiler != nullptr) {
    params->profiler->struct_size = size_near(TP_PROFILER_STRUCT_SIZE);
    params->profiler->device_type = name(2);
  }
  if (params->profiler_fns != nullptr) {
    params->profiler_fns->struct_size = size_near(TP_PROFILER_FNS_STRUCT_SIZE);
    maybe(params->profiler_fns->start, &start);
    maybe(params->profiler_fns->stop, &start);
  }
  maybe(params->destroy_profiler, &no_profiler);
  maybe(params->destroy_profiler_fns, &no_profiler_functions);
  answer(status);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace drystone::host;
  Input input(data, size);
  in = &input;
  Library library;
  library.path = "fuzzed.so";
  const LibraryScope scope(&library);
  try {
    switch (input.below(4)) {
      case 0: init_optimizer(library, reinterpret_cast<void*>(&init_graph)); break;
      case 1: init_filesystem(library, reinterpret_cast<void*>(&init_plugin)); break;
      case 2: init_device(library, reinterpret_cast<void*>(&se_init)); break;
      default: init_profiler(library, reinterpret_cast<void*>(&profiler_init));
    }
  } catch (const Failure& failure) {
    if (failure.message.empty()) std::abort();  // an error must say something
  }
  in = nullptr;
  return 0;
}
