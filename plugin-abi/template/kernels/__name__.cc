// An op of its own with a kernel for the CPU: {{Name}}Scale(x; factor) = factor * x.
#include "drystone/platform_strings.h"
#include "drystone/sdk/sdk.hpp"

namespace {

using namespace drystone::sdk;

class Scale {
 public:
  // Once for each node: read its attributes.
  Error init(Construction& node) {
    const Result<float> factor = node.real("factor");
    if (!factor.ok()) return factor.error();
    factor_ = *factor;
    return {};
  }

  // For each run, by any number of threads at once.
  Error compute(KernelContext& call) const {
    const Result<Tensor> x = call.input(0);
    if (!x.ok()) return x.error();
    Result<Tensor> y = call.output_in_place(0, {0}, x->dims());
    if (!y.ok()) return y.error();
    const Result<Span<const float>> from = x->values<float>();
    const Result<Span<float>> to = y->mutable_values<float>();
    if (!from.ok()) return from.error();
    if (!to.ok()) return to.error();
    for (std::size_t i = 0; i < from->size(); ++i) (*to)[i] = factor_ * (*from)[i];
    return {};
  }

 private:
  float factor_ = 1;
};

Error add_all() {
  NewOp scale("{{Name}}Scale");
  scale.attr("factor: float = 1.0").input("x: float").output("y: float").shape<same_shape>();
  if (Error error = scale.add(); !error.ok()) return error;
  return NewKernel::of<Scale>("{{Name}}Scale", "CPU").add();
}

}  // namespace

TF_PLATFORM_STRINGS()
DRYSTONE_KERNELS(add_all)
