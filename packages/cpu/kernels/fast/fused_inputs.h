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

// One of the tensors that are joined along the last dim: its elements, bytes of a row of them, and
// bytes from one row to the next.
struct Part {
  const char* data;
  std::int64_t row;
  std::int64_t step;
};

// An operand of a call: walked along with the output (`straight`), one element for all (`single`), or
// put into a buffer tile by tile: by broadcasting (`spread`), the same in all tiles as it is the
// last dim's (`repeated`), or from its parts (`joined`): several, or one that is a slice of rows.
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

// Parts of joined operands and of slices, and their dims.
class Joined {
 public:
  Joined() {}  // NOLINT(modernize-use-equals-default): the array is not initialised
  // The operand of inputs [first, first + count) of a call. Fails with INVALID_ARGUMENT for shapes
  // that cannot be joined.
  Input join(const Call& call, const Program& program, int first, int count, std::int64_t bytes);
  // The operand of a slice of an input. Fails with INVALID_ARGUMENT for one that is not there.
  Input slice(const Tensor& x, const Slice& slice, std::int64_t bytes);
  // The same as one tensor, for what is broadcast.
  void settle(Input& input);

 private:
  struct One {
    std::vector<Part> parts;
    Dims dims;
    std::vector<char> whole;
  };
  DimsView with_last(DimsView dims, std::int64_t last);

  std::vector<std::unique_ptr<One>> all_;
  static constexpr std::size_t kFewParts = 16;
  std::array<Part, kFewParts> parts_;  // of slices; NOLINT: filled as far as it is read
  std::size_t used_parts_ = 0;
  static constexpr std::size_t kFewDims = 64;
  std::array<std::int64_t, kFewDims> dims_;  // of slices; NOLINT: filled as far as it is read
  std::size_t used_ = 0;
  std::vector<Dims> more_dims_;
};

// An operand's buffer: elements [begin, begin + count) of what it is in the output's shape.
struct Buffered {
  std::size_t input;
  std::unique_ptr<Walk<2>> walk;  // of one that is spread
  void fill(const Input& in, char* to, std::int64_t begin, std::int64_t count) const;
};

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_FAST_FUSED_INPUTS_H_
