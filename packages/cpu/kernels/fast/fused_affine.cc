// Programs of batch normalizations: see fast/fused_affine.h.
#include "fast/fused_affine.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "fast/lanes.h"

namespace drystone::cpu {
namespace {

// How many rows are written part by part.
std::int64_t rows_of_block(std::int64_t width) {
  constexpr std::int64_t kElements = 4096;
  return std::max<std::int64_t>(1, kElements / width);
}

// The product, rounded as an op alone would round it, plus the term.
template <class T, class Values>
DRYSTONE_INLINE Values scaled(const Values& x, const Values& scale, const Values& shift) {
  constexpr int kCount = sizeof(Values) / sizeof(Wide<T>);
  Values out = x * scale;
  if constexpr (kIsNarrow<T>) {
    const Lanes<std::uint32_t, kCount> bits = short_bits<kCount>(out) & 0xffff0000u;
    std::memcpy(&out, &bits, sizeof(out));
  }
  return out + shift;
}

// What is written of a sum of such numbers.
template <class T, int kCount>
DRYSTONE_INLINE void put(T* to, const Lanes<Wide<T>, kCount>& from) {
  if constexpr (kIsNarrow<T>) {
    const Lanes<std::uint16_t, kCount> out = low_halves<kCount>(short_bits<kCount>(from) >> 16);
    std::memcpy(to, &out, sizeof(out));
  } else {
    std::memcpy(to, &from, sizeof(from));
  }
}

// Some rows of a part: a register of channels at a time, whose factors stay where they are.
template <class T, bool kRelu>
void run_block(T* out, std::int64_t width, const T* x, std::int64_t apart, std::int64_t count,
               const Wide<T>* scale, const Wide<T>* shift, std::int64_t rows) {
  in_lanes<T>(count, [&](std::int64_t c, auto lanes) {
    using Values = Lanes<Wide<T>, lanes>;
    Values factor, term, value;
    load<Wide<T>, lanes>(factor, scale + c);
    load<Wide<T>, lanes>(term, shift + c);
    for (std::int64_t k = 0; k < rows; ++k) {
      load<T, lanes>(value, x + k * apart + c);
      Values y = scaled<T>(value, factor, term);
      if constexpr (kRelu) y = y < 0 ? Values{} : y;  // NaN stays
      put<T, lanes>(out + k * width + c, y);
    }
  });
}

// The elements in the type to calculate in; `room` is for those that are of another.
template <class T>
const Wide<T>* widened(const char* from, std::int64_t count, std::vector<Wide<T>>& room) {
  const auto* x = reinterpret_cast<const T*>(from);
  if constexpr (!kIsNarrow<T>) return x;
  else {
    room.resize(static_cast<std::size_t>(count));
    std::transform(x, x + count, room.begin(), [](T one) { return widen(one); });
    return room.data();
  }
}

// Rows [first, last), block by block.
template <class T, bool kRelu>
void run_rows(std::span<const Part> parts, const char* factors, const char* terms, char* to,
              std::int64_t width, std::int64_t first, std::int64_t last) {
  std::vector<Wide<T>> wide_factors, wide_terms;
  const Wide<T>* const scales = widened<T>(factors, width, wide_factors);
  const Wide<T>* const shifts = widened<T>(terms, width, wide_terms);
  const std::int64_t step = rows_of_block(width);
  for (std::int64_t block = first; block < last; block += step) {
    std::int64_t at = 0;
    for (const Part& part : parts) {
      const std::int64_t count = part.row / static_cast<std::int64_t>(sizeof(T));
      const std::int64_t apart = part.step / static_cast<std::int64_t>(sizeof(T));
      const auto* x = reinterpret_cast<const T*>(part.data);
      run_block<T, kRelu>(reinterpret_cast<T*>(to) + block * width + at, width, x + block * apart,
                          apart, count, scales + at, shifts + at, std::min(step, last - block));
      at += count;
    }
  }
}

}  // namespace

std::optional<Affine> Affine::of(const Node& node) {
  const std::vector<std::string> ops = node.strings("ops");
  const std::vector<std::int64_t> operands = node.integers("operands");
  const TF_DataType type = node.type("T");
  const bool has_relu = ops.size() == 3 && ops[2] == "Relu";
  if ((type != TF_FLOAT && type != TF_BFLOAT16) || ops.size() != (has_relu ? 3 : 2)) return std::nullopt;
  if (ops[0] != "Mul" || (ops[1] != "AddV2" && ops[1] != "Add")) return std::nullopt;
  // Operands 0 to 2 are inputs, 3 is the product and 4 the sum: each is read once.
  std::vector<std::int64_t> sorted = operands;
  std::ranges::sort(sorted);
  const bool once = std::ranges::equal(sorted, std::array{0, 1, 2, 3, 4}) ||
                    (!has_relu && std::ranges::equal(sorted, std::array{0, 1, 2, 3}));
  if (!once || (operands[2] != 3 && operands[3] != 3)) return std::nullopt;
  const auto at = [&](std::size_t k) { return static_cast<std::size_t>(operands[k]); };
  return Affine{at(0), at(1), operands[2] == 3 ? at(3) : at(2), has_relu, type == TF_BFLOAT16};
}

std::optional<Affine> Affine::placed(const Inputs& in) const {
  const auto is = [&](std::size_t k, Input::Kind kind) { return in[k].kind == kind; };
  const auto walks = [&](std::size_t k) {
    return is(k, Input::Kind::straight) || is(k, Input::Kind::joined);
  };
  Affine out = *this;
  if (!walks(x)) std::swap(out.x, out.scale);
  const bool fits = walks(out.x) && is(out.scale, Input::Kind::repeated) &&
                    is(shift, Input::Kind::repeated);
  return fits ? std::optional(out) : std::nullopt;
}

void Affine::run(const Inputs& in, const Tensor& out) const {
  const std::int64_t width = out.dims().back();
  const std::int64_t bytes = width * (is_short ? 2 : 4);
  const Part whole{in[x].data, bytes, bytes};
  const std::span<const Part> parts =
      in[x].kind == Input::Kind::joined ? in[x].parts : std::span(&whole, 1);
  const auto rows_of = is_short ? (has_relu ? run_rows<BFloat16, true> : run_rows<BFloat16, false>)
                                : (has_relu ? run_rows<float, true> : run_rows<float, false>);
  const std::int64_t rows = out.count() / width;
  const std::int64_t step = rows_of_block(width);
  parallel((rows + step - 1) / step, 1 + step * width / 10, [&](std::int64_t begin, std::int64_t end) {
    rows_of(parts, in[scale].data, in[shift].data, out.write<char>(), width, begin * step,
            std::min(rows, end * step));
  });
}

}  // namespace drystone::cpu
