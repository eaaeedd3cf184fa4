// Steps of optimizers on variables: see core/updates.h.
#include "core/updates.h"

#include <algorithm>

#include "core/widen.h"

#include "drystone/kernels_experimental.h"

namespace drystone::cpu {
namespace {

constexpr int kMaxHypers = 8;

template <class F>
F number(const Tensor& x) {
  switch (x.dtype()) {
    case TF_FLOAT: return static_cast<F>(*x.as<float>());
    case TF_DOUBLE: return static_cast<F>(*x.as<double>());
    case TF_HALF: return static_cast<F>(to_float(*x.as<Half>()));
    case TF_BFLOAT16: return static_cast<F>(to_float(*x.as<BFloat16>()));
    case TF_INT64: return static_cast<F>(*x.as<std::int64_t>());
    default: fail(TF_UNIMPLEMENTED, "a hyper-parameter of another dtype");
  }
}

struct Slots {
  Tensor var;
  char* data[kMaxSlots];
};

Slots slots_of(Call& call, const Update& by) {
  Slots out{call.change_variable(0), {}};
  for (int k = 0; k < by.slots; ++k) {
    const Tensor slot = call.change_variable(k);
    require(std::ranges::equal(slot.dims(), out.var.dims()),
            "the variable and its slots must have the same shape");
    require(slot.dtype() == out.var.dtype(), "the variable and its slots must have the same dtype");
    out.data[k] = slot.write<char>();
  }
  return out;
}

// A step of a rule: parts of the slots, and of the gradient.
struct Step {
  const Update& by;
  TF_DataType dtype;
  const void* hyper;
  bool flag;

  std::int64_t size() const {  // of an element
    return dtype == TF_DOUBLE ? 8 : dtype == TF_FLOAT ? 4 : 2;
  }
  void run(void* const* parts, const char* gradient, std::int64_t count) const {
    switch (dtype) {
      case TF_DOUBLE: return by.loop_double(parts, gradient, count, hyper, flag);
      case TF_FLOAT: return by.loop_float(parts, gradient, count, hyper, flag);
      case TF_HALF: return run_narrow<Half>(parts, gradient, count);
      default: return run_narrow<BFloat16>(parts, gradient, count);
    }
  }

 private:
  // Calculated in float and rounded once, tile by tile.
  template <class T>
  void run_narrow(void* const* parts, const char* gradient, std::int64_t count) const {
    constexpr std::int64_t kTile = 256;
    float slots[kMaxSlots][kTile];
    float slope[kTile];
    void* wide[kMaxSlots];
    for (int i = 0; i < by.slots; ++i) wide[i] = slots[i];
    const T* from = reinterpret_cast<const T*>(gradient);
    for (std::int64_t k = 0; k < count; k += kTile) {
      const std::int64_t some = std::min(kTile, count - k);
      for (int i = 0; i < by.slots; ++i) {
        const T* slot = static_cast<const T*>(parts[i]) + k;
        std::transform(slot, slot + some, slots[i], [](T x) { return widen(x); });
      }
      std::transform(from + k, from + k + some, slope, [](T x) { return widen(x); });
      by.loop_float(wide, slope, some, hyper, flag);
      for (int i = 0; i < by.slots; ++i) {
        T* slot = static_cast<T*>(parts[i]) + k;
        std::transform(slots[i], slots[i] + some, slot, [](float x) { return narrow<T>(x); });
      }
    }
  }
};

// The rows that `indices` name, one after the other.
template <class Index>
void update_rows(const Step& step, const Slots& slots, const Tensor& gradient,
                 const Tensor& indices) {
  const Index* rows = indices.as<Index>();
  const std::int64_t known = slots.var.dim(0);
  for (std::int64_t k = 0; k < indices.count(); ++k) {
    require(rows[k] >= 0 && rows[k] < known, "indices must name rows of the variable");
  }
  if (gradient.count() == 0) return;
  const std::int64_t width = gradient.count() / indices.count();
  const std::int64_t bytes = width * step.size();
  for (std::int64_t k = 0; k < indices.count(); ++k) {
    void* parts[kMaxSlots];
    for (int i = 0; i < step.by.slots; ++i) parts[i] = slots.data[i] + rows[k] * bytes;
    step.run(parts, gradient.as<char>() + k * bytes, width);
  }
}

void check_rows(const Tensor& var, const Tensor& gradient, const Tensor& indices) {
  require(var.rank() >= 1 && indices.rank() == 1,
          "the variable must have rows and indices be a vector");
  require(gradient.rank() == var.rank() && gradient.dim(0) == indices.dim(0) &&
              std::ranges::equal(gradient.dims().subspan(1), var.dims().subspan(1)),
          "the gradient must have the shape of the rows that it changes");
}

// NaN is within no limit.
template <class F>
void check_limits(const Update& by, const F* hyper, bool flag) {
  for (int k = 0; by.limits != nullptr && k < by.hypers; ++k) {
    switch (by.limits[k]) {
      case '+': require(hyper[k] > 0 || (flag && hyper[k] == 0), "lr must be positive"); break;
      case '0': require(hyper[k] >= 0, "regularization must not be negative"); break;
      default: require(hyper[k] <= 0, "lr_power must not be positive");
    }
  }
}

template <class F>
void run(Call& call, const Update& by, bool flag) {
  F hyper[kMaxHypers];
  const int place = by.slots + by.gradient;
  for (int k = 0; k < by.hypers; ++k) {
    const int i = by.slots + k + (k < by.gradient ? 0 : by.is_sparse ? 2 : 1);
    const Tensor value = call.input(i);
    require(value.rank() == 0, "hyper-parameters must be scalars");
    hyper[k] = number<F>(value);
  }
  check_limits(by, hyper, flag);
  const Slots slots = slots_of(call, by);
  const Tensor gradient = call.input(place);
  require(slots.var.dtype() == gradient.dtype(),
          "the variable must have the dtype of the gradient");
  const Step step{by, gradient.dtype(), hyper, flag};
  if (by.is_sparse) {
    const Tensor indices = call.input(place + 1);
    check_rows(slots.var, gradient, indices);
    const auto row = slots.var.dims().subspan(1);
    require(!by.needs_elements || std::ranges::find(row, 0) == row.end(),
            "rows must have elements");
    const bool wide = indices.dtype() == TF_INT64;
    (wide ? update_rows<std::int64_t> : update_rows<std::int32_t>)(step, slots, gradient, indices);
    return;
  }
  require(std::ranges::equal(gradient.dims(), slots.var.dims()),
          "the gradient must have the shape of the variable");
  parallel(gradient.count(), by.cost, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t from = begin * step.size();
    void* parts[kMaxSlots];
    for (int i = 0; i < by.slots; ++i) parts[i] = slots.data[i] + from;
    step.run(parts, gradient.as<char>() + from, end - begin);
  });
}

}  // namespace

void update(Call& call, const Update& by, bool flag) {
  const bool is_double = call.input(by.slots + by.gradient).dtype() == TF_DOUBLE;
  (is_double ? run<double> : run<float>)(call, by, flag);
  if (by.is_reference) TF_OpKernelContext_ForwardRefInputToRefOutput(call.context(), 0, 0);
}

}  // namespace drystone::cpu
