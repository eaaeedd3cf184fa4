// Steps of optimizers on variables: what they change, apart from the rules.
#ifndef DRYSTONE_CPU_CORE_UPDATES_H_
#define DRYSTONE_CPU_CORE_UPDATES_H_

#include "core/kernel.h"

namespace drystone::cpu {

inline constexpr int kMaxSlots = 4;

// Changes `count` elements of each slot by those of the gradient. `hyper` are the
// hyper-parameters in the type that the rule calculates in.
using UpdateLoop = void (*)(void* const* slots, const void* gradient, std::int64_t count,
                            const void* hyper, bool flag);

// Inputs of an op: `slots` variables (or references), hyper-parameters, and the gradient before the
// `gradient`-th of them; for rows of the variable their indices follow the gradient.
struct Update {
  int slots;
  int gradient;
  int hypers;
  bool is_reference;  // output 0 is the reference that input 0 is
  bool is_sparse;
  // By hyper-parameter: '+' for positive (or 0, if the flag is set), '0' for not negative, '-' for
  // not positive; nullptr for any numbers.
  const char* limits;
  bool needs_elements;  // in each row
  std::int64_t cost;  // of an element, in nanoseconds
  UpdateLoop loop_float;
  UpdateLoop loop_double;
};

void update(Call& call, const Update& by, bool flag);

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_CORE_UPDATES_H_
