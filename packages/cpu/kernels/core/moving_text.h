// Strings for kernels that move elements without looking at them. Such a kernel moves the 24 bytes
// of a string as it moves any others; afterwards what the outputs hold becomes copies of their own.
#ifndef DRYSTONE_CPU_CORE_MOVING_TEXT_H_
#define DRYSTONE_CPU_CORE_MOVING_TEXT_H_

#include <cstring>

#include "core/moving.h"
#include "core/text.h"

namespace drystone::cpu {

// Moved strings become owners of copies of their bytes. On a failure those that are left are empty,
// so that nothing is freed twice.
inline void own_strings(const Tensor& moved) {
  auto* strings = moved.write<TF_TString>();
  std::int64_t k = 0;
  try {
    for (; k < moved.count(); ++k) {
      if (TF_TString_GetType(strings + k) == TF_TSTR_SMALL) continue;
      const TF_TString alias = strings[k];
      TF_TString_Init(strings + k);
      if (TF_TString_GetType(&alias) == TF_TSTR_OFFSET) {
        fail(TF_UNIMPLEMENTED, "strings whose bytes lie beside their tensor cannot be moved");
      }
      set_text(strings + k, text_of(alias));
    }
  } catch (...) {
    for (; k < moved.count(); ++k) TF_TString_Init(strings + k);
    throw;
  }
}

template <class Kernel>
class OfStrings {
 public:
  explicit OfStrings(const Node& node) : kernel_(node) {}
  void compute(Call& call) const {
    std::vector<Tensor> made;
    call.note_outputs(&made);
    try {
      kernel_.compute(call);
    } catch (...) {
      empty(made, 0);
      throw;
    }
    for (std::size_t k = 0; k < made.size(); ++k) {
      try {
        if (made[k].dtype() == TF_STRING) own_strings(made[k]);
      } catch (...) {
        empty(made, k + 1);
        throw;
      }
    }
  }

 private:
  static void empty(const std::vector<Tensor>& made, std::size_t first) {
    for (std::size_t k = first; k < made.size(); ++k) {
      if (made[k].dtype() != TF_STRING) continue;
      std::memset(made[k].write<void>(), 0,
                  static_cast<std::size_t>(made[k].count()) * sizeof(TF_TString));
    }
  }
  Kernel kernel_;
};

// Registers a kernel that moves elements of the dtype in `attr` for all plain dtypes and strings.
template <class Kernel>
void add_moving(const char* op, const char* attr = "T") {
  add<Kernel>(op, {{attr, plain_types()}});
  add<OfStrings<Kernel>>(op, {{attr, {TF_STRING}}});
}
template <void (*Function)(Call&)>
void add_moving(const char* op, const char* attr = "T") {
  add_moving<Plain<Function>>(op, attr);
}

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_CORE_MOVING_TEXT_H_
