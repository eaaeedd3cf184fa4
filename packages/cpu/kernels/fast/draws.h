// Random numbers of several distributions out of a stream, in the order of TensorFlow.
#ifndef DRYSTONE_CPU_FAST_DRAWS_H_
#define DRYSTONE_CPU_FAST_DRAWS_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "core/kernel.h"
#include "core/widen.h"
#include "fast/philox.h"

namespace drystone::cpu {

inline constexpr std::int64_t kSome = 64;      // blocks that are made at once
// Blocks kept for each number of which it is not known before how often it is drawn.
inline constexpr std::int64_t kReserved = 64;


inline Dims dims_of(const Tensor& shape) {
  require(shape.rank() == 1, "shape must be a vector");
  Dims out(static_cast<std::size_t>(shape.count()));
  std::int64_t held = 1;
  bool fits = true;
  for (std::size_t k = 0; k < out.size(); ++k) {
    out[k] = shape.dtype() == TF_INT32 ? shape.as<std::int32_t>()[k] : shape.as<std::int64_t>()[k];
    require(out[k] >= 0, "dimensions must not be negative");
    if (out[k] > 0) fits = fits && !__builtin_mul_overflow(held, out[k], &held);
  }
  require(fits, "a shape of 2^63 elements and more");
  return out;
}

// convert(words, out) for each `kOut` outputs of `kWords` words: by several threads, the last
// outputs through room of their own.
template <int kWords, int kOut, class T, class Convert>
void fill(const Philox& stream, T* out, std::int64_t count, std::int64_t cost, Convert&& convert) {
  constexpr auto kPerBlock = std::int64_t{4 / kWords} * kOut;
  const std::int64_t blocks = (count + kPerBlock - 1) / kPerBlock;
  parallel(blocks, cost, [&](std::int64_t begin, std::int64_t end) {
    std::uint32_t words[4 * kSome];
    T room[kPerBlock * kSome];
    for (std::int64_t k = begin; k < end; k += kSome) {
      const std::int64_t some = std::min(kSome, end - k);
      stream.blocks(k, some, words);
      const std::int64_t left = std::min(count - k * kPerBlock, some * kPerBlock);
      for (std::int64_t i = 0; i < some * 4 / kWords; ++i) {
        convert(words + i * kWords, room + i * kOut);
      }
      std::copy_n(room, left, out + k * kPerBlock);
    }
  });
}

// In [0, 1): the low bits become the mantissa.
inline float unit(std::uint32_t word) { return std::bit_cast<float>((word & 0x7FFFFFU) | 127U << 23) - 1; }
inline double unit(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t mantissa = std::uint64_t{high & 0xFFFFFU} << 32 | low;
  return std::bit_cast<double>(mantissa | std::uint64_t{1023} << 52) - 1;
}

// Two normal numbers of two or four words. Each function is rounded once, from double.
inline void box_muller(const std::uint32_t* words, float* out) {
  const double radius = std::fmax(unit(words[0]), 1e-7F);
  const float length = std::sqrt(-2 * static_cast<float>(std::log(radius)));
  const auto angle = static_cast<float>(2 * std::numbers::pi * static_cast<double>(unit(words[1])));
  out[0] = static_cast<float>(std::sin(static_cast<double>(angle))) * length;
  out[1] = static_cast<float>(std::cos(static_cast<double>(angle))) * length;
}
inline void box_muller(const std::uint32_t* words, double* out) {
  const double length = std::sqrt(-2 * std::log(std::fmax(unit(words[0], words[1]), 1e-7)));
  const double angle = 2 * std::numbers::pi * unit(words[2], words[3]);
  out[0] = std::sin(angle) * length;
  out[1] = std::cos(angle) * length;
}

template <class T>
struct Uniform {
  static void draw(const Philox& stream, T* out, std::int64_t count) {
    if constexpr (std::is_same_v<T, double>) {
      fill<2, 1>(stream, out, count, 6, [](const std::uint32_t* w, T* to) {
        *to = unit(w[0], w[1]);
      });
    } else if constexpr (std::is_same_v<T, float>) {
      fill<1, 1>(stream, out, count, 6, [](const std::uint32_t* w, T* to) { *to = unit(*w); });
    } else {
      constexpr bool kHalf = std::is_same_v<T, Half>;
      constexpr std::uint32_t kMask = kHalf ? 0x3FFU : 0x7FU;
      constexpr std::uint32_t kOne = kHalf ? 15U << 10 : 127U << 7;
      fill<1, 1>(stream, out, count, 8, [](const std::uint32_t* w, T* to) {
        *to = narrow<T>(widen(T{static_cast<std::uint16_t>((*w & kMask) | kOne)}) - 1);
      });
    }
  }
};

template <class T>
struct Normal {
  static void draw(const Philox& stream, T* out, std::int64_t count) {
    constexpr int kWords = std::is_same_v<T, double> ? 4 : 2;
    fill<kWords, 2>(stream, out, count, 120, [](const std::uint32_t* w, T* to) {
      Wide<T> pair[2];
      box_muller(w, pair);
      to[0] = narrow<T>(pair[0]);
      to[1] = narrow<T>(pair[1]);
    });
  }
};

// Normal numbers; those beyond two standard deviations are drawn again, from blocks that each group
// of numbers has of its own.
template <class T>
struct Truncated {
  static void draw(const Philox& stream, T* out, std::int64_t count) {
    constexpr int kWords = std::is_same_v<T, double> ? 4 : 2;
    constexpr std::int64_t kGroup = 8 / kWords;
    parallel((count + kGroup - 1) / kGroup, 200, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        const std::int64_t last = std::min(count, (k + 1) * kGroup);
        std::int64_t at = k * kGroup;
        for (std::int64_t block = k * kGroup * kReserved; at < last; ++block) {
          std::uint32_t words[4];
          stream.blocks(block, 1, words);
          Wide<T> found[kGroup];
          for (std::ptrdiff_t i = 0; i < 4 / kWords; ++i)
            box_muller(words + i * kWords, found + 2 * i);
          for (int i = 0; i < kGroup && at < last; ++i) {
            if (std::fabs(found[i]) < 2) out[at++] = narrow<T>(found[i]);
          }
        }
      }
    });
  }
};

template <class T>
struct Full {
  static void draw(const Philox& stream, T* out, std::int64_t count) {
    if constexpr (sizeof(T) == 4) {
      fill<1, 1>(stream, out, count, 6, [](const std::uint32_t* w, T* to) { *to = *w; });
    } else {
      fill<2, 1>(stream, out, count, 6, [](const std::uint32_t* w, T* to) {
        *to = w[0] | T{w[1]} << 32;
      });
    }
  }
};

// In [low, high): the remainder of wider random integers. Bounds were checked.
template <class T>
void draw_between(const Philox& stream, const Tensor& out, const Tensor& low, const Tensor& high) {
  const T first = *low.as<T>();
  const T span = *high.as<T>() - first;
  T* to = out.write<T>();
  Full<T>::draw(stream, to, out.count());
  for (std::int64_t k = 0; k < out.count(); ++k) to[k] = to[k] % span + first;
}

// Fails unless both are scalars and low < high.
template <class T>
void check_bounds(const Tensor& low, const Tensor& high) {
  using Signed = std::make_signed_t<T>;
  require(low.rank() == 0 && high.rank() == 0, "minval and maxval must be scalars");
  require(*low.as<Signed>() < *high.as<Signed>(), "Need minval < maxval");
}

void add_random_state();  // by add_random()

// Registers Kernel<T, Draw> of an op for each floating type.
template <template <class, template <class> class> class Kernel, template <class> class Draw>
void add_floats(const char* op) {
  add<Kernel<float, Draw>>(op, {{"dtype", {TF_FLOAT}}});
  add<Kernel<double, Draw>>(op, {{"dtype", {TF_DOUBLE}}});
  add<Kernel<Half, Draw>>(op, {{"dtype", {TF_HALF}}});
  add<Kernel<BFloat16, Draw>>(op, {{"dtype", {TF_BFLOAT16}}});
}

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_FAST_DRAWS_H_
