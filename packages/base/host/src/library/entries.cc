// The table of entry symbols: see library/entries.h.
#include "library/entries.h"

#if __has_include("device/init.h") && __has_include("device/platform.cc")
#include "device/init.h"
#endif
#if __has_include("filesystem/init.h")
#include "filesystem/init.h"
#endif
#if __has_include("kernels/init.h")
#include "kernels/init.h"
#endif
#if __has_include("optimizer/init.h")
#include "optimizer/init.h"
#endif

namespace drystone::host {

const std::vector<Entry>& entries() {
  static const std::vector<Entry> table = {
#if __has_include("device/init.h") && __has_include("device/platform.cc")
      {"SE_InitPlugin", "device", init_device},
#endif
#if __has_include("filesystem/init.h")
      {"TF_InitPlugin", "filesystem", init_filesystem},
#endif
#if __has_include("kernels/init.h")
      {"TF_InitKernel", "kernels", init_kernels},
#endif
#if __has_include("optimizer/init.h")
      {"TF_InitGraph", "graph-optimizer", init_optimizer},
      {"TF_InitGraphPlugin", "graph-optimizer", init_optimizer_rfc},
#endif
#if __has_include("device/init.h") && __has_include("device/platform.cc")
      {"TF_InitProfiler", "profiler", init_profiler},
#endif
  };
  return table;
}

const Entry* find_entry(std::string_view symbol) {
  for (const Entry& entry : entries()) {
    if (symbol == entry.symbol) return &entry;
  }
  return nullptr;
}

}  // namespace drystone::host
