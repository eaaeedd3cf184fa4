// Ops that know shapes, or give elements another one.
#include "rules.h"

namespace drystone::gpu {
namespace {

void same(Building& b) { b.out[0] = b.in[0]; }

int known(Building& b, Type type, Dims dims, const std::vector<std::int64_t>& numbers) {
  std::vector<std::int64_t> bytes(numbers.size() + 1);
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    store(bytes.data(), type, static_cast<std::uint32_t>(k), numbers[k]);
  }
  return b.graph.add_constant(type, std::move(dims), bytes.data());
}

void shape(Building& b) {
  const Dims& dims = b.dims(0);
  b.out[0] =
      known(b, b.named_type("out_type", Type::i32), {static_cast<std::int64_t>(dims.size())}, dims);
}

void shapes(Building& b) {
  for (std::size_t k = 0; k < b.in.size(); ++k) {
    const Dims dims = b.dims(k);
    b.out[k] = known(b, b.named_type("out_type", Type::i32),
                     {static_cast<std::int64_t>(dims.size())}, dims);
  }
}

void size(Building& b) {
  b.out[0] = known(b, b.named_type("out_type", Type::i32), {}, {count_of(b.dims(0))});
}

void rank(Building& b) {
  b.out[0] = known(b, Type::i32, {}, {static_cast<std::int64_t>(b.dims(0).size())});
}

void reshape(Building& b) {
  Dims dims = b.graph.whole(b.in[1]);
  std::int64_t rest = 1;
  int open = -1;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (dims[k] >= 0) {
      rest *= dims[k];
    } else if (dims[k] != -1 || open >= 0) {
      throw Refused("a shape that cannot be");
    } else {
      open = static_cast<int>(k);
    }
  }
  if (open >= 0) {
    if (rest == 0) throw Refused("a shape that cannot be told");
    dims[static_cast<std::size_t>(open)] = count_of(b.dims(0)) / rest;
  }
  b.out[0] = b.graph.reshaped(b.in[0], std::move(dims));
}

void expand(Building& b) {
  Dims dims = b.dims(0);
  const int axis = axis_of(b.graph.scalar(b.in[1]), dims.size() + 1);
  dims.insert(dims.begin() + axis, 1);
  b.out[0] = b.graph.reshaped(b.in[0], std::move(dims));
}

void squeeze(Building& b) {
  const Dims& from = b.dims(0);
  std::vector<bool> gone(from.size(), false);
  const std::vector<std::int64_t> axes = b.integers("squeeze_dims");
  for (std::int64_t axis : axes) gone[static_cast<std::size_t>(axis_of(axis, from.size()))] = true;
  Dims dims;
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (gone[k] && from[k] != 1) throw Refused("Squeeze of more than one");
    if (axes.empty() ? from[k] != 1 : !gone[k]) dims.push_back(from[k]);
  }
  b.out[0] = b.graph.reshaped(b.in[0], std::move(dims));
}

void range(Building& b) {
  const std::int64_t begin = b.graph.scalar(b.in[0]), end = b.graph.scalar(b.in[1]);
  const std::int64_t step = b.graph.scalar(b.in[2]);
  if (step == 0) throw Refused("a Range that goes nowhere");
  std::vector<std::int64_t> numbers;
  for (std::int64_t k = begin; step > 0 ? k < end : k > end; k += step) {
    if (numbers.size() >= 65536) throw Refused("a long Range");
    numbers.push_back(k);
  }
  b.out[0] = known(b, b.type(0), {static_cast<std::int64_t>(numbers.size())}, numbers);
}

}  // namespace

std::vector<Rule> shape_rules() {
  return {
      {"Identity", same, kAny},      {"StopGradient", same, kAny},
      {"Snapshot", same, kAny},      {"PreventGradient", same, kAny},
      {"Shape", shape, kAny},        {"ShapeN", shapes, kAny},
      {"Size", size, kAny},          {"Rank", rank, kAny},
      {"Reshape", reshape, kAny, 2}, {"ExpandDims", expand, kAny, 2},
      {"Squeeze", squeeze, kAny},    {"Range", range, kWhole, 7},
  };
}

}  // namespace drystone::gpu
