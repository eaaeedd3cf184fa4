// Families that are compiled once: what moves bytes, looks things up, or keeps state.
#ifndef DRYSTONE_CPU_PLAIN_PLAIN_H_
#define DRYSTONE_CPU_PLAIN_PLAIN_H_

namespace drystone::cpu {

// Calls all of the functions below.
void add_plain_kernels();

// One per file of this folder: registers its kernels.
void add_reshaping();
void add_products();
void add_transposing();
void add_joining();
void add_slicing();
void add_padding();
void add_gathering();
void add_scattering();
void add_variables();
void add_tensor_lists();
void add_tensor_lists_bulk();
void add_list_sums();
void add_tensor_arrays();
void add_stacks();
void add_ordering();
void add_distinct();
void add_segments();
void add_blocks();
void add_resizing();
void add_rotating();
void add_string_ops();
void add_string_hash();
void add_string_numbers();
void add_string_joining();
void add_ragged();
void add_sparse_elements();
void add_checks();
void add_searching();
void add_places();
void add_sparse_arithmetic();
void add_letter_case();
void add_counting();
void add_edit_distance();
void add_pooling_places();
void add_sets();
void add_sparse_unions();
void add_special_functions();
void add_tokens();
void add_sparse_rows();

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_PLAIN_PLAIN_H_
