// Broadcasting: see core/broadcast.h.
#include "core/broadcast.h"

#include <algorithm>

namespace drystone::cpu {

Broadcast broadcast(DimsView a, DimsView b) {
  Broadcast out;
  const std::size_t rank = std::max(a.size(), b.size());
  const auto dim = [rank](DimsView dims, std::size_t k) {
    const std::size_t missing = rank - dims.size();
    return k < missing ? std::int64_t{1} : dims[k - missing];
  };
  out.out.resize(rank);
  for (std::size_t k = 0; k < rank; ++k) {
    const std::int64_t x = dim(a, k);
    const std::int64_t y = dim(b, k);
    if (x != y && x != 1 && y != 1) {
      fail(TF_INVALID_ARGUMENT, "Incompatible shapes: " + text(a) + " vs. " + text(b));
    }
    out.out[k] = x == 1 ? y : x;
  }
  std::int64_t a_step = 1;
  std::int64_t b_step = 1;
  for (std::size_t k = rank; k-- > 0;) {
    const std::int64_t x = dim(a, k);
    const std::int64_t y = dim(b, k);
    const std::int64_t both = out.out[k];
    if (both == 1) continue;
    const std::int64_t xs = x == 1 ? 0 : a_step;
    const std::int64_t ys = y == 1 ? 0 : b_step;
    const bool merges = !out.dims.empty() && xs == out.a_stride.back() * out.dims.back() &&
                        ys == out.b_stride.back() * out.dims.back();
    if (merges) {
      out.dims.back() *= both;
    } else {
      out.dims.push_back(both);
      out.a_stride.push_back(xs);
      out.b_stride.push_back(ys);
    }
    a_step *= x;
    b_step *= y;
  }
  if (out.dims.empty()) {
    out.dims = {1};
    out.a_stride = {0};
    out.b_stride = {0};
  }
  std::reverse(out.dims.begin(), out.dims.end());
  std::reverse(out.a_stride.begin(), out.a_stride.end());
  std::reverse(out.b_stride.begin(), out.b_stride.end());
  out.a_scalar = product(a) == 1;
  out.b_scalar = product(b) == 1;
  out.same = out.dims.size() == 1 && (out.a_stride[0] == 1 || out.dims[0] == 1) &&
             (out.b_stride[0] == 1 || out.dims[0] == 1);
  return out;
}

}  // namespace drystone::cpu
