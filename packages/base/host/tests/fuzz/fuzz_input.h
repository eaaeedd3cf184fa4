// Reads numbers and texts from fuzzed bytes.
#ifndef DRYSTONE_HOST_TESTS_FUZZ_FUZZ_INPUT_H_
#define DRYSTONE_HOST_TESTS_FUZZ_FUZZ_INPUT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

// Past the end every number is 0 and every text is empty.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}

  std::size_t left() const { return left_; }
  const std::uint8_t* rest() const { return data_; }

  std::uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }

  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : byte() % bound; }

  // One byte says how many more make the number: small numbers are likely, all are possible.
  std::uint64_t number() {
    const std::size_t size = std::min<std::size_t>(std::size_t{1} << below(4), left_);
    std::uint64_t value = 0;
    if (size != 0) std::memcpy(&value, data_, size);
    data_ += size;
    left_ -= size;
    return value;
  }

  std::string text(std::size_t longest) {
    const std::size_t size = std::min(below(longest + 1), left_);
    std::string out;
    if (size != 0) out.assign(reinterpret_cast<const char*>(data_), size);
    data_ += size;
    left_ -= size;
    return out;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

#endif  // DRYSTONE_HOST_TESTS_FUZZ_FUZZ_INPUT_H_
