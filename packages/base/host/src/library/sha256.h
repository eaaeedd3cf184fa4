// SHA-256 by a processor's own instructions. Source: FIPS 180-4, section 6.2.
#ifndef DRYSTONE_HOST_LIBRARY_SHA256_H_
#define DRYSTONE_HOST_LIBRARY_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace drystone::host {

// The digest of bytes that come piece by piece.
class Sha256 {
 public:
  // Whether this processor has the instructions; nothing else here may be called where it has not.
  static bool available() noexcept;

  void take(std::string_view bytes) noexcept;
  // The 32 bytes; nothing more is taken after them.
  std::string digest();

 private:
  static constexpr std::size_t kBlock = 64;

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<char, kBlock> rest_;  // the first `taken_ % kBlock` bytes of a block
  std::uint64_t taken_ = 0;
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_SHA256_H_
