// What the plugin calls in the library of a level: one for each level of instructions (CMakeLists.txt),
// so that no inline function compiled for a newer processor can end up in what runs on an older one.
#include "core/family.h"

extern "C" __attribute__((visibility("default"))) void drystone_cpu_add_fast_kernels(void) {
  drystone::cpu::Family::add_all();
}
