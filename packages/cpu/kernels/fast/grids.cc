// Floats to integers of eight bits and back: where what is quantized begins and ends.
#include "core/family.h"
#include "core/grid.h"

namespace drystone::cpu {
namespace {

template <class Integer, TF_DataType kType>
class ToGrid {
 public:
  explicit ToGrid(const Node& node) : grid_(node, kType), half_up_(node.boolean("half_up")) {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    const Tensor y = call.output(0, x.dims());
    parallel(x.count(), 1, [&](std::int64_t begin, std::int64_t end) {
      const float* from = x.as<float>() + begin;
      Integer* to = y.write<Integer>() + begin;
      if (half_up_) grid_.put<true>(from, end - begin, to);
      else grid_.put<false>(from, end - begin, to);
    });
  }

 private:
  Grid grid_;
  bool half_up_;
};

template <class Integer, TF_DataType kType>
class FromGrid {
 public:
  explicit FromGrid(const Node& node) : grid_(node, kType) {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    const Tensor y = call.output(0, x.dims());
    parallel(x.count(), 1, [&](std::int64_t begin, std::int64_t end) {
      const auto* from = x.as<Integer>();
      auto* to = y.write<float>();
      const auto zero = static_cast<float>(grid_.zero);
#pragma GCC ivdep
      for (std::int64_t k = begin; k < end; ++k) {
        to[k] = (static_cast<float>(from[k]) - zero) * grid_.scale;
      }
    });
  }

 private:
  Grid grid_;
};

}  // namespace

const Family registered([] {
  add<ToGrid<std::uint8_t, TF_UINT8>>("Drystone>ToGrid", {{"T", {TF_UINT8}}});
  add<ToGrid<std::int8_t, TF_INT8>>("Drystone>ToGrid", {{"T", {TF_INT8}}});
  add<FromGrid<std::uint8_t, TF_UINT8>>("Drystone>FromGrid", {{"T", {TF_UINT8}}});
  add<FromGrid<std::int8_t, TF_INT8>>("Drystone>FromGrid", {{"T", {TF_INT8}}});
});

}  // namespace drystone::cpu
