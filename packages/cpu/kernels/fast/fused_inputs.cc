// Operands of fused element-wise ops: see fast/fused_inputs.h.
#include "fast/fused_inputs.h"

#include <algorithm>
#include <cstring>

namespace drystone::cpu {
namespace {

template <class Bits>
void repeat(char* to, const char* from, std::int64_t count) {
  Bits each;
  std::memcpy(&each, from, sizeof(each));
  std::fill_n(reinterpret_cast<Bits*>(to), count, each);
}

void repeat(char* to, const char* from, std::int64_t count, std::int64_t bytes) {
  switch (bytes) {
    case 1: return repeat<std::uint8_t>(to, from, count);
    case 2: return repeat<std::uint16_t>(to, from, count);
    case 4: return repeat<std::uint32_t>(to, from, count);
    default: return repeat<std::uint64_t>(to, from, count);
  }
}

// Elements [begin, begin + count) of an input broadcast to the output's shape: input 1 of the walk.
void spread(const Walk<2>& walk, const Input& in, char* to, std::int64_t begin,
            std::int64_t count) {
  const std::int64_t width = walk.width();
  const std::int64_t first = begin / width;
  const std::int64_t last = (begin + count - 1) / width;
  for_each_row(walk, first, last + 1,
               [&](std::int64_t at, const std::array<std::int64_t, 2>& offset) {
                 const std::int64_t from = std::max(begin, at);
                 const std::int64_t some = std::min(begin + count, at + width) - from;
                 const bool walks = walk.step(1) != 0;
                 const std::int64_t element = offset[1] + (walks ? from - at : 0);
                 const char* data = in.data + element * in.bytes;
                 char* out = to + (from - begin) * in.bytes;
                 if (walks) std::memcpy(out, data, static_cast<std::size_t>(some * in.bytes));
                 else repeat(out, data, some, in.bytes);
               });
}

// Rows of parts are short: a call for each would cost as much as the copy.
void copy_row(char* to, const char* from, std::int64_t bytes) {
  constexpr std::int64_t kStep = 64;
  for (; bytes >= kStep; bytes -= kStep, to += kStep, from += kStep) std::memcpy(to, from, kStep);
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

// Rows [first, first + rows), each of all parts one after another.
void join_rows(std::span<const Part> parts, char* to, std::int64_t width, std::int64_t first,
               std::int64_t rows) {
  for (const Part& part : parts) {
    const char* from = part.data + first * part.step;
    for (std::int64_t k = 0; k < rows; ++k) copy_row(to + k * width, from + k * part.step, part.row);
    to += part.row;
  }
}

std::int64_t row_bytes(const Input& in) { return in.dims.back() * in.bytes; }

Part part_of(const Tensor& x, const Slice& slice, std::int64_t bytes) {
  const std::int64_t width = x.dim(x.rank() - 1);
  const auto* data = static_cast<const char*>(x.data());
  if (slice.is_all()) return {data, width * bytes, width * bytes};
  if (slice.first + slice.count > width) {
    fail(TF_INVALID_ARGUMENT, "a slice must lie in the last dim: " + std::to_string(slice.first) +
                                  " and " + std::to_string(slice.count) + " of " + text(x.dims()));
  }
  return {data + slice.first * bytes, slice.count * bytes, width * bytes};
}

}  // namespace

DimsView Joined::with_last(DimsView dims, std::int64_t last) {
  if (used_ + dims.size() > dims_.size()) {
    Dims& out = more_dims_.emplace_back(dims.begin(), dims.end());
    out.back() = last;
    return out;
  }
  std::int64_t* out = dims_.data() + used_;
  used_ += dims.size();
  std::ranges::copy(dims, out);
  out[dims.size() - 1] = last;
  return {out, dims.size()};
}

Input Joined::slice(const Tensor& x, const Slice& slice, std::int64_t bytes) {
  require(x.rank() > 0, "what is sliced must have a last dim");
  const Part part = part_of(x, slice, bytes);
  const DimsView dims = with_last(x.dims(), slice.count);
  const std::int64_t rows = product(dims.first(dims.size() - 1));
  const std::int64_t count = rows * slice.count;
  if (rows <= 1) return {part.data, dims, count, bytes, Input::Kind::straight, {}};
  std::span<const Part> parts;
  if (used_parts_ < kFewParts) {
    parts_[used_parts_] = part;
    parts = {&parts_[used_parts_++], 1};
  } else {
    One& more = *all_.emplace_back(std::make_unique<One>());
    more.parts.push_back(part);
    parts = more.parts;
  }
  return {nullptr, dims, count, bytes, Input::Kind::joined, parts};
}

Input Joined::join(const Call& call, const Program& program, int first, int count,
                   std::int64_t bytes) {
  One& out = *all_.emplace_back(std::make_unique<One>());
  const Tensor x = call.input(first);
  require(x.rank() > 0, "joined inputs must have a last dim");
  out.dims.assign(x.dims().begin(), x.dims().end());
  out.dims.back() = 0;
  for (int k = first; k < first + count; ++k) {
    const Tensor part = call.input(k);
    const bool fits = part.rank() == x.rank() &&
                      std::equal(part.dims().begin(), part.dims().end() - 1, x.dims().begin());
    if (!fits) {
      fail(TF_INVALID_ARGUMENT, "joined inputs must agree but for the last dim: " + text(x.dims()) +
                                    " and " + text(part.dims()));
    }
    out.parts.push_back(part_of(part, program.slice(k), bytes));
    out.dims.back() += out.parts.back().row / bytes;
  }
  return {nullptr, out.dims, product(out.dims), bytes, Input::Kind::joined, out.parts};
}

void Joined::settle(Input& input) {
  std::vector<char>& whole = all_.emplace_back(std::make_unique<One>())->whole;
  whole.resize(static_cast<std::size_t>(input.count * input.bytes));
  const std::int64_t row = row_bytes(input);
  if (!whole.empty())
    join_rows(input.parts, whole.data(), row, 0, static_cast<std::int64_t>(whole.size()) / row);
  input.data = whole.data();
  input.kind = Input::Kind::straight;
}

void Buffered::fill(const Input& in, char* to, std::int64_t begin, std::int64_t count) const {
  if (in.kind == Input::Kind::spread) return spread(*walk, in, to, begin, count);
  const std::int64_t rows = count / in.dims.back();
  const std::int64_t row = row_bytes(in);
  if (in.kind == Input::Kind::joined) {
    return join_rows(in.parts, to, row, begin / in.dims.back(), rows);
  }
  for (std::int64_t k = 0; k < rows; ++k) copy_row(to + k * row, in.data, row);
}

}  // namespace drystone::cpu
