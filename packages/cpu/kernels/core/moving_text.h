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

// Lists the strings that a call gives out, none of them in an input's memory.
class StringOutputs final : public CallOverride {
 public:
  Tensor input(const Call& call, int i) override { return call.held_input(i); }
  Tensor output(const Call& call, int i, DimsView dims) override {
    const Tensor out = call.held_output(i, dims);
    if (out.dtype() == TF_STRING) made_.push_back(out);
    return out;
  }
  void own() {
    while (!made_.empty()) {
      const Tensor last = made_.back();
      made_.pop_back();
      own_strings(last);
    }
  }
  // After a failure: what was moved and is not owned yet is forgotten.
  void forget() {
    for (const Tensor& out : made_) {
      std::memset(out.write<void>(), 0, static_cast<std::size_t>(out.count()) * sizeof(TF_TString));
    }
  }

 private:
  std::vector<Tensor> made_;
};

template <class Kernel>
class OfStrings {
 public:
  explicit OfStrings(const Node& node) : kernel_(node) {}
  void compute(Call& call) const {
    StringOutputs outputs;
    Call moving(call.context(), &outputs);
    try {
      kernel_.compute(moving);
      outputs.own();
    } catch (...) {
      outputs.forget();
      throw;
    }
  }

 private:
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
