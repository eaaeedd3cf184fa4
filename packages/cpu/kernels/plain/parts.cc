#include "plain/parts.h"

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

// A part needs the host by its name, but the linker looks through the whole program first. TensorFlow
// has functions of the same names there, which know nothing of our objects: with it in the process
// the part's own scope must come first. Otherwise not, as whoever has put another malloc in front of
// the program's must get it here, too. RTLD_DEFAULT would begin with this library's own scope.
int binding_flags() {
  void* program = dlopen(nullptr, RTLD_LAZY);
  void* found = program == nullptr ? nullptr : dlsym(program, "TF_NewStatus");
  return found == nullptr || found == reinterpret_cast<void*>(&TF_NewStatus) ? 0 : RTLD_DEEPBIND;
}

}  // namespace

bool has_part(const std::string& name) { return access((folder() + "/" + name).c_str(), R_OK) == 0; }

void* open_part(const std::string& name) {
  return dlopen((folder() + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL | binding_flags());
}

}  // namespace drystone::cpu
