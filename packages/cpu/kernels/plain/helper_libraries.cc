#include "plain/helper_libraries.h"

#include <dlfcn.h>
#include <unistd.h>

#include "drystone/status.h"

namespace drystone::cpu {
namespace {

// The folder of drystone_cpu, beside the folder of plugins that this library lies in.
std::string folder() {
  static const char here = 0;
  Dl_info info{};
  if (dladdr(&here, &info) == 0 || info.dli_fname == nullptr) return ".";
  const std::string file = info.dli_fname;
  const std::size_t slash = file.rfind('/');
  return (slash == std::string::npos ? "." : file.substr(0, slash)) + "/../drystone_cpu";
}

const void* base_of(const void* address) {
  Dl_info info{};
  return address != nullptr && dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

// Names of the host, of oneDNN and of OpenMP, whose functions in other libraries know nothing of our
// objects. One of each way to call them is enough: who has one has the others.
constexpr const char* kTaken[] = {
    "TF_NewStatus",  "TF_NewTensor",        "TF_AllocateTensor",     "TF_RegisterKernelBuilder",
    "dnnl_version",  "dnnl_engine_create",  "dnnl_primitive_create", "dnnl_primitive_execute",
    "GOMP_parallel", "GOMP_barrier",        "omp_get_max_threads",   "omp_get_thread_num"};

// A part needs the host, oneDNN and OpenMP by their names, but the linker looks through the whole
// program first. TensorFlow, or a plugin that opens libraries for all, has functions of the same
// names there: the part's own scope must come first. Where another malloc stands in front of libc's,
// what put it there must get it here, too, and sanitizers allow no other order: then only if one
// of the names is taken. RTLD_DEFAULT would begin with this library's own scope.
int binding_flags() {
  void* program = dlopen(nullptr, RTLD_LAZY);
  if (program == nullptr) return RTLD_DEEPBIND;
  if (base_of(dlsym(program, "malloc")) == base_of(dlsym(program, "gnu_get_libc_version"))) {
    return RTLD_DEEPBIND;
  }
  for (const char* name : kTaken) {
    const void* found = dlsym(program, name);
    if (found != nullptr && base_of(found) != base_of(reinterpret_cast<void*>(&TF_NewStatus))) {
      return RTLD_DEEPBIND;
    }
  }
  return 0;
}

}  // namespace

bool has_helper_library(const std::string& name) { return access((folder() + "/" + name).c_str(), R_OK) == 0; }

void* open_helper_library(const std::string& name) {
  return dlopen((folder() + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL | binding_flags());
}

}  // namespace drystone::cpu
