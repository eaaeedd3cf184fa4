// Broadcasting: see core/broadcast.h.
#include "core/broadcast.h"

namespace drystone::cpu {
namespace {

// Dim `k` of `rank`, where dims that are missing on the left are 1.
std::int64_t dim_of(DimsView dims, std::size_t k, std::size_t rank) {
  const std::size_t missing = rank - dims.size();
  return k < missing ? 1 : dims[k - missing];
}

template <std::size_t N>
std::size_t highest_rank(const std::array<DimsView, N>& inputs) {
  std::size_t rank = 0;
  for (const DimsView dims : inputs) rank = std::max(rank, dims.size());
  return rank;
}

template <std::size_t N>
[[noreturn]] void incompatible(const std::array<DimsView, N>& inputs) {
  std::string message = "Incompatible shapes: " + text(inputs[0]);
  for (std::size_t i = 1; i < N; ++i) message += " vs. " + text(inputs[i]);
  fail(TF_INVALID_ARGUMENT, message);
}

// The output's dims.
template <std::size_t N>
void join(const std::array<DimsView, N>& inputs, FewDims& out) {
  const std::size_t rank = highest_rank(inputs);
  for (std::size_t k = 0; k < rank; ++k) {
    std::int64_t both = 1;
    for (const DimsView dims : inputs) {
      const std::int64_t dim = dim_of(dims, k, rank);
      if (dim != 1 && both != 1 && dim != both) incompatible(inputs);
      if (dim != 1) both = dim;
    }
    out.push_back(both);
  }
}

}  // namespace

bool go_together(DimsView a, DimsView b) {
  const std::size_t rank = std::max(a.size(), b.size());
  for (std::size_t k = 0; k < rank; ++k) {
    const std::int64_t x = dim_of(a, k, rank);
    const std::int64_t y = dim_of(b, k, rank);
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

// All inputs have the same dims: one run.
template <std::size_t N>
void walk_straight(DimsView dims, Walk<N>& out) {
  for (const std::int64_t dim : dims) out.out.push_back(dim);
  const std::int64_t count = product(dims);
  out.dims.push_back(count);
  for (FewDims& stride : out.stride) stride.push_back(count == 1 ? 0 : 1);
}

template <std::size_t N>
void walk(const std::array<DimsView, N>& inputs, Walk<N>& out) {
  if (std::all_of(inputs.begin(), inputs.end(),
                  [&](DimsView dims) { return std::ranges::equal(dims, inputs[0]); })) {
    return walk_straight(inputs[0], out);
  }
  join(inputs, out.out);
  const std::size_t rank = out.out.size();
  std::array<std::int64_t, N> step;
  step.fill(1);
  for (std::size_t k = rank; k-- > 0;) {
    const std::int64_t both = out.out[k];
    if (both == 1) continue;
    std::array<std::int64_t, N> stride;
    bool merges = !out.dims.empty();
    for (std::size_t i = 0; i < N; ++i) {
      const std::int64_t dim = dim_of(inputs[i], k, rank);
      stride[i] = dim == 1 ? 0 : step[i];
      step[i] *= dim;
      merges = merges && stride[i] == out.stride[i].back() * out.dims.back();
    }
    if (merges) {
      out.dims.back() *= both;
      continue;
    }
    out.dims.push_back(both);
    for (std::size_t i = 0; i < N; ++i) out.stride[i].push_back(stride[i]);
  }
  if (out.dims.empty()) {
    out.dims.push_back(1);
    for (FewDims& stride : out.stride) stride.push_back(0);
  }
  std::reverse(out.dims.begin(), out.dims.end());
  for (FewDims& stride : out.stride) std::reverse(stride.begin(), stride.end());
}

template void walk<2>(const std::array<DimsView, 2>&, Walk<2>&);
template void walk<3>(const std::array<DimsView, 3>&, Walk<3>&);

}  // namespace drystone::cpu
