// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011), with keys
// and counters laid out as in TensorFlow.
#ifndef DRYSTONE_CPU_FAST_PHILOX_H_
#define DRYSTONE_CPU_FAST_PHILOX_H_

#include <algorithm>
#include <cstdint>

namespace drystone::cpu {

// Blocks of four uint32: a 64-bit key, and the 128-bit counter of the first block.
class Philox {
 public:
  Philox(std::uint64_t key, std::uint64_t low, std::uint64_t high)
      : key_(key), low_(low), high_(high) {}

  // The stream of two seeds: scrambled, they become key and counter.
  static Philox of_seeds(std::uint64_t seed, std::uint64_t seed2) {
    std::uint32_t mixed[4];
    Philox(0x02461E293EC8F720U, seed, seed2).blocks(0, 1, mixed);
    return {mixed[0] | std::uint64_t{mixed[1]} << 32, 0, mixed[2] | std::uint64_t{mixed[3]} << 32};
  }

  std::uint64_t key() const { return key_; }
  std::uint64_t low() const { return low_; }
  std::uint64_t high() const { return high_; }

  // out[4 * k ...] = the (first + k)-th block.
  void blocks(std::int64_t first, std::int64_t count, std::uint32_t* out) const {
    for (std::int64_t k = 0; k < count; k += kLanes) {
      std::uint32_t room[4][kLanes];
      lanes(static_cast<std::uint64_t>(first + k), room);
      const std::int64_t some = std::min(kLanes, count - k);
      for (std::int64_t i = 0; i < some; ++i) {
        for (int w = 0; w < 4; ++w) out[4 * (k + i) + w] = room[w][i];
      }
    }
  }

 private:
  static constexpr std::int64_t kLanes = 16;

  void lanes(std::uint64_t first, std::uint32_t (&c)[4][kLanes]) const {
    for (std::int64_t i = 0; i < kLanes; ++i) {
      const std::uint64_t low = low_ + first + static_cast<std::uint64_t>(i);
      const std::uint64_t high = high_ + (low < low_ ? 1 : 0);
      c[0][i] = static_cast<std::uint32_t>(low);
      c[1][i] = static_cast<std::uint32_t>(low >> 32);
      c[2][i] = static_cast<std::uint32_t>(high);
      c[3][i] = static_cast<std::uint32_t>(high >> 32);
    }
    auto key0 = static_cast<std::uint32_t>(key_);
    auto key1 = static_cast<std::uint32_t>(key_ >> 32);
    for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9U, key1 += 0xBB67AE85U) {
      for (std::int64_t i = 0; i < kLanes; ++i) {
        const std::uint64_t one = std::uint64_t{c[0][i]} * 0xD2511F53U;
        const std::uint64_t two = std::uint64_t{c[2][i]} * 0xCD9E8D57U;
        c[0][i] = static_cast<std::uint32_t>(two >> 32) ^ c[1][i] ^ key0;
        c[1][i] = static_cast<std::uint32_t>(two);
        c[2][i] = static_cast<std::uint32_t>(one >> 32) ^ c[3][i] ^ key1;
        c[3][i] = static_cast<std::uint32_t>(one);
      }
    }
  }

  std::uint64_t key_;
  std::uint64_t low_;
  std::uint64_t high_;
};

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_FAST_PHILOX_H_
