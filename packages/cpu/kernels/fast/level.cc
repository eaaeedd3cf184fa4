// What the plugin calls in the library of a level.
#include "core/kernel.h"
#include "fast/fast.h"

extern "C" __attribute__((visibility("default"))) void drystone_cpu_add_fast_kernels(void) {
  using namespace drystone::cpu;
  add_elementwise();
  add_reductions();
  add_softmax();
  add_layer_norm();
  add_batch_norm();
  add_lrn();
  add_pooling();
  add_updates();
  add_random();
  add_other_products();
  add_suppression();
  add_grids();
  add_fake_quantization();
}
