// Element-wise kernels of two inputs, as a functor per op.
#ifndef DRYSTONE_CPU_FAST_BINARY_H_
#define DRYSTONE_CPU_FAST_BINARY_H_

#include <type_traits>

#include "core/broadcast.h"

namespace drystone::cpu {

// One run: steps are 0 or 1. `out` may be `a` or `b`.
template <class Op, class T, class R>
inline void binary_run(const Op& op, R* out, const T* a, const T* b, std::int64_t count,
                       std::int64_t a_step, std::int64_t b_step) {
  if (a_step != 0 && b_step != 0) {
#pragma GCC ivdep
    for (std::int64_t k = 0; k < count; ++k) out[k] = op(a[k], b[k]);
  } else if (a_step != 0) {
    const T right = *b;
#pragma GCC ivdep
    for (std::int64_t k = 0; k < count; ++k) out[k] = op(a[k], right);
  } else if (b_step != 0) {
    const T left = *a;
#pragma GCC ivdep
    for (std::int64_t k = 0; k < count; ++k) out[k] = op(left, b[k]);
  } else {
    const R both = op(*a, *b);
    for (std::int64_t k = 0; k < count; ++k) out[k] = both;
  }
}

// The kernel of an op: `Op` maps two Ts to one R and takes about `kCost` tenths of a nanosecond.
template <class Op, class T, class R = T>
class Binary {
 public:
  explicit Binary(const Node&) {}
  void compute(Call& call) const {
    const Tensor a = call.input(0);
    const Tensor b = call.input(1);
    if (a.rank() == 0 && b.rank() == 0) {
      *call.output(0, {}).template write<R>() = Op{}(*a.as<T>(), *b.as<T>());
      return;
    }
    const Broadcast shape = broadcast(a.dims(), b.dims());
    const std::int64_t count = product(shape.out);
    const bool reuses = sizeof(T) == sizeof(R);
    const int from = !reuses ? -1 : a.count() == count ? 0 : b.count() == count ? 1 : -1;
    const Tensor out = call.output(0, shape.out, from);
    if (count != 0) fill(shape, out.write<R>(), a.as<T>(), b.as<T>(), count);
  }

 private:
  static void fill(const Broadcast& shape, R* out, const T* a, const T* b, std::int64_t count) {
    const Op op;
    if (shape.dims.size() == 1) {
      const std::int64_t as = shape.a_stride[0];
      const std::int64_t bs = shape.b_stride[0];
      parallel(count, 1, [&](std::int64_t begin, std::int64_t end) {
        binary_run(op, out + begin, a + begin * as, b + begin * bs, end - begin, as, bs);
      });
      return;
    }
    const std::int64_t width = shape.dims.back();
    parallel(count / width, width, [&](std::int64_t first, std::int64_t last) {
      for_each_row(shape, first, last, [&](std::int64_t o, std::int64_t i, std::int64_t j, std::int64_t n, std::int64_t as, std::int64_t bs) {
        binary_run(op, out + o, a + i, b + j, n, as, bs);
      });
    });
  }
};

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_FAST_BINARY_H_
