// Families whose loops are compiled once for each level of instructions: see CMakeLists.txt.
//
// Each level is a library of its own, so that no inline function compiled for a newer processor can
// end up in what runs on an older one. The plugin opens the one that fits the processor.
#ifndef DRYSTONE_CPU_FAST_FAST_H_
#define DRYSTONE_CPU_FAST_FAST_H_

namespace drystone::cpu {

// One per file of this folder: registers its kernels.
void add_elementwise();
void add_reductions();
void add_softmax();
void add_layer_norm();
void add_batch_norm();
void add_lrn();
void add_pooling();
void add_updates();
void add_random();
void add_other_products();
void add_suppression();
void add_grids();
void add_fake_quantization();

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_FAST_FAST_H_
