// Hash buckets of strings. The numbers are fixed for ever, as trained weights depend on them.
#include <bit>
#include <cstring>

#include "core/family.h"
#include "core/text.h"

namespace drystone::cpu {
namespace {

using Word = std::uint64_t;

// Odd numbers with their bits well spread, fixed by the algorithms.
constexpr Word kP = 0xC3A5C85C97CB3127U;
constexpr Word kQ = 0xB492B66FBE98F273U;
constexpr Word kR = 0x9AE16A3B2F90404FU;
constexpr Word kMurmur = 0xC6A4A7935BD1E995U;

// Bytes as a little-endian number.
Word load(const char* from, std::size_t bytes = 8) {
  Word out = 0;
  std::memcpy(&out, from, bytes);
  if constexpr (std::endian::native == std::endian::big) out = __builtin_bswap64(out);
  return out;
}

Word turn(Word x, int by) { return std::rotr(x, by); }
Word fold(Word x) { return x ^ (x >> 47); }
Word join(Word u, Word v, Word factor) {
  const Word first = fold((u ^ v) * factor);
  return fold((v ^ first) * factor) * factor;
}

struct Pair {
  Word first;
  Word second;
};

Pair ends(Word a, Word b, Word c, Word d, Word carry) {
  return {turn(a + b, 43) + turn(c, 30) + d, a + turn(b + carry, 18) + c};
}

Word up_to_16(const char* s, std::size_t size) {
  const Word factor = kR + 2 * size;
  if (size >= 8) {
    const Word head = load(s) + kR;
    const Word tail = load(s + size - 8);
    return join(turn(tail, 37) * factor + head, (turn(head, 25) + tail) * factor, factor);
  }
  if (size >= 4) return join(size + (load(s, 4) << 3), load(s + size - 4, 4), factor);
  if (size == 0) return kR;
  const Word y = load(s, 1) + (load(s + size / 2, 1) << 8);
  const Word z = size + (load(s + size - 1, 1) << 2);
  return fold((y * kR) ^ (z * kP)) * kR;
}

Word up_to_64(const char* s, std::size_t size) {
  const Word factor = kR + 2 * size;
  const Word c = load(s + size - 8) * factor;
  const Word d = load(s + size - 16) * kR;
  if (size <= 32) {
    const Pair found = ends(load(s) * kQ, load(s + 8), c, d, kR);
    return join(found.first, found.second, factor);
  }
  const Word first = load(s) * kR;
  const Pair found = ends(first, load(s + 8), c, d, kR);
  const Word z = join(found.first, found.second, factor);
  const Word e = (found.first + load(s + size - 32)) * factor;
  const Word f = (z + load(s + size - 24)) * factor;
  const Pair last = ends(load(s + 16) * factor, load(s + 24), e, f, first);
  return join(last.first, last.second, factor);
}

// What is carried from block to block of a long string.
struct State {
  Word x, y, z;
  Pair v, w;

  static Pair half(const char* s, Word a, Word b) {
    const Word first = a + load(s);
    const Word last = load(s + 24);
    const Word total = first + load(s + 8) + load(s + 16);
    return {total + last, turn(b + first + last, 21) + turn(total, 44) + first};
  }
  // Takes in 64 bytes.
  void absorb(const char* s, Word factor, Word weight) {
    const Word a = (turn(x + y + v.first + load(s + 8), 37) * factor) ^ (w.second * weight);
    const Word b = turn(y + v.second + load(s + 48), 42) * factor + v.first * weight + load(s + 40);
    const Word c = turn(z + w.first, 33) * factor;
    v = half(s, v.second * factor, a + w.first);
    w = half(s + 32, c + w.second, b + load(s + 16));
    x = c;
    y = b;
    z = a;
  }
};

// The farm fingerprint, 64 bits ("na" variant).
Word fingerprint(std::string_view text) {
  const char* s = text.data();
  const std::size_t size = text.size();
  if (size <= 16) return up_to_16(s, size);
  if (size <= 64) return up_to_64(s, size);
  const Word y = 81 * kQ + 113;
  State state = {81 * kR + load(s), y, fold(y * kR + 113) * kR, {0, 0}, {0, 0}};
  const std::size_t whole = (size - 1) / 64 * 64;
  for (std::size_t at = 0; at < whole; at += 64) state.absorb(s + at, kQ, 1);
  const Word factor = kQ + ((state.z & 0xFF) << 1);
  state.w.first += (size - 1) % 64;
  state.v.first += state.w.first;
  state.w.first += state.v.first;
  state.absorb(s + size - 64, factor, 9);
  return join(join(state.v.first, state.w.first, factor) + fold(state.y) * kP + state.z,
              join(state.v.second, state.w.second, factor) + state.x, factor);
}

// MurmurHash64A (A. Appleby, 2008).
Word murmur(std::string_view text) {
  Word out = 0xDECAFCAFFEU ^ (text.size() * kMurmur);
  const std::size_t whole = text.size() / 8 * 8;
  for (std::size_t at = 0; at < whole; at += 8) {
    const Word word = load(text.data() + at) * kMurmur;
    out = (out ^ (fold(word) * kMurmur)) * kMurmur;
  }
  if (whole < text.size()) out = (out ^ load(text.data() + whole, text.size() - whole)) * kMurmur;
  return fold(fold(out) * kMurmur);
}

// SipHash-2-4 (J.-P. Aumasson, D. J. Bernstein, 2012) under a key of two words.
class SipHash {
 public:
  SipHash(Word low, Word high)
      : v_{low ^ 0x736f6d6570736575U, high ^ 0x646f72616e646f6dU, low ^ 0x6c7967656e657261U,
           high ^ 0x7465646279746573U} {}
  // Of one text; a state hashes once.
  Word of(std::string_view text) {
    const std::size_t whole = text.size() / 8 * 8;
    for (std::size_t at = 0; at < whole; at += 8) absorb(load(text.data() + at));
    const std::size_t left = text.size() - whole;
    const Word tail = left == 0 ? 0 : load(text.data() + whole, left);
    absorb(tail | static_cast<Word>(text.size()) << 56);
    v_[2] ^= 0xFF;
    for (int k = 0; k < 4; ++k) round();
    return v_[0] ^ v_[1] ^ v_[2] ^ v_[3];
  }

 private:
  void absorb(Word word) {
    v_[3] ^= word;
    round();
    round();
    v_[0] ^= word;
  }
  void round() {
    v_[0] += v_[1];
    v_[2] += v_[3];
    v_[1] = std::rotl(v_[1], 13) ^ v_[0];
    v_[3] = std::rotl(v_[3], 16) ^ v_[2];
    v_[0] = std::rotl(v_[0], 32);
    v_[2] += v_[1];
    v_[0] += v_[3];
    v_[1] = std::rotl(v_[1], 17) ^ v_[2];
    v_[3] = std::rotl(v_[3], 21) ^ v_[0];
    v_[2] = std::rotl(v_[2], 32);
  }
  Word v_[4];
};

class StrongBucket {
 public:
  explicit StrongBucket(const Node& node)
      : count_(node.integer("num_buckets")), key_(node.integers("key")) {
    require(count_ > 0, "num_buckets must be positive");
    require(key_.size() == 2, "Key must have 2 elements");
  }
  void compute(Call& call) const {
    const Tensor strings = call.input(0);
    auto* out = call.output(0, strings.dims()).write<std::int64_t>();
    parallel(strings.count(), 40, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        SipHash hash(static_cast<Word>(key_[0]), static_cast<Word>(key_[1]));
        const Word found = hash.of(text_of(strings, k));
        out[k] = static_cast<std::int64_t>(found % static_cast<Word>(count_));
      }
    });
  }

 private:
  std::int64_t count_;
  std::vector<std::int64_t> key_;
};

template <Word (*Hash)(std::string_view)>
class Bucket {
 public:
  explicit Bucket(const Node& node) : count_(node.integer("num_buckets")) {
    require(count_ > 0, "num_buckets must be positive");
  }
  void compute(Call& call) const {
    const Tensor strings = call.input(0);
    auto* out = call.output(0, strings.dims()).write<std::int64_t>();
    parallel(strings.count(), 20, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        out[k] = static_cast<std::int64_t>(Hash(text_of(strings, k)) % static_cast<Word>(count_));
      }
    });
  }

 private:
  std::int64_t count_;
};

}  // namespace

const Family registered([] {
  add<Bucket<fingerprint>>("StringToHashBucketFast");
  add<Bucket<murmur>>("StringToHashBucket");
  add<StrongBucket>("StringToHashBucketStrong");
});

}  // namespace drystone::cpu
