// Rules of optimizers, for one element: `s` are the slots, the variable first, and `g` the
// gradient.
//
// A rule says how many slots it has, after how many hyper-parameters the gradient comes, how many
// hyper-parameters there are, and which attribute its flag is (or nullptr). Some say limits of
// hyper-parameters (see core/updates.h), for all updates or for rows, and that rows need elements.
#ifndef DRYSTONE_CPU_FAST_UPDATE_RULES_H_
#define DRYSTONE_CPU_FAST_UPDATE_RULES_H_

#include <cmath>

namespace drystone::cpu::rules {

template <class F>
inline F square(F x) { return x * x; }

// x moved towards zero by l1 * factor, not past it; as it is unless l1 is positive.
template <class F>
inline F shrink(F x, F l1, F factor) {
  const F rest = std::fabs(x) - l1 * factor;
  const F out = std::copysign(rest < 0 ? F(0) : rest, x);
  return l1 > 0 ? out : x;
}

// The larger one; a new NaN is passed over, one that is kept stays.
template <class F>
inline F larger(F kept, F made) { return kept < made ? made : kept; }

template <class F>
inline F sign(F x) { return x > 0 ? F(1) : x < 0 ? F(-1) : x; }

template <class F>
struct GradientDescent {
  static constexpr int kSlots = 1, kGradient = 1, kHypers = 1;
  static constexpr const char* kFlag = nullptr;
  GradientDescent(const F* h, bool) : alpha(h[0]) {}
  void operator()(F* s, F g) const { s[0] -= g * alpha; }
  F alpha;
};

template <class F>
struct Momentum {
  static constexpr int kSlots = 2, kGradient = 1, kHypers = 2;
  static constexpr const char* kFlag = "use_nesterov";
  Momentum(const F* h, bool flag) : lr(h[0]), momentum(h[1]), nesterov(flag) {}
  void operator()(F* s, F g) const {
    s[1] = s[1] * momentum + g;
    s[0] -= nesterov ? g * lr + s[1] * momentum * lr : s[1] * lr;
  }
  F lr, momentum;
  bool nesterov;
};

template <class F>
struct KerasMomentum : Momentum<F> {
  using Momentum<F>::Momentum;
  void operator()(F* s, F g) const {
    s[1] = s[1] * this->momentum - g * this->lr;
    s[0] += this->nesterov ? s[1] * this->momentum - g * this->lr : s[1];
  }
};

// Kingma and Ba, 2015.
template <class F>
struct Adam {
  static constexpr int kSlots = 3, kGradient = 6, kHypers = 6;
  static constexpr const char* kFlag = "use_nesterov";
  Adam(const F* h, bool flag)
      : rate(h[2] * std::sqrt(1 - h[1]) / (1 - h[0])), beta1(h[3]), rest1(1 - h[3]),
        rest2(1 - h[4]), epsilon(h[5]), nesterov(flag) {}
  void operator()(F* s, F g) const {
    s[1] += (g - s[1]) * rest1;
    s[2] += (square(g) - s[2]) * rest2;
    const F step = nesterov ? g * rest1 + s[1] * beta1 : s[1];
    s[0] -= step * rate / (std::sqrt(s[2]) + epsilon);
  }
  F rate, beta1, rest1, rest2, epsilon;
  bool nesterov;
};

// Reddi, Kale and Kumar, 2018.
template <class F>
struct AdamWithAmsgrad : Adam<F> {
  static constexpr int kSlots = 4;
  static constexpr const char* kFlag = nullptr;
  using Adam<F>::Adam;
  void operator()(F* s, F g) const {
    s[1] += (g - s[1]) * this->rest1;
    s[2] += (square(g) - s[2]) * this->rest2;
    s[3] = larger(s[3], s[2]);
    s[0] -= s[1] * this->rate / (std::sqrt(s[3]) + this->epsilon);
  }
};

template <class F>
struct AdaMax {
  static constexpr int kSlots = 3, kGradient = 5, kHypers = 5;
  static constexpr const char* kFlag = nullptr;
  AdaMax(const F* h, bool) : rate(h[1] / (1 - h[0])), rest1(1 - h[2]), beta2(h[3]), epsilon(h[4]) {}
  void operator()(F* s, F g) const {
    s[1] += (g - s[1]) * rest1;
    s[2] = larger(beta2 * s[2], std::fabs(g));
    s[0] -= rate * (s[1] / (s[2] + epsilon));
  }
  F rate, rest1, beta2, epsilon;
};

// Duchi, Hazan and Singer, 2011.
template <class F>
struct Adagrad {
  static constexpr int kSlots = 2, kGradient = 1, kHypers = 1;
  static constexpr const char* kFlag = "update_slots";
  static constexpr bool kNeedsElements = true;
  Adagrad(const F* h, bool flag) : lr(h[0]), epsilon(0), updates(flag) {}
  void operator()(F* s, F g) const {
    s[1] = updates ? s[1] + square(g) : s[1];
    s[0] -= g * lr / (std::sqrt(s[1]) + epsilon);
  }
  F lr, epsilon;
  bool updates;
};

template <class F>
struct AdagradV2 : Adagrad<F> {
  static constexpr int kGradient = 2, kHypers = 2;
  AdagradV2(const F* h, bool flag) : Adagrad<F>(h, flag) { this->epsilon = h[1]; }
};

template <class F>
struct AdagradDA {
  static constexpr int kSlots = 3, kGradient = 0, kHypers = 4;
  static constexpr const char* kFlag = nullptr;
  static constexpr bool kNeedsElements = true;
  AdagradDA(const F* h, bool) : lr(h[0]), l1(h[1]), l2(h[2] * h[3] * h[0]), steps(h[3]) {}
  void operator()(F* s, F g) const {
    s[1] += g;
    s[2] += square(g);
    s[0] = -lr * shrink(s[1], l1, steps) / (l2 + std::sqrt(s[2]));
  }
  F lr, l1, l2, steps;
};

template <class F>
struct RMSProp {
  static constexpr int kSlots = 3, kGradient = 4, kHypers = 4;
  static constexpr const char* kFlag = nullptr;
  RMSProp(const F* h, bool) : lr(h[0]), rest(1 - h[1]), momentum(h[2]), epsilon(h[3]) {}
  void operator()(F* s, F g) const {
    s[1] += (square(g) - s[1]) * rest;
    s[2] = s[2] * momentum + g * lr / std::sqrt(s[1] + epsilon);
    s[0] -= s[2];
  }
  F lr, rest, momentum, epsilon;
};

template <class F>
struct CenteredRMSProp : RMSProp<F> {
  static constexpr int kSlots = 4;
  using RMSProp<F>::RMSProp;
  void operator()(F* s, F g) const {
    s[2] += (square(g) - s[2]) * this->rest;
    s[1] += (g - s[1]) * this->rest;
    s[3] = s[3] * this->momentum + this->lr * g / std::sqrt(s[2] - square(s[1]) + this->epsilon);
    s[0] -= s[3];
  }
};

// Zeiler, 2012.
template <class F>
struct Adadelta {
  static constexpr int kSlots = 3, kGradient = 3, kHypers = 3;
  static constexpr const char* kFlag = nullptr;
  Adadelta(const F* h, bool) : lr(h[0]), rho(h[1]), rest(1 - h[1]), epsilon(h[2]) {}
  void operator()(F* s, F g) const {
    s[1] = s[1] * rho + square(g) * rest;
    const F change = std::sqrt(s[2] + epsilon) / std::sqrt(s[1] + epsilon) * g;
    s[2] = s[2] * rho + square(change) * rest;
    s[0] -= change * lr;
  }
  F lr, rho, rest, epsilon;
};

// McMahan and others, 2013.
template <class F>
struct Ftrl {
  static constexpr int kSlots = 3, kGradient = 0, kHypers = 4;
  static constexpr const char* kFlag = "multiply_linear_by_lr";
  static constexpr const char* kSparseLimits = "+00-";
  static constexpr bool kNeedsElements = true;
  Ftrl(const F* h, bool flag)
      : lr(h[0]), l1(h[1]), l2(h[2]), shrinkage(0), power(-h[3]), by_lr(flag) {}
  F raised(F x) const { return power == F(0.5) ? std::sqrt(x) : std::pow(x, power); }
  void operator()(F* s, F g) const {
    const F pulled = shrinks ? g + 2 * shrinkage * s[0] : g;
    const F total = s[1] + square(g);
    const F height = raised(total);
    const F rise = height - raised(s[1]);
    const F linear = by_lr ? s[2] + pulled * lr - rise * s[0] : s[2] + pulled - rise / lr * s[0];
    const F quadratic = by_lr ? height + 2 * l2 * lr : height / lr + 2 * l2;
    const F limit = by_lr ? l1 * lr : l1;
    const F above = linear < -limit ? -limit : linear;
    const F nearest = above > limit ? limit : above;
    const F moved = by_rows ? nearest - linear : limit * sign(linear) - linear;
    // Of whole variables 0 where it is small, or NaN.
    s[0] = by_rows || std::fabs(linear) > limit ? moved / quadratic : F(0);
    s[1] = total;
    s[2] = linear;
  }
  F lr, l1, l2, shrinkage, power;
  bool by_lr;
  bool by_rows = false;
  bool shrinks = false;
};

// It shrinks the gradient.
template <class F>
struct FtrlV2 : Ftrl<F> {
  static constexpr int kHypers = 5;
  static constexpr const char* kSparseLimits = "+000-";
  FtrlV2(const F* h, bool flag) : Ftrl<F>(h, flag) {
    this->shrinks = true;
    this->shrinkage = h[3];
    this->power = -h[4];
  }
};

template <template <class> class Rule>
struct ByRows {
  template <class F>
  struct Of : Rule<F> {
    Of(const F* h, bool flag) : Rule<F>(h, flag) { this->by_rows = true; }
  };
};

// Bello and others, 2017.
template <class F>
struct AddSign {
  static constexpr int kSlots = 2, kGradient = 4, kHypers = 4;
  static constexpr const char* kFlag = nullptr;
  AddSign(const F* h, bool) : lr(h[0]), alpha(h[1]), decay(h[2]), beta(h[3]) {}
  void operator()(F* s, F g) const {
    s[1] = s[1] * beta + g * (1 - beta);
    s[0] -= lr * (alpha + decay * (sign(g) * sign(s[1]))) * g;
  }
  F lr, alpha, decay, beta;
};

// The same paper.
template <class F>
struct PowerSign : AddSign<F> {
  using AddSign<F>::AddSign;
  void operator()(F* s, F g) const {
    s[1] = s[1] * this->beta + g * (1 - this->beta);
    s[0] -= this->lr * std::exp(this->alpha * this->decay * (sign(g) * sign(s[1]))) * g;
  }
};

// Duchi and Singer, 2009 (FOBOS).
template <class F>
struct ProximalGradientDescent {
  static constexpr int kSlots = 1, kGradient = 3, kHypers = 3;
  static constexpr const char* kFlag = nullptr;
  static constexpr bool kNeedsElements = true;
  ProximalGradientDescent(const F* h, bool) : alpha(h[0]), l1(h[1]), l2(1 + h[2] * h[0]) {}
  void operator()(F* s, F g) const { s[0] = shrink(s[0] - g * alpha, l1, alpha) / l2; }
  F alpha, l1, l2;
};

// The same paper.
template <class F>
struct ProximalAdagrad {
  static constexpr int kSlots = 2, kGradient = 3, kHypers = 3;
  static constexpr const char* kFlag = nullptr;
  static constexpr const char* kLimits = "+00";
  static constexpr bool kNeedsElements = true;
  ProximalAdagrad(const F* h, bool) : lr(h[0]), l1(h[1]), l2(h[2]) {}
  void operator()(F* s, F g) const {
    s[1] += square(g);
    const F rate = lr / std::sqrt(s[1]);
    s[0] = shrink(s[0] - g * rate, l1, rate) / (1 + l2 * rate);
  }
  F lr, l1, l2;
};

}  // namespace drystone::cpu::rules

#endif  // DRYSTONE_CPU_FAST_UPDATE_RULES_H_
