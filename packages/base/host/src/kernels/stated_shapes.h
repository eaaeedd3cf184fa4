// What the embedder's shape inference knows of a node, which a plugin's kernel must keep to.
#ifndef DRYSTONE_HOST_KERNELS_STATED_SHAPES_H_
#define DRYSTONE_HOST_KERNELS_STATED_SHAPES_H_

#include <cstdint>
#include <vector>

struct TF_OpKernelContext;

namespace drystone::host::kernels {

// The node's attribute that holds them: for each input, then for each output, its rank (-1: unknown) and its
// sizes. A size below 0 is unknown, and below -1 the same wherever that number stands.
inline constexpr const char* kStatedShapes = "_drystone_shapes";

class StatedShapes {
 public:
  // Nothing is known where `words` do not describe so many tensors.
  StatedShapes(const std::vector<std::int64_t>& words, std::size_t inputs, std::size_t outputs);

  // After a call that has not failed: fails with INTERNAL for an output of another shape.
  void check(const TF_OpKernelContext& ctx) const;

 private:
  // A size, or the axis of an input that has the same, or neither: -1.
  struct Dim {
    std::int64_t size = -1;
    std::size_t input = 0;
    int axis = -1;
  };
  struct Output {
    bool is_known = false;
    std::vector<Dim> dims;
  };
  std::int64_t size_of(const Dim& dim, const TF_OpKernelContext& ctx) const;
  bool admits(const Output& output, const TF_OpKernelContext& ctx, std::size_t i) const;

  std::vector<std::int64_t> input_ranks_;
  std::vector<Output> outputs_;  // empty: nothing is known
};

}  // namespace drystone::host::kernels

#endif  // DRYSTONE_HOST_KERNELS_STATED_SHAPES_H_
