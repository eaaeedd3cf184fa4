// A row times a constant matrix: see dnnl/packed_gemv.h.
#include "dnnl/packed_gemv.h"

#include "core/stored.h"

namespace drystone::cpu::dnnl_part {
namespace {

// Elements of a matrix that stays in the first cache of a core, where any order does.
constexpr std::int64_t kNearest = 1 << 13;
constexpr std::int64_t kRowOfStrip = 5;  // nanoseconds: 256 bytes from the third cache

}  // namespace

void PackedGemv::run(const Call& call, int i, const Tensor& w, const Sizes& sizes, const float* x,
                     const float* bias, float* y, int threads) {
  const auto [depth, width] = sizes;
  if (bias == nullptr && w.count() <= kNearest)
    return gemv_row_major(x, static_cast<const float*>(loaded(call, i, w)), y, depth, width);
  Key key;
  key << depth << width;
  orders_.with(
      key,
      [&, depth = depth, width = width] {
        return std::make_unique<Packing>(dense({depth, width}), in_strips(depth, width));
      },
      [&, depth = depth, width = width](const Packing& order) {
        const Packed packed = weights_.packed(call, i, w, order);
        const auto* strips = static_cast<const float*>(packed.get());
        auto some = [&](std::int64_t first, std::int64_t last) {
          gemv_strips(x, strips, bias, y, depth, width, first, last);
        };
        if (threads == 1) some(0, strips_of(width));
        else parallel(strips_of(width), 1 + depth * kRowOfStrip, some);
      });
}

}  // namespace drystone::cpu::dnnl_part
