#include "sha256.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace drystone_tvm {
namespace {

constexpr std::size_t kBlock = 64;
constexpr int kRounds = 64;

// The first 32 bits of the fraction of a root; exact in the 64 bits of a long double's mantissa.
std::uint32_t fraction(long double root) {
  return static_cast<std::uint32_t>((root - std::floor(root)) * 4294967296.0L);
}

struct Constants {
  std::array<std::uint32_t, 8> start{};           // of the square roots of the first primes
  std::array<std::uint32_t, kRounds> rounds{};    // of their cube roots

  Constants() {
    std::size_t found = 0;
    for (unsigned n = 2; found < kRounds; ++n) {
      bool prime = true;
      for (unsigned d = 2; d * d <= n; ++d) prime = prime && n % d != 0;
      if (!prime) continue;
      if (found < start.size()) start[found] = fraction(std::sqrt(static_cast<long double>(n)));
      rounds[found++] = fraction(std::cbrt(static_cast<long double>(n)));
    }
  }
};

std::uint32_t big_endian(const unsigned char* at) {
  return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 | at[3];
}

void add(std::array<std::uint32_t, 8>& state, const unsigned char* block, const Constants& constants) {
  std::array<std::uint32_t, kRounds> w{};
  for (std::size_t i = 0; i < 16; ++i) w[i] = big_endian(block + 4 * i);
  for (std::size_t i = 16; i < w.size(); ++i) {
    const std::uint32_t a = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const std::uint32_t b = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + a + w[i - 7] + b;
  }
  std::array<std::uint32_t, 8> s = state;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const std::uint32_t e = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
    const std::uint32_t t = s[7] + e + ((s[4] & s[5]) ^ (~s[4] & s[6])) + constants.rounds[i] + w[i];
    const std::uint32_t a = std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
    const std::uint32_t u = a + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    s = {t + u, s[0], s[1], s[2], s[3] + t, s[4], s[5], s[6]};
  }
  for (std::size_t i = 0; i < s.size(); ++i) state[i] += s[i];
}

}  // namespace

std::string sha256(std::string_view bytes) {
  static const Constants constants;
  std::array<std::uint32_t, 8> state = constants.start;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t at = 0;
  for (; bytes.size() - at >= kBlock; at += kBlock) add(state, data + at, constants);
  unsigned char last[2 * kBlock] = {};
  const std::size_t rest = bytes.size() - at;
  if (rest != 0) std::memcpy(last, data + at, rest);
  last[rest] = 0x80;
  const std::size_t end = rest < kBlock - 8 ? kBlock : 2 * kBlock;
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (std::size_t i = 0; i < 8; ++i) last[end - 1 - i] = static_cast<unsigned char>(bits >> (8 * i));
  for (std::size_t k = 0; k < end; k += kBlock) add(state, last + k, constants);
  std::string out;
  for (const std::uint32_t word : state) {
    for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[word >> shift & 15];
  }
  return out;
}

}  // namespace drystone_tvm
