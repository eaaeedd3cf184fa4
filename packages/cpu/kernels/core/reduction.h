// Reductions over axes: how they walk their input, apart from what they calculate.
#ifndef DRYSTONE_CPU_CORE_REDUCTION_H_
#define DRYSTONE_CPU_CORE_REDUCTION_H_

#include "core/kernel.h"

namespace drystone::cpu {

// What a reduction calculates. Elements are `in_size` bytes, what is gathered so far `state_size`.
// In what order elements are joined never depends on how many threads there are.
struct Fold {
  std::size_t in_size;
  std::size_t state_size;
  bool in_place;  // a state is an element of the output
  // Every state becomes that of no elements.
  void (*clear)(void* states, std::int64_t count);
  // states[k] = that of `run` elements from x + k * run on.
  void (*runs)(const void* x, std::int64_t run, std::int64_t count, void* states);
  // states[k] takes in x[r * stride + k] for each of `rows` rows.
  void (*rows)(const void* x, std::int64_t stride, std::int64_t rows, std::int64_t width,
               void* states);
  // states[k] takes in more[k].
  void (*join)(void* states, const void* more, std::int64_t count);
  // The output from its states, of `each` elements; in the same memory when in_place.
  void (*finish)(void* out, const void* states, std::int64_t count, std::int64_t each);
};

struct Walk {
  std::int64_t dim;
  std::int64_t stride;  // in elements
};

// Dims of an input in groups of neighbours that are all kept or all reduced.
struct Reduction {
  Dims out;                   // dims of the output
  std::vector<Walk> kept;     // outermost first, without `width`
  std::vector<Walk> reduced;  // the same, without `run`
  std::int64_t outer = 1;     // product of `kept`
  std::int64_t rows = 1;      // product of `reduced`
  std::int64_t run = 1;       // the innermost group when it is reduced, else 1
  std::int64_t width = 1;     // the innermost group when it is kept, else 1
  std::int64_t each = 1;      // how many elements become one
};

// Which axes an int32 or int64 tensor names. Fails with INVALID_ARGUMENT for one that the rank does
// not have, and for one that is named twice.
std::vector<bool> reduced_axes(const Tensor& axes, int rank);
Reduction reduction(DimsView dims, const std::vector<bool>& reduced, bool keep_dims);

// Output 0 becomes the fold of `x`.
void reduce(Call& call, const Fold& fold, const Tensor& x, const Reduction& shape);

// The fold of all elements, into one state.
void reduce_all(Call& call, const Fold& fold, const void* x, std::int64_t count, void* state);

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_CORE_REDUCTION_H_
