// SHA-256 by a processor's own instructions: see library/sha256.h.
#include "library/sha256.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace drystone::host {
namespace {

#if defined(__x86_64__)

constexpr std::uint32_t kRounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

#define DRYSTONE_SHA __attribute__((target("sha,sse4.1"), always_inline)) inline

// The two halves of the working variables, as the instructions want them, and 16 words of schedule.
struct Work {
  __m128i abef, cdgh;
  __m128i words[4];
};

// Four rounds with the words of part `kPart`, which then become the ones 16 rounds later.
template <std::size_t kPart>
DRYSTONE_SHA void four_rounds(Work& work, const std::uint32_t* constants) {
  __m128i& own = work.words[kPart];
  const __m128i next = work.words[(kPart + 1) % 4];
  const __m128i third = work.words[(kPart + 2) % 4];
  const __m128i last = work.words[(kPart + 3) % 4];
  const __m128i* at = reinterpret_cast<const __m128i*>(constants + 4 * kPart);
  const __m128i sum = _mm_add_epi32(own, _mm_loadu_si128(at));
  work.cdgh = _mm_sha256rnds2_epu32(work.cdgh, work.abef, sum);
  work.abef = _mm_sha256rnds2_epu32(work.abef, work.cdgh, _mm_shuffle_epi32(sum, 0x0e));
  const __m128i seven_back = _mm_alignr_epi8(last, third, 4);
  own = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(own, next), seven_back), last);
}

__attribute__((target("sha,sse4.1"))) void compress(std::uint32_t* state, const char* bytes,
                                                    std::size_t blocks) noexcept {
  const auto word = [&](int k) { return static_cast<int>(state[k]); };
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  Work work;
  work.abef = _mm_set_epi32(word(0), word(1), word(4), word(5));
  work.cdgh = _mm_set_epi32(word(2), word(3), word(6), word(7));
  for (; blocks > 0; --blocks, bytes += 64) {
    const __m128i abef = work.abef;
    const __m128i cdgh = work.cdgh;
    for (std::size_t k = 0; k < 4; ++k) {
      const __m128i* at = reinterpret_cast<const __m128i*>(bytes + 16 * k);
      work.words[k] = _mm_shuffle_epi8(_mm_loadu_si128(at), big_endian);
    }
    for (int round = 0; round < 64; round += 16) {
      four_rounds<0>(work, kRounds + round);
      four_rounds<1>(work, kRounds + round);
      four_rounds<2>(work, kRounds + round);
      four_rounds<3>(work, kRounds + round);
    }
    work.abef = _mm_add_epi32(work.abef, abef);
    work.cdgh = _mm_add_epi32(work.cdgh, cdgh);
  }
  alignas(16) std::uint32_t out[8];
  _mm_store_si128(reinterpret_cast<__m128i*>(out), work.abef);
  _mm_store_si128(reinterpret_cast<__m128i*>(out + 4), work.cdgh);
  constexpr int kPlaces[8] = {3, 2, 7, 6, 1, 0, 5, 4};  // of a to h
  for (int k = 0; k < 8; ++k) state[k] = out[kPlaces[k]];
}

bool has_instructions() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool told = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0;
  return told && (b >> 29 & 1) != 0 && __builtin_cpu_supports("sse4.1") != 0;
}

#else

void compress(std::uint32_t*, const char*, std::size_t) noexcept {}
bool has_instructions() noexcept { return false; }

#endif

}  // namespace

bool Sha256::available() noexcept {
  static const bool has = has_instructions();
  return has;
}

void Sha256::take(std::string_view bytes) noexcept {
  const std::size_t held = taken_ % kBlock;
  taken_ += bytes.size();
  if (held != 0) {
    const std::size_t more = std::min(kBlock - held, bytes.size());
    std::memcpy(rest_.data() + held, bytes.data(), more);
    bytes.remove_prefix(more);
    if (held + more < kBlock) return;
    compress(state_.data(), rest_.data(), 1);
  }
  compress(state_.data(), bytes.data(), bytes.size() / kBlock);
  bytes.remove_prefix(bytes.size() / kBlock * kBlock);
  std::copy(bytes.begin(), bytes.end(), rest_.begin());
}

std::string Sha256::digest() {
  const std::uint64_t bits = taken_ * 8;
  // A one bit, zeros up to the last eight bytes of a block, and the number of bits, most first.
  const std::size_t zeros = (2 * kBlock - 9 - taken_ % kBlock) % kBlock;
  std::string end(1 + zeros + 8, '\0');
  end[0] = '\x80';
  for (int k = 0; k < 8; ++k) end[1 + zeros + k] = static_cast<char>(bits >> (56 - 8 * k));
  take(end);
  std::string out;
  for (const std::uint32_t word : state_) {
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(word >> shift);
  }
  return out;
}

}  // namespace drystone::host
