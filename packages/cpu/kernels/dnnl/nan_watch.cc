// NaN that activations hide: see dnnl/nan_watch.h.
#include "dnnl/nan_watch.h"

#include <atomic>

#include "omp/omp.h"

namespace drystone::cpu::dnnl_part {
namespace {

// Whether an element has all bits of the exponent: it is an infinity or NaN.
template <class Bits>
bool has_exponent(const Bits* x, std::int64_t count, Bits exponent) {
  std::atomic<bool> found{false};
  parallel(count, 1, [&](std::int64_t begin, std::int64_t end) {
    unsigned any = 0;
    for (std::int64_t k = begin; k < end; ++k) any |= (x[k] & exponent) == exponent ? 1U : 0U;
    if (any != 0) found.store(true, std::memory_order_relaxed);
  });
  return found.load(std::memory_order_relaxed);
}

template <class Bits>
void mark(Bits* y, const Bits* x, std::int64_t count, Bits exponent, Bits nan) {
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  parallel(count, 2, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      if (static_cast<Bits>(x[k] & static_cast<Bits>(~kSign)) > exponent) y[k] = nan;
    }
  });
}

struct Narrow {
  std::uint16_t exponent;
  std::uint16_t nan;
};

Narrow narrow_bits(TF_DataType dtype) {
  return dtype == TF_BFLOAT16 ? Narrow{0x7f80, 0x7fc0} : Narrow{0x7c00, 0x7e00};
}

}  // namespace

NanWatch::NanWatch() { drystone_omp_watch(1); }
NanWatch::~NanWatch() { drystone_omp_watch(0); }

bool NanWatch::saw() const { return drystone_omp_saw_invalid() != 0; }

bool is_finite(const Tensor& x) {
  if (x.dtype() == TF_FLOAT) {
    return !has_exponent<std::uint32_t>(static_cast<const std::uint32_t*>(x.data()), x.count(),
                                        0x7f800000);
  }
  return !has_exponent(static_cast<const std::uint16_t*>(x.data()), x.count(),
                       narrow_bits(x.dtype()).exponent);
}

void mark_nan(const Tensor& y, const void* x) {
  if (y.dtype() == TF_FLOAT) {
    mark<std::uint32_t>(reinterpret_cast<std::uint32_t*>(y.write<float>()),
                        static_cast<const std::uint32_t*>(x), y.count(), 0x7f800000, 0x7fc00000);
    return;
  }
  const Narrow bits = narrow_bits(y.dtype());
  mark(y.write<std::uint16_t>(), static_cast<const std::uint16_t*>(x), y.count(), bits.exponent,
       bits.nan);
}

}  // namespace drystone::cpu::dnnl_part
