// Calling TF_InitKernel: see kernels/init.h.
#include "kernels/init.h"

#include "core/failure.h"
#include "kernels/registry.h"

namespace drystone::host {
namespace {

[[noreturn]] void thrown(Library& library, std::int64_t before, const std::string& what) {
  kernels::forget_since(before, library.path);
  library.kernels.clear();
  fail(TF_INTERNAL, library.path + " threw a C++ exception: " + what);
}

}  // namespace

void init_kernels(Library& library, void* function) {
  require(function, "TF_InitKernel");
  const LibraryScope scope(&library);
  const std::int64_t before = kernels::next_id();
  try {
    reinterpret_cast<void (*)()>(function)();
  } catch (const std::exception& error) {
    thrown(library, before, error.what());
  } catch (...) {
    thrown(library, before, "of unknown type");
  }
}

}  // namespace drystone::host
