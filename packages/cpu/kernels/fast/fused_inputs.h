// Operands of a call of fused element-wise ops, and how tiles of them are made.
#ifndef DRYSTONE_CPU_FAST_FUSED_INPUTS_H_
#define DRYSTONE_CPU_FAST_FUSED_INPUTS_H_

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "core/broadcast.h"
#include "fast/fused_program.h"

namespace drystone::cpu {

// One of the tensors that are joined along the last dim: its elements, and bytes of a row of them.
struct Part {
  const char* data;
  std::int64_t row;
};

// An operand of a call: walked along with the output (`straight`), one element for all (`single`), or
// put into a buffer tile by tile: by broadcasting (`spread`), the same in all tiles as it is the
// last dim's (`repeated`), or from its parts (`joined`).
struct Input {
  enum class Kind : std::uint8_t { straight, single, spread, repeated, joined };
  const char* data;
  DimsView dims;
  std::int64_t count;
  std::int64_t bytes;
  Kind kind;
  std::span<const Part> parts;

  bool is_buffered() const { return kind != Kind::straight && kind != Kind::single; }
  bool is_by_rows() const { return kind == Kind::repeated || kind == Kind::joined; }
};

// The operands of one call. An array of the most there may be would set up each of them, every time.
class Inputs {
 public:
  explicit Inputs(std::size_t count) : count_(count) {
    std::uninitialized_default_construct_n(first(), count);
  }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;

  Input& operator[](std::size_t k) { return first()[k]; }
  const Input& operator[](std::size_t k) const { return begin()[k]; }
  const Input* begin() const { return reinterpret_cast<const Input*>(room_.data()); }
  const Input* end() const { return begin() + count_; }

 private:
  static_assert(std::is_trivially_destructible_v<Input>);
  Input* first() { return reinterpret_cast<Input*>(room_.data()); }

  alignas(Input) std::array<std::byte, sizeof(Input) * Program::kMostInputs> room_;
  std::size_t count_;
};

// Parts of joined operands, and their dims.
class Joined {
 public:
  // The operand of inputs [first, first + count) of a call. Fails with INVALID_ARGUMENT for shapes
  // that cannot be joined.
  Input join(const Call& call, int first, int count, std::int64_t bytes);
  // The same as one tensor, for what is broadcast.
  void settle(Input& input);

 private:
  struct One {
    std::vector<Part> parts;
    Dims dims;
    std::vector<char> whole;
  };
  std::vector<std::unique_ptr<One>> all_;
};

// An operand's buffer: elements [begin, begin + count) of what it is in the output's shape.
struct Buffered {
  std::size_t input;
  std::unique_ptr<Walk<2>> walk;  // of one that is spread
  void fill(const Input& in, char* to, std::int64_t begin, std::int64_t count) const;
};

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_FAST_FUSED_INPUTS_H_
