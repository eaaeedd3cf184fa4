// Boxes in the order of their scores, and those that were chosen, to compare many with one at once.
#ifndef DRYSTONE_CPU_FAST_CHOSEN_BOXES_H_
#define DRYSTONE_CPU_FAST_CHOSEN_BOXES_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "fast/lanes.h"

namespace drystone::cpu {

// Of NaN and a number the first one, as comparisons in TensorFlow have it.
inline float lesser(float a, float b) { return b < a ? b : a; }
inline float greater(float a, float b) { return a < b ? b : a; }

// A box [y1, x1, y2, x2], corners in any order.
struct Box {
  explicit Box(const float* from) {
    for (int k = 0; k < 2; ++k) {
      low[k] = lesser(from[k], from[k + 2]);
      high[k] = greater(from[k], from[k + 2]);
    }
    area = (high[0] - low[0]) * (high[1] - low[1]);
  }
  float low[2];
  float high[2];
  float area;
};

// Boxes that have an area, a register of them at a time.
class ChosenBoxes {
 public:
  void add(const Box& box) {
    const auto lane = static_cast<int>(count_++ % kLanes);
    if (lane == 0) blocks_.emplace_back();
    Block& block = blocks_.back();
    for (int k = 0; k < 2; ++k) {
      block.low[k][lane] = box.low[k];
      block.high[k][lane] = box.high[k];
    }
    block.area[lane] = box.area;
  }
  // Whether intersection over union with one of them is above `limit`, which is not negative.
  bool overlap(const Box& box, float limit) const {
    for (std::size_t from = 0; from < blocks_.size(); from += kAtOnce) {
      Ints found = {};
      const std::size_t to = std::min(blocks_.size(), from + kAtOnce);
      for (std::size_t k = from; k < to; ++k) found |= blocks_[k].above(box, limit);
      std::int32_t any = 0;
      for (int k = 0; k < kLanes; ++k) any |= found[k];
      if (any != 0) return true;
    }
    return false;
  }

 private:
  static constexpr int kLanes = kRegister / 4;
  static constexpr std::size_t kAtOnce = 8;  // blocks between looks at what was found
  using Floats = Lanes<float, kLanes>;
  using Ints = Lanes<std::int32_t, kLanes>;

  struct Block {
    // Nothing in any lane: such a box shares nothing with any.
    Block() {
      constexpr float kFar = std::numeric_limits<float>::infinity();
      for (int k = 0; k < 2; ++k) {
        low[k] = Floats{} + kFar;
        high[k] = Floats{} - kFar;
      }
      area = Floats{};
    }
    Ints above(const Box& box, float limit) const {
      Floats side[2];
      for (int k = 0; k < 2; ++k) {
        const Floats end = high[k] < box.high[k] ? high[k] : Floats{} + box.high[k];
        const Floats start = low[k] > box.low[k] ? low[k] : Floats{} + box.low[k];
        side[k] = end - start;
        side[k] = side[k] > 0 ? side[k] : Floats{};
      }
      const Floats shared = side[0] * side[1];
      return shared / (area + box.area - shared) > limit;
    }
    Floats low[2];
    Floats high[2];
    Floats area;
  };

  std::vector<Block> blocks_;
  std::int64_t count_ = 0;
};

// The numbers of scores above `least`, the highest first, of equals the first one. Scores are `step`
// floats apart.
class Ranking {
 public:
  Ranking(const float* scores, std::int64_t count, std::int64_t step, double least) {
    keys_.reserve(static_cast<std::size_t>(count));
    for (std::int64_t k = 0; k < count; ++k) {
      const float score = scores[k * step];
      if (score > least) keys_.push_back(key(score) << 32 | static_cast<std::uint32_t>(k));
    }
    if (keys_.size() < kFew) std::sort(keys_.begin(), keys_.end());
    else sort_by_digits();
  }
  std::size_t size() const { return keys_.size(); }
  std::int32_t operator[](std::size_t k) const { return static_cast<std::int32_t>(keys_[k]); }

 private:
  static constexpr std::size_t kFew = 64;
  static constexpr int kDigits = 4;

  // The higher a score, the lower; equal for both zeros.
  static std::uint64_t key(float score) {
    const auto bits = std::bit_cast<std::uint32_t>(score + 0.0f);
    return bits >> 31 != 0 ? bits : ~(bits | 1u << 31);
  }
  // From the last byte of a score to the first; each pass keeps the order of equals.
  void sort_by_digits() {
    std::uint32_t starts[kDigits][256] = {};
    for (const std::uint64_t key : keys_) {
      for (int d = 0; d < kDigits; ++d) ++starts[d][key >> (32 + 8 * d) & 255];
    }
    std::vector<std::uint64_t> other(keys_.size());
    for (int d = 0; d < kDigits; ++d) {
      std::uint32_t sum = 0;
      for (std::uint32_t& start : starts[d]) sum += std::exchange(start, sum);
      for (const std::uint64_t key : keys_) other[starts[d][key >> (32 + 8 * d) & 255]++] = key;
      keys_.swap(other);
    }
  }

  std::vector<std::uint64_t> keys_;
};

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_FAST_CHOSEN_BOXES_H_
