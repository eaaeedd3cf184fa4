// A region as values and the operations that compute them, in their order.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "attention.h"
#include "layers.h"
#include "moves.h"
#include "pointwise.h"
#include "rows.h"
#include "value.h"
#include "windows.h"

namespace drystone::gpu {

// Contents that are known when a region is compiled: small constants and what follows from shapes.
using Known = std::shared_ptr<const std::vector<std::byte>>;

struct Value {
  Type type = Type::none;
  Dims dims;
  int root = -1;        // the value whose memory this one is, under another shape
  int input = -1;       // which input of the region
  Type outside = Type::none;  // of the host's tensor, where it has another one
  bool invariant = false;  // constants and weights decide it: computed once, and when these change
  Known known;
};

// One for each instruction's operands; the result has the broadcast shape of all.
struct Elementwise {
  std::vector<Instruction> code;
  bool whole = false;
};
// Each input has a move; what no move writes is `fill`, if that is written at all.
struct Moves {
  std::vector<Move> parts;
  bool fills = false;
  std::uint64_t fill = 0;
};
struct Gathering {
  Gather gather;
};
struct OneHots {
  OneHot one_hot;
};
struct Mirroring {
  Mirror mirror;
};
struct Reducing {
  Reduction reduction;
};
// Inputs: x, and the mask where it has one.
struct Softmaxing {
  std::uint32_t count, length;
  bool logarithm;
  float factor = 1.0f;
  std::uint32_t repeats = 1;
};
// Inputs: x, scale and shift.
struct Normalizing {
  std::uint32_t count, length;
  float epsilon;
};
struct Extremes {
  Extreme extreme;
};
// Inputs: queries, keys, values, and the mask where it has one.
struct Attending {
  Attention attention;
};
struct Pools {
  Window window;
  Pooling pooling;
  bool with_edges;
};
// Inputs: the gradient, and for the largest the picture and the result.
struct PoolGradients {
  Window window;
  Pooling pooling;
};
// Inputs: the picture and the gradient.
struct FilterGradients {
  Window window;
  std::int32_t groups;
};
// What each place of a window sees, as rows.
struct Patches {
  Window window;
};
// Rows of `inner` elements added to that which a segment's number names; those below 0 are left out,
// or wrong where `all` must be there.
struct Segments {
  std::uint32_t count, inner;
  bool all;
};
struct Resizes {
  Resize resize;
  Resizing how;
};
// Inputs: two of the layer, then the bias and the residual, where it has them.
enum class LayerKind : std::uint8_t { product, convolution, depthwise, transposed };
struct Layer {
  LayerKind kind;
  Product product = {};
  Window window = {};
  std::int32_t groups = 1;
  std::int64_t channels = 0;  // of the result
  bool has_bias = false, has_residual = false;
  Activation activation = Activation::none;
  Activation before = Activation::none;  // of the picture of a depthwise convolution
};

using Detail = std::variant<Elementwise, Moves, Gathering, OneHots, Mirroring, Reducing, Softmaxing,
                            Normalizing, Extremes, Attending, Pools, PoolGradients,
                            FilterGradients, Patches, Segments, Resizes, Layer>;

struct Operation {
  Detail detail;
  std::vector<int> in;
  int out;
};

class Graph {
 public:
  std::vector<Value> values;
  std::vector<Operation> operations;

  int add_value(Type type, Dims dims);
  int add_constant(Type type, Dims dims, const void* data);
  // The result of an operation; computed at once where all its inputs are known and it is small.
  int add(Detail detail, std::vector<int> in, Type type, Dims dims);
  // The same elements under another shape.
  int reshaped(int value, Dims dims);

  const Value& at(int value) const { return values[static_cast<std::size_t>(value)]; }
  int root(int value) const;
  // Known whole numbers; Refused where they are not known.
  std::vector<std::int64_t> whole(int value) const;
  std::int64_t scalar(int value) const;

 private:
  bool fold(const Operation& operation);
};

// The work of one operation. `memory` has an address for each value; `pack`: as of
// Layers::convolution.
Work work_of(const Graph& graph, const Operation& operation, Stream& stream, Layers& layers,
             const std::vector<void*>& memory, Alarm alarm, Work* pack);

// The shape that all of these broadcast to; Refused where there is none.
Dims broadcast(const std::vector<Dims>& all);

}  // namespace drystone::gpu
