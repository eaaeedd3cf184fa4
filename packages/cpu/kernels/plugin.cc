// The plugin: registers its kernels, the fast ones from the library for this processor's level.
#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "core/family.h"
#include "drystone/kernels.h"
#include "drystone/logging.h"
#include "drystone/platform_strings.h"
#include "plain/helper_libraries.h"

TF_PLATFORM_STRINGS()

namespace {

// The newest level of instructions that the processor has, and that DRYSTONE_CPU_LEVEL allows.
const char* level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const char* named = std::getenv("DRYSTONE_CPU_LEVEL");
  const std::string_view limit = named == nullptr ? "" : named;
  const bool is_v2 = limit == "v2";
  if (!is_v2 && limit != "v3" && __builtin_cpu_supports("x86-64-v4")) return "v4";
  if (!is_v2 && __builtin_cpu_supports("x86-64-v3")) return "v3";
  return "v2";
#else
  return "base";
#endif
}

// Calls the function of the library, which stays open.
void add_from(const std::string& name, const char* function) {
  void* library = drystone::cpu::open_helper_library(name);
  void* address = library == nullptr ? nullptr : dlsym(library, function);
  if (address == nullptr) {
    const char* why = dlerror();
    TF_Log(TF_ERROR, "drystone-cpu: %s", why == nullptr ? name.c_str() : why);
    return;
  }
  reinterpret_cast<void (*)()>(address)();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void TF_InitKernel(void) {
  drystone::cpu::Family::add_all();
  add_from(std::string("libdrystone_cpu_") + level() + ".so", "drystone_cpu_add_fast_kernels");
}
