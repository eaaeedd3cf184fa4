// Weights in the order that a primitive wants, kept where they are constants.
#ifndef DRYSTONE_CPU_DNNL_WEIGHTS_H_
#define DRYSTONE_CPU_DNNL_WEIGHTS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "dnnl/primitive.h"

namespace drystone::cpu::dnnl_part {

// Turns weights from the order that they are given in into a primitive's, or does nothing when that
// is the same.
class Packing {
 public:
  Packing(const Desc& given, const Desc& wanted);
  const Desc& given() const { return given_; }
  const Desc& wanted() const { return wanted_; }
  bool is_needed() const { return reorder_ != nullptr; }
  void run(const Call& call, const void* from, void* to) const;
  // The weights in that order, in memory of the call where it is another one.
  const void* made(const Call& call, const void* from) const;

 private:
  Desc given_;
  Desc wanted_;
  std::unique_ptr<Primitive> reorder_;
};

// Elements in the order that a primitive wants, for as long as this lives and the call lasts.
using Packed = std::shared_ptr<const void>;

// Packed constants of a kernel. The input stays held, so that its memory means these elements for
// as long as this lives. Few are kept, those used last: a kernel that is called with ever new shapes
// may want ever new orders, and a variable may get another value after all. Kernels of all plans that
// want one constant in one order have it together.
class Weights {
 public:
  // The elements of input `i`, which is `x`, packed. What is in a file is read for that and forgotten.
  Packed packed(const Call& call, int i, const Tensor& x, const Packing& packing);

 private:
  static constexpr std::size_t kMost = 2;
  struct Kept {
    const void* data;
    TF_Tensor* held;
    Desc given;
    Desc order;
    std::shared_ptr<void> room;
    std::array<std::uint64_t, 2> identity{};
    bool is_shared = false;
    Kept(const void* data_, TF_Tensor* held_, const Packing& packing)
        : data(data_), held(held_), given(packing.given()), order(packing.wanted()) {}
    ~Kept();
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;
  };
  class Shared;
  using KeptPtr = std::shared_ptr<const Kept>;
  KeptPtr find(const void* data, const Desc& wanted);
  KeptPtr keep(const Call& call, int i, const Tensor& x, const Packing& packing);

  std::mutex mutex_;
  std::vector<KeptPtr> kept_;  // the last used one is the last
};

// The node's kernel takes a constant input `i` by Weights alone, which may stay in a file then. Not
// where what it gets was widened before.
void take_stored_weights(const Node& node, int i);

}  // namespace drystone::cpu::dnnl_part

#endif  // DRYSTONE_CPU_DNNL_WEIGHTS_H_
