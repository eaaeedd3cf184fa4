// Quantization simulated in floats: values rounded to steps between a lowest and a highest one.
#include <algorithm>
#include <cmath>

#include "core/family.h"
#include "core/kernel.h"

namespace drystone::cpu {
namespace {

// The steps of a range, which is moved so that 0 is one of them.
struct Grid {
  Grid(float low, float high, float first, float last) : empty(low == 0 && high == 0) {
    scale = (high - low) / (last - first);
    const float from_low = first - low / scale;
    const float zero = from_low < first       ? first
                       : from_low > last      ? last
                       : from_low != from_low ? 0  // an integer in TensorFlow
                                              : std::floor(from_low + 0.5F);
    least = (first - zero) * scale;
    most = (last - zero) * scale;
    inverse = 1.0F / scale;
    steps_below = std::floor(-least * inverse + 0.5F);
  }
  float round(float x) const {
    const float below = x > most ? most : x;  // NaN stays
    const float inside = below < least ? least : below;
    const float rounded = std::floor((inside - least) * inverse - steps_below + 0.5F) * scale;
    return empty ? 0 : rounded;
  }
  void round(const float* x, std::int64_t count, float* y) const {
#pragma GCC ivdep
    for (std::int64_t k = 0; k < count; ++k) y[k] = round(x[k]);
  }
  // 1 or 0; gradients that are not finite make NaN where they are multiplied by 0.
  float inside(float x) const { return empty || (x >= least && x <= most) ? 1 : 0; }
  float below(float x) const { return x < least ? 1 : 0; }
  float above(float x) const { return x > most ? 1 : 0; }
  bool empty;
  float scale;
  float least;
  float most;
  float inverse;
  float steps_below;
};

enum class Range { kAttributes, kScalars, kChannels };

template <Range kRange>
class FakeQuant {
 public:
  explicit FakeQuant(const Node& node) {
    const std::int64_t bits = node.integer("num_bits");
    require(bits >= 2 && bits <= 16, "num_bits must be between 2 and 16");
    first_ = node.boolean("narrow_range") ? 1 : 0;
    last_ = static_cast<float>((std::int64_t{1} << bits) - 1);
    if constexpr (kRange == Range::kAttributes) {
      low_ = node.real("min");
      high_ = node.real("max");
      require(low_ < high_, "min has to be smaller than max");
    }
  }
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    const std::vector<Grid> grids = of(call, x, 1);
    float* out = call.output(0, x.dims(), 0).template write<float>();
    const auto width = static_cast<std::int64_t>(grids.size());
    if (width == 0) return;
    const auto* from = x.as<float>();
    if (width == 1) {
      parallel(x.count(), 1, [&](std::int64_t begin, std::int64_t end) {
        grids[0].round(from + begin, end - begin, out + begin);
      });
      return;
    }
    parallel(x.count() / width, width, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin * width; row < end * width; row += width) {
#pragma GCC ivdep
        for (std::int64_t c = 0; c < width; ++c) {
          out[row + c] = grids[static_cast<std::size_t>(c)].round(from[row + c]);
        }
      }
    });
  }

 protected:
  // One grid, or one for each place of the last dimension; min and max are inputs from `input` on.
  std::vector<Grid> of(const Call& call, const Tensor& x, int input) const {
    if constexpr (kRange == Range::kAttributes) return {Grid(low_, high_, first_, last_)};
    const Tensor low = call.input(input);
    const Tensor high = call.input(input + 1);
    const bool fits =
        kRange == Range::kScalars
            ? low.rank() == 0 && high.rank() == 0
            : x.rank() >= 1 && low.rank() == 1 && high.rank() == 1 &&
                  low.dim(0) == x.dim(x.rank() - 1) && high.dim(0) == low.dim(0);
    require(fits, "min and max must fit the input");
    std::vector<Grid> out;
    for (std::int64_t k = 0; k < low.count(); ++k) {
      out.emplace_back(low.as<float>()[k], high.as<float>()[k], first_, last_);
    }
    return out;
  }

 private:
  float first_;
  float last_;
  float low_ = 0;
  float high_ = 0;
};

template <Range kRange>
class FakeQuantGradient : FakeQuant<kRange> {
 public:
  using FakeQuant<kRange>::FakeQuant;
  void compute(Call& call) const {
    const Tensor dy = call.input(0);
    const Tensor x = call.input(1);
    require(std::ranges::equal(dy.dims(), x.dims()),
            "gradient and input must be the same size");
    const std::vector<Grid> grids = this->of(call, x, 2);
    float* out = call.output(0, x.dims(), 0).template write<float>();
    std::vector<double> below(grids.size(), 0);
    std::vector<double> above(grids.size(), 0);
    for (std::int64_t k = 0; k < x.count(); ++k) {
      const auto channel = static_cast<std::size_t>(k) % grids.size();
      const float value = x.as<float>()[k];
      const float slope = dy.as<float>()[k];
      const Grid& grid = grids[channel];
      out[k] = slope * grid.inside(value);
      if (grid.empty) continue;
      below[channel] += slope * grid.below(value);
      above[channel] += slope * grid.above(value);
    }
    if constexpr (kRange != Range::kAttributes) {
      put(call, 1, below);
      put(call, 2, above);
    }
  }

 private:
  static void put(Call& call, int output, const std::vector<double>& sums) {
    const auto count = static_cast<std::int64_t>(sums.size());
    const Dims dims = kRange == Range::kScalars ? Dims{} : Dims{count};
    float* out = call.output(output, dims).template write<float>();
    std::transform(sums.begin(), sums.end(), out, [](double x) { return static_cast<float>(x); });
  }
};

template <Range kRange>
void add_range(const std::string& name) {
  add<FakeQuant<kRange>>(name.c_str());
  add<FakeQuantGradient<kRange>>((name + "Gradient").c_str());
}

}  // namespace

const Family registered([] {
  add_range<Range::kAttributes>("FakeQuantWithMinMaxArgs");
  add_range<Range::kScalars>("FakeQuantWithMinMaxVars");
  add_range<Range::kChannels>("FakeQuantWithMinMaxVarsPerChannel");
});

}  // namespace drystone::cpu
