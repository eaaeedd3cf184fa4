#include "draws.h"

#include <cmath>

namespace drystone::gpu {
namespace {

// Blocks kept for each number of which it is not known before how often it is drawn.
constexpr std::uint64_t kReserved = 64;

// In [0, 1): the low bits become the mantissa.
DS_BOTH float unit(std::uint32_t word) {
  return float_of_bits((word & 0x7FFFFFu) | 127u << 23) - 1.0f;
}

// Two normal numbers of two words. Each function is rounded once, from double, so that a GPU and
// a processor draw the same.
DS_BOTH void box_muller(const std::uint32_t* words, float* out) {
  const float radius = unit(words[0]), least = radius > 1e-7f ? radius : 1e-7f;
  const float length = sqrtf(-2.0f * static_cast<float>(log(static_cast<double>(least))));
  const auto angle = static_cast<float>(6.283185307179586 * static_cast<double>(unit(words[1])));
  out[0] = static_cast<float>(sin(static_cast<double>(angle))) * length;
  out[1] = static_cast<float>(cos(static_cast<double>(angle))) * length;
}

// The numbers of one block by one thread: four of up to 32 bits, two of 64.
struct DrawBody {
  Draw draw;
  std::uint32_t count;
  void* to;

  DS_BOTH void operator()(std::uint32_t block) const {
    std::uint32_t words[4];
    if (draw.drawing == Drawing::truncated) return truncated(block);
    draw.stream.block(block, words);
    if (draw.drawing == Drawing::normal) {
      float found[4];
      box_muller(words, found);
      box_muller(words + 2, found + 2);
      for (std::uint32_t j = 0; j < 4; ++j) put(block * 4 + j, found[j]);
    } else if (draw.drawing == Drawing::uniform) {
      for (std::uint32_t j = 0; j < 4; ++j) put(block * 4 + j, uniform(words[j]));
    } else if (draw.type == Type::i64) {
      for (std::uint32_t j = 0; j < 2; ++j)
        put(block * 2 + j, whole(words[2 * j] | std::uint64_t{words[2 * j + 1]} << 32));
    } else {
      for (std::uint32_t j = 0; j < 4; ++j) put(block * 4 + j, whole(words[j]));
    }
  }

 private:
  template <class Lane>
  DS_BOTH void put(std::uint32_t at, Lane value) const {
    if (at < count) store(to, draw.type, at, value);
  }

  // Short types have as many random bits as their mantissa.
  DS_BOTH float uniform(std::uint32_t word) const {
    switch (draw.type) {
      case Type::f16: return from_f16(static_cast<std::uint16_t>((word & 0x3FFu) | 15u << 10)) - 1.0f;
      case Type::bf16:
        return from_bf16(static_cast<std::uint16_t>((word & 0x7Fu) | 127u << 7)) - 1.0f;
      default: return unit(word);
    }
  }

  DS_BOTH std::int64_t whole(std::uint64_t bits) const {
    if (draw.drawing == Drawing::between) bits = bits % draw.span + draw.least;
    return static_cast<std::int64_t>(bits);
  }

  // What is too large is drawn again, from blocks that these four numbers have of their own.
  DS_BOTH void truncated(std::uint32_t four) const {
    std::uint32_t at = four * 4;
    const std::uint32_t end = at + 4;
    for (std::uint64_t block = four * 4 * kReserved; at < end; ++block) {
      std::uint32_t words[4];
      float found[4];
      draw.stream.block(block, words);
      box_muller(words, found);
      box_muller(words + 2, found + 2);
      for (int j = 0; j < 4; ++j) {
        if (at < end && fabsf(found[j]) < 2.0f) put(at++, found[j]);
      }
    }
  }
};

}  // namespace

void run_draw(const Stream& stream, const Draw& draw, std::int64_t count, void* to) {
  const std::int64_t each_block = draw.type == Type::i64 ? 2 : 4;
  each(stream, (count + each_block - 1) / each_block,
       DrawBody{draw, static_cast<std::uint32_t>(count), to});
}

}  // namespace drystone::gpu
