// Division of numbers below 2^31 by a number that is known before: a product and a shift.
#pragma once

#include <cstdint>

#include "number.h"

namespace drystone::gpu {

class Divider {
 public:
  Divider() = default;
  explicit Divider(std::uint32_t by) : by_(by == 0 ? 1 : by) {
    while (shift_ < 31 && (1u << shift_) < by_) ++shift_;
    const std::uint64_t one = 1;
    factor_ = static_cast<std::uint32_t>(((one << 32) * ((one << shift_) - by_)) / by_ + 1);
  }

  DS_BOTH std::uint32_t by() const { return by_; }
  DS_BOTH std::uint32_t quotient(std::uint32_t value) const {
#if defined(__CUDA_ARCH__)
    const std::uint32_t high = __umulhi(value, factor_);
#else
    const auto high = static_cast<std::uint32_t>(std::uint64_t{value} * factor_ >> 32);
#endif
    return (high + value) >> shift_;
  }
  // The quotient; `value` becomes the rest.
  DS_BOTH std::uint32_t split(std::uint32_t* value) const {
    const std::uint32_t found = quotient(*value);
    *value -= found * by_;
    return found;
  }
  DS_BOTH std::uint32_t rest(std::uint32_t value) const { return value - quotient(value) * by_; }

 private:
  std::uint32_t by_ = 1, factor_ = 1, shift_ = 0;
};

}  // namespace drystone::gpu
