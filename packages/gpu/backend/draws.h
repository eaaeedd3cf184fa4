// Random numbers out of a Philox stream, in the order of TensorFlow.
#pragma once

#include <cstdint>

#include "launch.h"

namespace drystone::gpu {

// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): blocks of
// four numbers, by a key of 64 bits and a counter of 128, which are laid out as TensorFlow does it.
struct Philox {
  std::uint64_t key, low, high;

  // The block with that number.
  DS_BOTH void block(std::uint64_t number, std::uint32_t (&c)[4]) const {
    const std::uint64_t first = low + number, second = high + (first < low ? 1 : 0);
    c[0] = static_cast<std::uint32_t>(first);
    c[1] = static_cast<std::uint32_t>(first >> 32);
    c[2] = static_cast<std::uint32_t>(second);
    c[3] = static_cast<std::uint32_t>(second >> 32);
    auto key0 = static_cast<std::uint32_t>(key), key1 = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9u, key1 += 0xBB67AE85u) {
      const std::uint64_t one = std::uint64_t{c[0]} * 0xD2511F53u;
      const std::uint64_t two = std::uint64_t{c[2]} * 0xCD9E8D57u;
      c[0] = static_cast<std::uint32_t>(two >> 32) ^ c[1] ^ key0;
      c[1] = static_cast<std::uint32_t>(two);
      c[2] = static_cast<std::uint32_t>(one >> 32) ^ c[3] ^ key1;
      c[3] = static_cast<std::uint32_t>(one);
    }
  }

  // The stream of two seeds: scrambled, they become key and counter.
  static Philox of_seeds(std::uint64_t seed, std::uint64_t seed2) {
    std::uint32_t mixed[4];
    Philox{0x02461E293EC8F720u, seed, seed2}.block(0, mixed);
    return {mixed[0] | std::uint64_t{mixed[1]} << 32, 0, mixed[2] | std::uint64_t{mixed[3]} << 32};
  }
};

// In [0, 1); of mean 0 and deviation 1; those of them within two deviations; any whole number; and
// whole numbers from `least` on, `span` of them.
enum class Drawing : std::uint8_t { uniform, normal, truncated, whole, between };

struct Draw {
  Drawing drawing;
  Type type;
  Philox stream;
  std::uint64_t least, span;
};

void run_draw(const Stream& stream, const Draw& draw, std::int64_t count, void* to);

}  // namespace drystone::gpu
