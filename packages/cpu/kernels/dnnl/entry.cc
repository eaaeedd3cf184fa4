// The library's table of kernels.
#include "dnnl/entry.h"

#include <cstring>

using drystone::cpu::dnnl_part::Entry;

extern "C" __attribute__((visibility("default"))) const Entry* drystone_cpu_dnnl_entry(
    const char* op, int is_narrow) {
  static const std::vector<Entry> entries = [] {
    std::vector<Entry> out;
    drystone::cpu::dnnl_part::list_products(out);
    drystone::cpu::dnnl_part::list_sums(out);
    drystone::cpu::dnnl_part::list_attention(out);
    drystone::cpu::dnnl_part::list_convolutions(out);
    drystone::cpu::dnnl_part::list_convolution_gradients(out);
    drystone::cpu::dnnl_part::list_quantized(out);
    drystone::cpu::dnnl_part::list_quantized_products(out);
    return out;
  }();
  for (const Entry& entry : entries) {
    if (entry.is_narrow == (is_narrow != 0) && std::strcmp(entry.op, op) == 0) return &entry;
  }
  return nullptr;
}
