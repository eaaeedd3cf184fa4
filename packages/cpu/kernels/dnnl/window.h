// Where a convolution's windows lie: its node's attributes and the shapes of a call.
#ifndef DRYSTONE_CPU_DNNL_WINDOW_H_
#define DRYSTONE_CPU_DNNL_WINDOW_H_

#include <string>

#include "dnnl/primitive.h"

namespace drystone::cpu::dnnl_part {

// The shapes of a convolution. Spatial values are one per spatial dimension.
struct Geometry {
  Type type = Type::f32;  // of the elements
  std::int64_t batch;
  std::int64_t channels;  // of the input
  std::int64_t groups;
  std::int64_t depth;  // input channels of a group
  std::int64_t count;  // output channels
  Dims spatial;        // of the input
  Dims size;           // of the filter
  Dims out;            // of the output
  Shape strides;
  Shape dilations;  // oneDNN's: 0 for dense filters
  Shape before;
  Shape after;

  // Puts axes of size 1, over which nothing moves, before the others. It is the same convolution of the
  // same memory, but oneDNN's code goes along the last axis.
  void lie_down();
  // Multiplications and additions of a convolution.
  std::int64_t operations() const {
    return 2 * batch * count * depth * product(out) * product(size);
  }
  Dims input(bool channels_first) const { return dims(spatial, channels, channels_first); }
  Dims output(bool channels_first) const { return dims(out, count, channels_first); }
  Dims dims(const Dims& inner, std::int64_t channel, bool channels_first) const;
};

// Whether filters and channels may be none, of which nothing is summed.
enum class Empty { refused, allowed };

// Attributes of a node that slides windows.
class Windows {
 public:
  // Of windows with so many spatial dimensions. `is_depthwise`: the filter is [size, C,
  // multiplier].
  Windows(const Node& node, std::size_t spatial, bool is_depthwise);

  // Fails with INVALID_ARGUMENT for shapes that do not go together.
  Geometry place(DimsView input, DimsView filter, Empty empty = Empty::refused) const;

  bool channels_first() const { return channels_first_; }
  std::size_t spatial() const { return spatial_; }
  bool is_depthwise() const { return is_depthwise_; }

 private:
  void check() const;
  void slide(Geometry& out, std::size_t axis, Empty empty) const;

  std::size_t spatial_;
  bool is_depthwise_;
  bool channels_first_;
  std::string padding_;
  Dims strides_;
  Dims dilations_;
  Dims explicit_;
};

// oneDNN's view of the tensors: [N, C, spatial] and [groups, count, depth, spatial], in the order
// that TensorFlow has them in memory.
Desc image(const Geometry& g, const Dims& spatial, std::int64_t channels, bool channels_first);
Desc filter(const Geometry& g, bool is_depthwise);
// The same, with an order of oneDNN's choice.
Desc free_filter(const Geometry& g);

}  // namespace drystone::cpu::dnnl_part

#endif  // DRYSTONE_CPU_DNNL_WINDOW_H_
