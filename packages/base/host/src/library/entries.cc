// The table of entry symbols: see library/entries.h.
#include "library/entries.h"

#include "device/init.h"
#include "filesystem/init.h"
#include "kernels/init.h"
#include "optimizer/init.h"
#include "passes/init.h"

namespace drystone::host {

const std::vector<Entry>& entries() {
  static const std::vector<Entry> table = {
      {"SE_InitPlugin", "device", init_device},
      {"TF_InitPlugin", "filesystem", init_filesystem},
      {"TF_InitKernel", "kernels", init_kernels},
      {"DS_OrderOptimizer", "graph-optimizer", init_order},
      {"TF_InitGraph", "graph-optimizer", init_optimizer},
      {"TF_InitGraphPlugin", "graph-optimizer", init_optimizer_rfc},
      {"DS_InitPasses", "graph-passes", init_passes},
      {"TF_InitProfiler", "profiler", init_profiler},
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
