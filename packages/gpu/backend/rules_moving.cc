// Ops that move elements.
#include <algorithm>
#include <numeric>

#include "moving.h"

namespace drystone::gpu {

Move move_of(const Dims& dims, const std::vector<std::int64_t>& from,
             const std::vector<std::int64_t>& to, std::int64_t from_first, std::int64_t to_first) {
  Move move;
  move.from_first = static_cast<std::int32_t>(from_first);
  move.to_first = static_cast<std::int32_t>(to_first);
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (dims[k] == 1) continue;
    const int last = move.rank - 1;
    if (last >= 0 && move.from[last] == from[k] * dims[k] && move.to[last] == to[k] * dims[k]) {
      move.dims[last] *= static_cast<std::uint32_t>(dims[k]);
      move.from[last] = static_cast<std::int32_t>(from[k]);
      move.to[last] = static_cast<std::int32_t>(to[k]);
      continue;
    }
    if (move.rank == kMoveRank) throw Refused("too many dimensions");
    move.dims[move.rank] = static_cast<std::uint32_t>(dims[k]);
    move.from[move.rank] = static_cast<std::int32_t>(from[k]);
    move.to[move.rank++] = static_cast<std::int32_t>(to[k]);
  }
  return move;
}

int moved(Building& b, int value, const Move& move, const Dims& dims) {
  const bool is_all = count_of(b.graph.at(value).dims) == count_of(dims) && move.from_first == 0;
  if (is_all && (move.rank == 0 || (move.rank == 1 && move.from[0] == 1)))
    return b.graph.reshaped(value, dims);
  Moves detail;
  detail.parts.push_back(move);
  return b.graph.add(std::move(detail), {value}, b.graph.at(value).type, dims);
}

int spread(Building& b, int value, const Dims& dims) {
  const Dims from = b.graph.at(value).dims;
  if (broadcast({from, dims}) != dims) throw Refused("shapes that do not broadcast");
  std::vector<std::int64_t> walk = strides_of(from);
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (from[k] == 1) walk[k] = 0;
  }
  walk.insert(walk.begin(), dims.size() - from.size(), 0);
  return moved(b, value, move_of(dims, walk, strides_of(dims)), dims);
}

int turned(Building& b, int value, const std::vector<std::int64_t>& order) {
  const Dims from = b.graph.at(value).dims;
  const std::vector<std::int64_t> strides = strides_of(from);
  std::vector<bool> seen(from.size(), false);
  if (order.size() != from.size()) throw Refused("a permutation of other size");
  Dims dims;
  std::vector<std::int64_t> walk;
  for (std::int64_t axis : order) {
    const auto k = static_cast<std::size_t>(axis_of(axis, from.size()));
    if (seen[k]) throw Refused("a permutation in which a dimension comes twice");
    seen[k] = true;
    dims.push_back(from[k]);
    walk.push_back(strides[k]);
  }
  return moved(b, value, move_of(dims, walk, strides_of(dims)), dims);
}

namespace {

void transpose(Building& b) { b.out[0] = turned(b, b.in[0], b.graph.whole(b.in[1])); }

// A part of the input, `step` apart, from `first` on.
int part(Building& b, const Dims& first, const Dims& step, const Dims& dims) {
  std::vector<std::int64_t> walk = strides_of(b.dims(0));
  std::int64_t offset = 0;
  for (std::size_t k = 0; k < walk.size(); ++k) {
    offset += first[k] * walk[k];
    walk[k] *= step[k];
  }
  return moved(b, b.in[0], move_of(dims, walk, strides_of(dims), offset), dims);
}

void slice(Building& b) {
  const Dims& from = b.dims(0);
  const std::vector<std::int64_t> first = b.graph.whole(b.in[1]);
  std::vector<std::int64_t> sizes = b.graph.whole(b.in[2]);
  if (first.size() != from.size() || sizes.size() != from.size())
    throw Refused("a Slice of other rank");
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (sizes[k] == -1) sizes[k] = from[k] - first[k];
    if (first[k] < 0 || sizes[k] < 0 || first[k] + sizes[k] > from[k]) {
      throw Refused("a Slice beyond the tensor");
    }
  }
  b.out[0] = part(b, first, Dims(from.size(), 1), sizes);
}

// What a StridedSlice's masks and numbers say, dimension by dimension.
struct Strided {
  Dims first, step, sizes, shown;  // of the input; `shown` is the result's shape

  Strided(const Building& b, const Dims& from) {
    const auto begin = b.numbers(1), end = b.numbers(2), steps = b.numbers(3);
    if (begin.size() != end.size() || begin.size() != steps.size())
      throw Refused("a StridedSlice whose begin, end and strides are not as long");
    const std::int64_t ellipsis = b.integer("ellipsis_mask", 0),
                       added = b.integer("new_axis_mask", 0);
    std::size_t fixed = 0;
    bool open = false;
    for (std::size_t k = 0; k < begin.size(); ++k) {
      if (ellipsis >> k & 1) {
        open = true;
      } else if (!(added >> k & 1)) {
        ++fixed;
      }
    }
    if (fixed > from.size()) throw Refused("a StridedSlice of too many dimensions");
    for (std::size_t k = 0; k < begin.size(); ++k) {
      if (ellipsis >> k & 1) {
        for (std::size_t rest = from.size() - fixed; rest > 0; --rest) all(from);
      } else if (added >> k & 1) {
        shown.push_back(1);
      } else {
        one(b, from[first.size()], k, begin[k], end[k], steps[k]);
      }
    }
    if (!open) {
      while (first.size() < from.size()) all(from);
    }
  }

 private:
  void all(const Dims& from) {
    const std::int64_t size = from[first.size()];
    first.push_back(0);
    step.push_back(1);
    sizes.push_back(size);
    shown.push_back(size);
  }

  void one(const Building& b, std::int64_t size, std::size_t k, std::int64_t begin,
           std::int64_t end, std::int64_t by) {
    if (by == 0) throw Refused("a StridedSlice that goes nowhere");
    if (b.integer("shrink_axis_mask", 0) >> k & 1) {
      const std::int64_t at = begin < 0 ? begin + size : begin;
      if (at < 0 || at >= size || by < 0) throw Refused("an index out of range");
      first.push_back(at);
      step.push_back(1);
      sizes.push_back(1);
      return;
    }
    const std::int64_t low = by > 0 ? 0 : -1, high = by > 0 ? size : size - 1;
    const auto placed = [&](std::int64_t at) {
      return std::clamp(at < 0 ? at + size : at, low, high);
    };
    const std::int64_t from =
        b.integer("begin_mask", 0) >> k & 1 ? (by > 0 ? low : high) : placed(begin);
    const std::int64_t to = b.integer("end_mask", 0) >> k & 1 ? (by > 0 ? high : low) : placed(end);
    const std::int64_t count = by > 0 ? (to - from + by - 1) / by : (from - to - by - 1) / -by;
    first.push_back(from);
    step.push_back(by);
    sizes.push_back(std::max<std::int64_t>(count, 0));
    shown.push_back(sizes.back());
  }
};

void strided_slice(Building& b) {
  const Dims from = b.dims(0);
  const Strided all(b, from);
  const int found = part(b, all.first, all.step, all.sizes);
  b.out[0] = b.graph.reshaped(found, all.shown);
}

// What a StridedSlice's result is the gradient of: zeros, but for the places that it took.
void strided_slice_grad(Building& b) {
  const Dims dims = b.graph.whole(b.in[0]);
  const Strided all(b, dims);
  if (all.shown != b.dims(4)) throw Refused("a gradient of other shape");
  std::vector<std::int64_t> walk = strides_of(dims);
  std::int64_t offset = 0;
  for (std::size_t k = 0; k < walk.size(); ++k) {
    offset += all.first[k] * walk[k];
    walk[k] *= all.step[k];
  }
  Moves detail;
  detail.fills = true;
  detail.parts.push_back(move_of(all.sizes, strides_of(all.sizes), walk, 0, offset));
  b.out[0] = b.graph.add(std::move(detail), {b.in[4]}, b.type(4), dims);
}

// `parts` next to one another along an axis.
int together(Building& b, const std::vector<int>& parts, std::size_t axis) {
  Dims dims = b.graph.at(parts[0]).dims;
  dims[axis] = 0;
  for (int k : parts) dims[axis] += b.graph.at(k).dims[axis];
  const std::vector<std::int64_t> to = strides_of(dims);
  Moves detail;
  std::int64_t at = 0;
  for (int k : parts) {
    const Dims& own = b.graph.at(k).dims;
    for (std::size_t j = 0; j < own.size(); ++j) {
      if (j != axis && own[j] != dims[j]) throw Refused("parts of other shapes");
    }
    detail.parts.push_back(move_of(own, strides_of(own), to, 0, at * to[axis]));
    at += own[axis];
  }
  return b.graph.add(std::move(detail), parts, b.graph.at(parts[0]).type, dims);
}

void concat(Building& b) {
  const bool in_front = b.op() == "Concat";
  const std::int64_t axis = b.graph.scalar(in_front ? b.in.front() : b.in.back());
  const std::vector<int> parts(b.in.begin() + in_front, b.in.end() - !in_front);
  const std::size_t rank = b.graph.at(parts[0]).dims.size();
  for (int k : parts) {
    if (b.graph.at(k).dims.size() != rank) throw Refused("parts of other ranks");
  }
  b.out[0] = together(b, parts, static_cast<std::size_t>(axis_of(axis, rank)));
}

void pack(Building& b) {
  Dims dims = b.dims(0);
  const int axis = axis_of(b.integer("axis", 0), dims.size() + 1);
  dims.insert(dims.begin() + axis, 1);
  std::vector<int> parts;
  for (std::size_t k = 0; k < b.in.size(); ++k) {
    if (b.dims(k) != b.dims(0)) throw Refused("parts of other shapes");
    parts.push_back(b.graph.reshaped(b.in[k], dims));
  }
  b.out[0] = together(b, parts, static_cast<std::size_t>(axis));
}

// Parts of these sizes of input `data`, one for each output.
void split_by(Building& b, std::size_t data, std::int64_t axis, const Dims& sizes, bool squeezes) {
  const Dims from = b.dims(data);
  const auto along = static_cast<std::size_t>(axis_of(axis, from.size()));
  if (std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) != from[along] ||
      sizes.size() != b.out.size()) {
    throw Refused("a Split of other size");
  }
  const std::vector<std::int64_t> walk = strides_of(from);
  std::int64_t at = 0;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    Dims dims = from;
    dims[along] = sizes[k];
    const Move move = move_of(dims, walk, strides_of(dims), at * walk[along]);
    b.out[k] = moved(b, b.in[data], move, dims);
    at += sizes[k];
    if (!squeezes) continue;
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(along));
    b.out[k] = b.graph.reshaped(b.out[k], dims);
  }
}

void split(Building& b) {
  const std::int64_t axis = b.graph.scalar(b.in[0]);
  const auto count = static_cast<std::int64_t>(b.out.size());
  const std::int64_t size = b.dims(1)[static_cast<std::size_t>(axis_of(axis, b.dims(1).size()))];
  if (size % count != 0) throw Refused("a Split that leaves a rest");
  split_by(b, 1, axis, Dims(b.out.size(), size / count), false);
}

void split_v(Building& b) {
  Dims sizes = b.graph.whole(b.in[1]);
  const std::int64_t axis = b.graph.scalar(b.in[2]);
  const std::int64_t all = b.dims(0)[static_cast<std::size_t>(axis_of(axis, b.dims(0).size()))];
  const std::int64_t rest = std::accumulate(
      sizes.begin(), sizes.end(), all,
      [](std::int64_t left, std::int64_t size) { return size < 0 ? left : left - size; });
  for (std::int64_t& size : sizes) {
    if (size < 0) size = rest;
  }
  split_by(b, 0, axis, sizes, false);
}

void unpack(Building& b) { split_by(b, 0, b.integer("axis", 0), Dims(b.out.size(), 1), true); }

void broadcast_to(Building& b) { b.out[0] = spread(b, b.in[0], b.graph.whole(b.in[1])); }

void tile(Building& b) {
  const Dims times = b.graph.whole(b.in[1]);
  const Dims& from = b.dims(0);
  if (times.size() != from.size()) throw Refused("a Tile of other rank");
  Dims dims, shown;
  std::vector<std::int64_t> walk;
  const std::vector<std::int64_t> strides = strides_of(from);
  for (std::size_t k = 0; k < from.size(); ++k) {
    dims.insert(dims.end(), {times[k], from[k]});
    walk.insert(walk.end(), {0, strides[k]});
    shown.push_back(times[k] * from[k]);
  }
  b.out[0] = moved(b, b.in[0], move_of(dims, walk, strides_of(dims)), shown);
}

void reverse(Building& b) {
  const Dims& from = b.dims(0);
  Dims first(from.size(), 0), step(from.size(), 1);
  for (std::int64_t axis : b.graph.whole(b.in[1])) {
    const auto k = static_cast<std::size_t>(axis_of(axis, from.size()));
    if (step[k] < 0 && count_of(from) != 0) throw Refused("an axis that comes twice");
    first[k] = from[k] - 1;
    step[k] = -1;
  }
  if (count_of(from) == 0) first.assign(from.size(), 0);
  b.out[0] = part(b, first, step, Dims(from));
}

void pad(Building& b) {
  const Dims& from = b.dims(0);
  const std::vector<std::int64_t> around = b.graph.whole(b.in[1]);
  if (around.size() != 2 * from.size()) throw Refused("padding of other rank");
  Dims dims = from;
  for (std::size_t k = 0; k < from.size(); ++k) dims[k] += around[2 * k] + around[2 * k + 1];
  if (std::any_of(around.begin(), around.end(), [](std::int64_t size) { return size < 0; })) {
    throw Refused("padding below 0");
  }
  const std::vector<std::int64_t> to = strides_of(dims);
  std::int64_t first = 0;
  for (std::size_t k = 0; k < from.size(); ++k) first += around[2 * k] * to[k];
  Moves detail;
  detail.fills = true;
  if (b.op() == "PadV2") {
    const Known& value = b.value(2).known;
    if (value == nullptr || value->size() != size_of(b.type(0))) {
      throw Refused("padding with a computed value");
    }
    std::memcpy(&detail.fill, value->data(), value->size());
  }
  detail.parts.push_back(move_of(from, strides_of(from), to, 0, first));
  b.out[0] = b.graph.add(std::move(detail), {b.in[0]}, b.type(0), dims);
}

void mirror_pad(Building& b) {
  const Dims& from = b.dims(0);
  const std::vector<std::int64_t> around = b.graph.whole(b.in[1]);
  if (from.size() > kMoveRank || around.size() != 2 * from.size())
    throw Refused("a MirrorPad of other rank");
  Mirroring detail = {};
  detail.mirror.rank = static_cast<int>(from.size());
  detail.mirror.edge = b.text("mode", "") == "SYMMETRIC" ? 1 : 0;
  Dims dims = from;
  for (std::size_t k = 0; k < from.size(); ++k) {
    const std::int64_t most = from[k] - (detail.mirror.edge == 1 ? 0 : 1);
    const auto [least, largest] = std::minmax(around[2 * k], around[2 * k + 1]);
    if (least < 0 || largest > most) throw Refused("more padding than there is");
    dims[k] += around[2 * k] + around[2 * k + 1];
    detail.mirror.dims[k] = static_cast<std::uint32_t>(dims[k]);
    detail.mirror.inside[k] = static_cast<std::uint32_t>(from[k]);
    detail.mirror.before[k] = static_cast<std::uint32_t>(around[2 * k]);
  }
  b.out[0] = b.graph.add(detail, {b.in[0]}, b.type(0), dims);
}

void fill(Building& b) {
  const Dims dims = b.numbers(0);
  const Dims none(dims.size(), 0);
  if (!b.dims(1).empty()) throw Refused("Fill with more than a number");
  b.out[0] = moved(b, b.in[1], move_of(dims, none, strides_of(dims)), dims);
}

void alike(Building& b) {
  const int one = b.number(b.type(0), b.op() == "OnesLike" ? 1.0 : 0.0);
  const Dims dims = b.dims(0), none(dims.size(), 0);
  b.out[0] = moved(b, one, move_of(dims, none, strides_of(dims)), dims);
}

}  // namespace

// params, indices and, of GatherV2, the axis
void gather_rows(Building& b) {
  const Dims& from = b.dims(0);
  const Dims& places = b.dims(1);
  const std::int64_t told = b.integer("batch_dims", 0);
  const auto batch = static_cast<std::size_t>(
      told < 0 ? told + static_cast<std::int64_t>(places.size()) : told);
  if (batch > places.size() || batch >= from.size() ||
      !std::equal(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(batch), places.begin())) {
    throw Refused("batch_dims of no such dimensions");
  }
  const std::int64_t named = b.in.size() > 2 ? b.graph.scalar(b.in[2]) : static_cast<std::int64_t>(batch);
  const auto axis = static_cast<std::size_t>(axis_of(named, from.size()));
  if (axis < batch || (from[axis] == 0 && count_of(places) != 0))
    throw Refused("an axis that cannot be gathered along");
  const auto product = [](auto begin, auto end) {
    std::int64_t all = 1;
    for (; begin != end; ++begin) all *= *begin;
    return static_cast<std::uint32_t>(all);
  };
  const auto at = [](const Dims& dims, std::size_t k) {
    return dims.begin() + static_cast<std::ptrdiff_t>(k);
  };
  Gathering detail = {};
  detail.gather.batches = product(from.begin(), at(from, batch));
  detail.gather.outer = product(at(from, batch), at(from, axis));
  detail.gather.places = static_cast<std::uint32_t>(from[axis]);
  detail.gather.indices = product(at(places, batch), places.end());
  detail.gather.inner = product(at(from, axis + 1), from.end());
  Dims dims(from.begin(), at(from, axis));
  dims.insert(dims.end(), at(places, batch), places.end());
  dims.insert(dims.end(), at(from, axis + 1), from.end());
  b.out[0] = b.graph.add(detail, {b.in[0], b.in[1]}, b.type(0), dims);
}

namespace {

void one_hot(Building& b) {
  Dims dims = b.dims(0);
  const std::int64_t depth = b.one_number(1), named = b.integer("axis", -1);
  if (named < -1 || !b.dims(2).empty() || !b.dims(3).empty()) throw Refused("OneHot of other shape");
  const auto axis = static_cast<std::size_t>(axis_of(named, dims.size() + 1));
  if (depth < 0 || b.type(0) == Type::u8) throw Refused("OneHot of no depth");
  OneHots detail = {};
  detail.one_hot.depth = static_cast<std::uint32_t>(depth);
  detail.one_hot.inner = 1;
  for (std::size_t k = axis; k < dims.size(); ++k) {
    detail.one_hot.inner *= static_cast<std::uint32_t>(dims[k]);
  }
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), depth);
  b.out[0] = b.graph.add(detail, {b.in[0], b.in[2], b.in[3]}, b.type(2), dims);
}

// Blocks of channels become blocks of places, or the other way round.
void blocks(Building& b) {
  const Dims& from = b.dims(0);
  const std::int64_t size = b.integer("block_size", 1);
  if (from.size() != 4 || size < 1) throw Refused("no pictures");
  const bool apart = b.op() == "DepthToSpace";
  const std::int64_t n = from[0], h = from[1], w = from[2], c = from[3];
  if (apart ? c % (size * size) != 0 : h % size != 0 || w % size != 0)
    throw Refused("blocks that leave a rest");
  const Dims inner = apart ? Dims{n, h, w, size, size, c / size / size}
                           : Dims{n, h / size, size, w / size, size, c};
  const std::vector<std::int64_t> strides = strides_of(inner);
  Dims dims;
  std::vector<std::int64_t> walk;
  for (std::size_t k : {0, 1, 3, 2, 4, 5}) {
    dims.push_back(inner[k]);
    walk.push_back(strides[k]);
  }
  const Dims shown = apart ? Dims{n, h * size, w * size, c / size / size}
                           : Dims{n, h / size, w / size, c * size * size};
  b.out[0] = moved(b, b.in[0], move_of(dims, walk, strides_of(dims)), shown);
}

std::string nhwc_alone(const sdk::NodeView& node) {
  const auto format = node.attr("data_format").string();
  return format.has_value() && *format != "NHWC" ? "channels in front" : "";
}

}  // namespace

std::vector<Rule> moving_rules() {
  return {
      {"Transpose", transpose, kAny, 2},
      {"Slice", slice, kAny, 6},
      {"StridedSlice", strided_slice, kAny, 14},
      {"StridedSliceGrad", strided_slice_grad, kAny, 15},
      {"Concat", concat, kAny, 1},
      {"ConcatV2", concat, kAny, kLast},
      {"Pack", pack, kAny},
      {"Split", split, kAny, 1},
      {"SplitV", split_v, kAny, 6},
      {"Unpack", unpack, kAny},
      {"BroadcastTo", broadcast_to, kAny, 2},
      {"Tile", tile, kAny, 2},
      {"ReverseV2", reverse, kAny, 2},
      {"Pad", pad, kAny, 2},
      {"PadV2", pad, kAny, 6},
      {"MirrorPad", mirror_pad, kAny, 2},
      {"Fill", fill, kAny, 1},
      {"ZerosLike", alike, kAny},
      {"OnesLike", alike, kAny},
      {"Gather", gather_rows, kAny},
      {"GatherV2", gather_rows, kAny, 4},
      {"OneHot", one_hot, kAny, 2},
      {"DepthToSpace", blocks, kAny, 0, nhwc_alone},
      {"SpaceToDepth", blocks, kAny, 0, nhwc_alone},
  };
}

}  // namespace drystone::gpu
