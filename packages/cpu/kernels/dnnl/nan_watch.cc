// NaN that activations hide: see dnnl/nan_watch.h.
#include "dnnl/nan_watch.h"

#include <algorithm>
#include <atomic>

#include <dnnl.hpp>

#include "dnnl/newer.h"
#include "omp/omp.h"

namespace drystone::cpu::dnnl_part {
namespace {

// A number whose first bit is set where an element has all bits of the exponent: it is an infinity or NaN.
// `last`: the last bit of the exponent, which carries through all others then.
template <class Bits>
[[gnu::always_inline]] inline Bits carried(const Bits* x, std::int64_t count, Bits exponent, Bits last) {
  Bits any = 0;
  for (std::int64_t k = 0; k < count; ++k) any |= static_cast<Bits>((x[k] & exponent) + last);
  return any;
}

std::uint32_t carry(const std::uint32_t* x, std::int64_t count, std::uint32_t exponent, std::uint32_t last) {
  return carried(x, count, exponent, last);
}
std::uint16_t carry(const std::uint16_t* x, std::int64_t count, std::uint16_t exponent, std::uint16_t last) {
  return carried(x, count, exponent, last);
}

#ifdef __x86_64__
// Of registers of 64 bytes, as caches give them: what is added to is read for this once more.
#define DRYSTONE_WHOLE_LINES DRYSTONE_NEWER("avx512f,avx512bw,prefer-vector-width=512")

DRYSTONE_WHOLE_LINES std::uint32_t carry_lines(const std::uint32_t* x, std::int64_t count, std::uint32_t exponent,
                                               std::uint32_t last) {
  return carried(x, count, exponent, last);
}
DRYSTONE_WHOLE_LINES std::uint16_t carry_lines(const std::uint16_t* x, std::int64_t count, std::uint16_t exponent,
                                               std::uint16_t last) {
  return carried(x, count, exponent, last);
}

bool has_lines() {
  static const auto has = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto needed = static_cast<unsigned>(dnnl::cpu_isa::avx512_core);
  return (has & needed) == needed;
}
#else
template <class Bits>
Bits carry_lines(const Bits* x, std::int64_t count, Bits exponent, Bits last) {
  return carry(x, count, exponent, last);
}
bool has_lines() { return false; }
#endif

template <class Bits>
bool has_exponent(const Bits* x, std::int64_t count, Bits exponent) {
  constexpr auto kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  constexpr std::int64_t kBlock = 4096;
  constexpr std::int64_t kCost = kBlock / 16;
  const auto last = static_cast<Bits>(kSign - exponent);
  std::atomic<bool> found{false};
  parallel((count + kBlock - 1) / kBlock, kCost, [&](std::int64_t first, std::int64_t behind) {
    const std::int64_t begin = first * kBlock;
    const std::int64_t size = std::min(behind * kBlock, count) - begin;
    const Bits any = has_lines() ? carry_lines(x + begin, size, exponent, last) : carry(x + begin, size, exponent, last);
    if ((any & kSign) != 0) found.store(true, std::memory_order_relaxed);
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
