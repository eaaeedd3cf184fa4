// Steps of optimizers on variables: see core/updates.h.
#include "core/updates.h"

#include <algorithm>

#include "drystone/kernels_experimental.h"

namespace drystone::cpu {
namespace {

constexpr int kMaxHypers = 8;

template <class F>
F number(const Tensor& x) {
  switch (x.dtype()) {
    case TF_FLOAT: return static_cast<F>(*x.as<float>());
    case TF_DOUBLE: return static_cast<F>(*x.as<double>());
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

// The rows that `indices` name, one after the other.
template <class Index>
void update_rows(const Update& by, UpdateLoop loop, std::size_t size, const Slots& slots,
                 const Tensor& gradient,
                 const Tensor& indices, const void* hyper, bool flag) {
  const Index* rows = indices.as<Index>();
  const std::int64_t known = slots.var.dim(0);
  for (std::int64_t k = 0; k < indices.count(); ++k) {
    require(rows[k] >= 0 && rows[k] < known, "indices must name rows of the variable");
  }
  if (gradient.count() == 0) return;
  const std::int64_t width = gradient.count() / indices.count();
  const auto bytes = width * static_cast<std::int64_t>(size);
  for (std::int64_t k = 0; k < indices.count(); ++k) {
    void* parts[kMaxSlots];
    for (int i = 0; i < by.slots; ++i) parts[i] = slots.data[i] + rows[k] * bytes;
    loop(parts, gradient.as<char>() + k * bytes, width, hyper, flag);
  }
}

void check_rows(const Tensor& var, const Tensor& gradient, const Tensor& indices) {
  require(var.rank() >= 1 && indices.rank() == 1,
          "the variable must have rows and indices be a vector");
  require(gradient.rank() == var.rank() && gradient.dim(0) == indices.dim(0) &&
              std::ranges::equal(gradient.dims().subspan(1), var.dims().subspan(1)),
          "the gradient must have the shape of the rows that it changes");
}

template <class F>
void run(Call& call, const Update& by, bool flag, UpdateLoop loop) {
  F hyper[kMaxHypers];
  const int place = by.slots + by.gradient;
  for (int k = 0; k < by.hypers; ++k) {
    const int i = by.slots + k + (k < by.gradient ? 0 : by.is_sparse ? 2 : 1);
    const Tensor value = call.input(i);
    require(value.rank() == 0, "hyper-parameters must be scalars");
    hyper[k] = number<F>(value);
  }
  const Slots slots = slots_of(call, by);
  const Tensor gradient = call.input(place);
  require(slots.var.dtype() == gradient.dtype(),
          "the variable must have the dtype of the gradient");
  if (by.is_sparse) {
    const Tensor indices = call.input(place + 1);
    check_rows(slots.var, gradient, indices);
    const bool wide = indices.dtype() == TF_INT64;
    (wide ? update_rows<std::int64_t> : update_rows<std::int32_t>)(by, loop, sizeof(F), slots,
                                                                   gradient,
                                                                   indices, hyper, flag);
    return;
  }
  require(std::ranges::equal(gradient.dims(), slots.var.dims()),
          "the gradient must have the shape of the variable");
  parallel(gradient.count(), by.cost, [&](std::int64_t begin, std::int64_t end) {
    const auto from = begin * static_cast<std::int64_t>(sizeof(F));
    void* parts[kMaxSlots];
    for (int i = 0; i < by.slots; ++i) parts[i] = slots.data[i] + from;
    loop(parts, gradient.as<char>() + from, end - begin, hyper, flag);
  });
}

}  // namespace

void update(Call& call, const Update& by, bool flag) {
  if (call.input(by.slots + by.gradient).dtype() == TF_FLOAT) {
    run<float>(call, by, flag, by.loop_float);
  } else {
    run<double>(call, by, flag, by.loop_double);
  }
  if (by.is_reference) TF_OpKernelContext_ForwardRefInputToRefOutput(call.context(), 0, 0);
}

}  // namespace drystone::cpu
