// Kernels that are written for float run on floats of 16 bits, too: their inputs are widened first,
// and their outputs rounded once.
#ifndef DRYSTONE_CPU_CORE_WIDENED_CALL_H_
#define DRYSTONE_CPU_CORE_WIDENED_CALL_H_

#include <optional>

#include "core/kernel.h"
#include "core/narrow.h"

namespace drystone::cpu {

inline bool is_narrow(TF_DataType dtype) { return dtype == TF_HALF || dtype == TF_BFLOAT16; }

inline void widen_to(float* out, const Tensor& x) {
  if (x.dtype() == TF_HALF) {
    const auto* from = x.as<Half>();
    for (std::int64_t k = 0; k < x.count(); ++k) out[k] = to_float(from[k]);
  } else {
    const auto* from = x.as<BFloat16>();
    for (std::int64_t k = 0; k < x.count(); ++k) out[k] = to_float(from[k]);
  }
}

inline void narrow_to(const Tensor& y, const float* from) {
  if (y.dtype() == TF_HALF) {
    auto* out = y.write<Half>();
    for (std::int64_t k = 0; k < y.count(); ++k) out[k] = to_half(from[k]);
  } else {
    auto* out = y.write<BFloat16>();
    for (std::int64_t k = 0; k < y.count(); ++k) out[k] = to_bfloat16(from[k]);
  }
}

class WidenedCall final : public CallOverride {
 public:
  explicit WidenedCall(int inputs) : inputs_(static_cast<std::size_t>(inputs)) {}
  Tensor input(const Call& call, int i) override {
    if (i < 0 || i >= static_cast<int>(inputs_.size())) return call.held_input(i);
    auto& known = inputs_[static_cast<std::size_t>(i)];
    if (!known) {
      const Tensor x = call.held_input(i);
      known = is_narrow(x.dtype()) ? x.with(TF_FLOAT, wide(call, x)) : x;
    }
    return *known;
  }
  Tensor output(const Call& call, int i, DimsView dims) override {
    const Tensor y = call.held_output(i, dims);
    if (!is_narrow(y.dtype())) return y;
    outputs_.emplace_back(y, call.scratch<float>(y.count() + 1));
    return y.with(TF_FLOAT, outputs_.back().second);
  }
  void finish() const {
    for (const auto& [y, wide] : outputs_) narrow_to(y, wide);
  }

 private:
  static float* wide(const Call& call, const Tensor& x) {
    auto* out = call.scratch<float>(x.count() + 1);  // at least one
    widen_to(out, x);
    return out;
  }
  std::vector<std::optional<Tensor>> inputs_;
  std::vector<std::pair<Tensor, float*>> outputs_;
};

template <class Kernel>
class Widened {
 public:
  explicit Widened(const Node& node) : kernel_(node) {}
  void compute(Call& call) {
    WidenedCall wide(call.inputs());
    Call widened(call.context(), &wide);
    kernel_.compute(widened);
    wide.finish();
  }

 protected:
  Kernel& kernel() { return kernel_; }

 private:
  Kernel kernel_;
};

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_CORE_WIDENED_CALL_H_
