// The plugin: registers its kernels, the fast ones from the library for this processor's level.
#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/family.h"
#include "drystone/kernels.h"
#include "drystone/logging.h"
#include "drystone/platform_strings.h"
#include "plain/helper_libraries.h"

TF_PLATFORM_STRINGS()

namespace {

// The levels of instructions that the processor has and DRYSTONE_CPU_LEVEL allows, newest first.
std::vector<std::string> levels() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const char* named = std::getenv("DRYSTONE_CPU_LEVEL");
  const std::string_view limit = named == nullptr ? "" : named;
  const bool to_v3 = limit != "v2" && __builtin_cpu_supports("x86-64-v3");
  const bool to_v4 = to_v3 && limit != "v3" && __builtin_cpu_supports("x86-64-v4");
  return to_v4   ? std::vector<std::string>{"v4", "v3", "v2"}
         : to_v3 ? std::vector<std::string>{"v3", "v2"}
                 : std::vector<std::string>{"v2"};
#else
  return {"base"};
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
  // A quick build has one level, that of the machine it was made on.
  for (const std::string& level : levels()) {
    const std::string name = "libdrystone_cpu_" + level + ".so";
    if (!drystone::cpu::has_helper_library(name)) continue;
    add_from(name, "drystone_cpu_add_fast_kernels");
    return;
  }
  TF_Log(TF_ERROR,
         "drystone-cpu: it was built without kernels for level %s of instructions or an older one, as "
         "a quick build for another processor is; install drystone-cpu from a release, build it on "
         "this machine, or unset DRYSTONE_CPU_LEVEL where that is set",
         levels().front().c_str());
}
