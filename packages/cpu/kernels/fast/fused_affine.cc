// Programs of batch normalizations: see fast/fused_affine.h.
#include "fast/fused_affine.h"

#include <algorithm>
#include <string>
#include <utility>

namespace drystone::cpu {
namespace {

constexpr std::int64_t kBlock = 4096;  // elements of rows that are written part by part

// What an op alone would give: rounded to the type that it is held in.
template <class T>
Wide<T> rounded(Wide<T> x) {
  return wide(as_held<T>(x));
}

template <class T, bool kRelu>
void run_row(T* out, const T* x, const T* scale, const T* shift, std::int64_t count) {
#pragma GCC ivdep
  for (std::int64_t k = 0; k < count; ++k) {
    const Wide<T> y = rounded<T>(wide(x[k]) * wide(scale[k])) + wide(shift[k]);
    out[k] = as_held<T>(kRelu && y < 0 ? 0 : y);  // NaN stays
  }
}

template <class T, bool kRelu>
void run_rows(std::span<const Part> parts, const char* factors, const char* terms, char* to,
              std::int64_t width, std::int64_t first, std::int64_t last) {
  const auto* scale = reinterpret_cast<const T*>(factors);
  const auto* shift = reinterpret_cast<const T*>(terms);
  auto* out = reinterpret_cast<T*>(to);
  for (const Part& part : parts) {
    const std::int64_t count = part.row / static_cast<std::int64_t>(sizeof(T));
    const std::int64_t step = part.step / static_cast<std::int64_t>(sizeof(T));
    const auto* x = reinterpret_cast<const T*>(part.data);
    for (std::int64_t k = first; k < last; ++k) {
      run_row<T, kRelu>(out + k * width, x + k * step, scale, shift, count);
    }
    scale += count;
    shift += count;
    out += count;
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
  const std::int64_t step = std::max<std::int64_t>(1, kBlock / width);
  parallel((rows + step - 1) / step, 1 + step * width / 5, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      rows_of(parts, in[scale].data, in[shift].data, out.write<char>(), width, k * step,
              std::min(rows, (k + 1) * step));
    }
  });
}

}  // namespace drystone::cpu
