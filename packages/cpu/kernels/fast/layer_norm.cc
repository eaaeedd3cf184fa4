// Layer normalization: rows of the last dimension, one after another in the nearest cache.
#include <cmath>
#include <vector>

#include "core/family.h"
#include "fast/folds.h"
#include "fast/widened.h"

namespace drystone::cpu {
namespace {

  // The deviation is that of what is left without the mean: nothing cancels.
  template <class W>
void normalize_row(const W* x, std::int64_t width, const W* scale, const W* offset, W epsilon, W* y) {
    const W mean = FoldLoops<SumFold<W>>::run(x, width) / static_cast<W>(width);
#pragma GCC ivdep
    for (std::int64_t k = 0; k < width; ++k) y[k] = x[k] - mean;
    const W variance = FoldLoops<SquaresFold<W>>::run(y, width) / static_cast<W>(width);
    const W factor = W(1) / std::sqrt(variance + epsilon);
    if (scale != nullptr && offset != nullptr) {
#pragma GCC ivdep
      for (std::int64_t k = 0; k < width; ++k) y[k] = y[k] * (factor * scale[k]) + offset[k];
    } else if (scale != nullptr) {
#pragma GCC ivdep
      for (std::int64_t k = 0; k < width; ++k) y[k] *= factor * scale[k];
    } else {
#pragma GCC ivdep
      for (std::int64_t k = 0; k < width; ++k) y[k] *= factor;
      if (offset == nullptr) return;
#pragma GCC ivdep
      for (std::int64_t k = 0; k < width; ++k) y[k] += offset[k];
    }
  }

template <class T>
class LayerNorm {
  using W = Wide<T>;

 public:
  explicit LayerNorm(const Node& node)
      : has_scale_(node.boolean("has_scale")),
        has_offset_(node.boolean("has_offset")),
        epsilon_(static_cast<W>(node.real("epsilon"))) {}

  void compute(Call& call) const {
    const Tensor x = call.input(0);
    require(x.rank() >= 1, "x must have >= 1 dimension");
    const std::int64_t width = x.dim(x.rank() - 1);
    const int args = (has_scale_ ? 1 : 0) + (has_offset_ ? 1 : 0);
    require(call.inputs() == 1 + args, "args must be a scale, if has_scale, and an offset");
    for (int k = 1; k <= args; ++k) {
      require(call.input(k).count() == width,
              "scale and offset must have one entry per element of a row");
    }
    const W* scale = has_scale_ ? wide<T>(call, call.input(1)) : nullptr;
    const W* offset = has_offset_ ? wide<T>(call, call.input(args)) : nullptr;
    const Tensor y = call.output(0, x.dims(), 0);
    if (x.count() == 0) return;
    parallel(x.count() / width, 10 + width / 4, [&](std::int64_t begin, std::int64_t end) {
      rows(x.as<T>() + begin * width, end - begin, width, scale, offset,
           y.write<T>() + begin * width);
    });
  }

 private:
  // Of 16 bits one row at a time is widened, into memory that stays in the nearest cache.
  void rows(const T* x, std::int64_t count, std::int64_t width, const W* scale, const W* offset,
            T* y) const {
    std::vector<W> room(kIsNarrow<T> ? static_cast<std::size_t>(width) : 0);
    for (std::int64_t k = 0; k < count; ++k, x += width, y += width) {
      if constexpr (kIsNarrow<T>) {
        W* wide = room.data();
        for (std::int64_t i = 0; i < width; ++i) wide[i] = widen(x[i]);
        normalize_row(wide, width, scale, offset, epsilon_, wide);
        for (std::int64_t i = 0; i < width; ++i) y[i] = narrow<T>(wide[i]);
      } else {
        normalize_row(x, width, scale, offset, epsilon_, y);
      }
    }
  }

  bool has_scale_;
  bool has_offset_;
  W epsilon_;
};

}  // namespace

const Family registered([] {
  const char* op = "Drystone>LayerNorm";
  add<LayerNorm<float>>(op, {{"T", {TF_FLOAT}}});
  add<LayerNorm<double>>(op, {{"T", {TF_DOUBLE}}});
  add<LayerNorm<Half>>(op, {{"T", {TF_HALF}}});
  add<LayerNorm<BFloat16>>(op, {{"T", {TF_BFLOAT16}}});
});

}  // namespace drystone::cpu
