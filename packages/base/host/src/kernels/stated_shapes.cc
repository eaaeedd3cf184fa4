// Shapes that outputs must have: see kernels/stated_shapes.h.
#include "kernels/stated_shapes.h"

#include <map>
#include <utility>

#include "kernels/context.h"
#include "ops/shape.h"

namespace drystone::host::kernels {

StatedShapes::StatedShapes(const std::vector<std::int64_t>& words, std::size_t inputs, std::size_t outputs) {
  std::map<std::int64_t, Dim> seen;  // sizes that are unknown, where inputs have them
  std::size_t at = 0;
  for (std::size_t k = 0; k < inputs + outputs; ++k) {
    if (at == words.size() || words[at] > static_cast<std::int64_t>(words.size() - at - 1)) break;
    const std::int64_t rank = words[at++];
    const bool is_input = k < inputs;
    if (is_input) input_ranks_.push_back(rank);
    else outputs_.push_back({rank >= 0, {}});
    for (int axis = 0; axis < rank; ++axis) {
      const std::int64_t size = words[at++];
      if (is_input) seen.try_emplace(size, Dim{-1, k, axis});
      else if (size < -1 && seen.contains(size)) outputs_.back().dims.push_back(seen[size]);
      else outputs_.back().dims.push_back({size, 0, -1});
    }
  }
  if (outputs_.size() != outputs || at != words.size()) outputs_.clear();
}

std::int64_t StatedShapes::size_of(const Dim& dim, const TF_OpKernelContext& ctx) const {
  if (dim.axis < 0) return dim.size;
  const TF_Tensor* const input = ctx.is_reference(dim.input) ? nullptr : ctx.inputs[dim.input];
  if (input == nullptr || input->dims.rank() != input_ranks_[dim.input]) return -1;
  return input->dims[dim.axis];
}

bool StatedShapes::admits(const Output& output, const TF_OpKernelContext& ctx, std::size_t i) const {
  const TF_Tensor* const found = ctx.outputs[i];
  if (!output.is_known || found == nullptr) return true;
  if (static_cast<std::size_t>(found->dims.rank()) != output.dims.size()) return false;
  for (std::size_t axis = 0; axis < output.dims.size(); ++axis) {
    const std::int64_t size = size_of(output.dims[axis], ctx);
    if (size >= 0 && size != found->dims[static_cast<int>(axis)]) return false;
  }
  return true;
}

void StatedShapes::check(const TF_OpKernelContext& ctx) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (admits(outputs_[i], ctx, i)) continue;
    ops::Shape wanted{true, {}};
    for (const Dim& dim : outputs_[i].dims) wanted.dims.push_back(size_of(dim, ctx));
    const auto& dims = ctx.outputs[i]->dims;
    fail_at(ctx.kernel().subject(),
            {TF_INTERNAL, "output " + std::to_string(i) + " has shape " +
                              ops::to_text({true, {dims.data(), dims.data() + dims.rank()}}) + "; op " +
                              ctx.kernel().registered->definition.op + " gives " + ops::to_text(wanted) +
                              " for these inputs"});
  }
}

}  // namespace drystone::host::kernels
