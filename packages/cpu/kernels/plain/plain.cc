// All families of this folder: see plain/plain.h.
#include "plain/plain.h"

namespace drystone::cpu {

void add_plain_kernels() {
  add_reshaping();
  add_products();
  add_transposing();
  add_joining();
  add_slicing();
  add_padding();
  add_gathering();
  add_scattering();
  add_variables();
  add_tensor_lists();
  add_tensor_lists_bulk();
  add_list_sums();
  add_tensor_arrays();
  add_stacks();
  add_ordering();
  add_distinct();
  add_segments();
  add_blocks();
  add_resizing();
  add_rotating();
  add_string_ops();
  add_string_hash();
  add_string_numbers();
  add_string_joining();
  add_ragged();
  add_sparse_elements();
  add_checks();
  add_searching();
  add_places();
  add_sparse_arithmetic();
  add_letter_case();
  add_counting();
  add_edit_distance();
  add_pooling_places();
  add_sets();
  add_sparse_unions();
  add_special_functions();
  add_tokens();
  add_sparse_rows();
}

}  // namespace drystone::cpu
