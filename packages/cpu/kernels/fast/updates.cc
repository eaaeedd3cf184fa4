// Steps of optimizers: Apply*, ResourceApply*, SparseApply* and ResourceSparseApply*.
#include "core/family.h"
#include "core/updates.h"

#include "fast/update_rules.h"

namespace drystone::cpu {
namespace {

template <class Rule, class F>
void loop(void* const* slots, const void* gradient, std::int64_t count, const void* hyper,
          bool flag) {
  const Rule rule(static_cast<const F*>(hyper), flag);
  const F* from = static_cast<const F*>(gradient);
  F* to[Rule::kSlots];
  for (int k = 0; k < Rule::kSlots; ++k) to[k] = static_cast<F*>(slots[k]);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    F values[Rule::kSlots];
    for (int k = 0; k < Rule::kSlots; ++k) values[k] = to[k][i];
    rule(values, from[i]);
    for (int k = 0; k < Rule::kSlots; ++k) to[k][i] = values[k];
  }
}

// What TensorFlow looks at: limits of some rules, of some for rows only.
template <class R>
constexpr const char* limits(bool sparse) {
  if constexpr (requires { R::kLimits; }) return R::kLimits;
  if constexpr (requires { R::kSparseLimits; }) return sparse ? R::kSparseLimits : nullptr;
  return nullptr;
}

template <class R>
constexpr bool needs_elements() {
  return requires { R::kNeedsElements; };
}

template <template <class> class Rule, bool kReference, bool kSparse>
class Apply {
 public:
  using R = Rule<float>;
  explicit Apply(const Node& node)
      : flag_(R::kFlag != nullptr && node.has(R::kFlag) && node.boolean(R::kFlag)) {}
  void compute(Call& call) const {
    static constexpr Update kUpdate = {R::kSlots, R::kGradient, R::kHypers, kReference, kSparse,
                                       limits<R>(kSparse), needs_elements<R>(), R::kSlots,
                                       loop<Rule<float>, float>, loop<Rule<double>, double>};
    update(call, kUpdate, flag_);
  }

 private:
  bool flag_;
};

template <template <class> class Rule, bool kReference, bool kSparse>
void add_form(const std::string& form, const char* name) {
  std::vector<Constraint> constraints = {{"T", {TF_FLOAT, TF_DOUBLE, TF_HALF, TF_BFLOAT16}}};
  if (kSparse) constraints.push_back({"Tindices", {TF_INT32, TF_INT64}});
  add<Apply<Rule, kReference, kSparse>>((form + name).c_str(), constraints);
}

template <template <class> class Rule>
void add_dense(const char* name) {
  add_form<Rule, true, false>("Apply", name);
  add_form<Rule, false, false>("ResourceApply", name);
}

template <template <class> class Rule>
void add_all(const char* name) {
  add_dense<Rule>(name);
  add_form<Rule, true, true>("SparseApply", name);
  add_form<Rule, false, true>("ResourceSparseApply", name);
}

// Rows of variables have a rule of their own.
template <template <class> class Rule>
void add_ftrl(const char* name) {
  add_dense<Rule>(name);
  add_form<rules::ByRows<Rule>::template Of, true, true>("SparseApply", name);
  add_form<rules::ByRows<Rule>::template Of, false, true>("ResourceSparseApply", name);
}

}  // namespace

const Family registered([] {
  add_all<rules::Adadelta>("Adadelta");
  add_all<rules::Adagrad>("Adagrad");
  add_all<rules::AdagradDA>("AdagradDA");
  add_all<rules::AdagradV2>("AdagradV2");
  add_dense<rules::Adam>("Adam");
  add_form<rules::AdamWithAmsgrad, false, false>("ResourceApply", "AdamWithAmsgrad");
  add_dense<rules::AdaMax>("AdaMax");
  add_dense<rules::AddSign>("AddSign");
  add_all<rules::CenteredRMSProp>("CenteredRMSProp");
  add_ftrl<rules::Ftrl>("Ftrl");
  add_ftrl<rules::FtrlV2>("FtrlV2");
  add_dense<rules::GradientDescent>("GradientDescent");
  add_form<rules::KerasMomentum, false, false>("ResourceApply", "KerasMomentum");
  add_form<rules::KerasMomentum, false, true>("ResourceSparseApply", "KerasMomentum");
  add_all<rules::Momentum>("Momentum");
  add_dense<rules::PowerSign>("PowerSign");
  add_all<rules::ProximalAdagrad>("ProximalAdagrad");
  add_all<rules::ProximalGradientDescent>("ProximalGradientDescent");
  add_all<rules::RMSProp>("RMSProp");
});

}  // namespace drystone::cpu
