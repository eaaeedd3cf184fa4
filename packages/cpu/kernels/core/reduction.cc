// Reductions over axes: see core/reduction.h.
#include "core/reduction.h"

#include <algorithm>

namespace drystone::cpu {
namespace {

constexpr std::int64_t kChunk = 1 << 15;   // elements of one run that are folded at once
constexpr std::int64_t kRows = 1024;       // rows that are folded at once
constexpr std::int64_t kColumns = 2048;    // columns of which states are kept near
constexpr std::int64_t kNarrow = 32;       // rows shorter than this are taken several at a time
constexpr std::int64_t kTogether = 64;     // elements of several rows
constexpr std::int64_t kShort = 1024;      // runs up to this are added up before they are folded

std::int64_t offset_of(const std::vector<Walk>& walks, std::int64_t index) {
  std::int64_t out = 0;
  for (std::size_t k = walks.size(); k-- > 0;) {
    out += index % walks[k].dim * walks[k].stride;
    index /= walks[k].dim;
  }
  return out;
}

const char* at(const void* base, std::int64_t index, std::size_t size) {
  return static_cast<const char*>(base) + index * static_cast<std::int64_t>(size);
}
char* at(void* base, std::int64_t index, std::size_t size) {
  return static_cast<char*>(base) + index * static_cast<std::int64_t>(size);
}

// The first of `count` lists of `width` states takes in the others, in pairs.
void join_all(const Fold& fold, void* states, std::int64_t count, std::int64_t width) {
  while (count > 1) {
    const std::int64_t half = (count + 1) / 2;
    fold.join(states, at(states, half * width, fold.state_size), (count - half) * width);
    count = half;
  }
}

// Rows that are shorter than a vector register, one after the other in memory.
void narrow_rows(const Fold& fold, const char* x, std::int64_t rows, std::int64_t width,
                 void* states) {
  alignas(64) char room[kTogether * 16];
  const std::int64_t together = kTogether / width;
  const std::int64_t wide = together * width;
  const std::int64_t turns = rows / together;
  fold.clear(room, wide);
  fold.rows(x, wide, turns, wide, room);
  join_all(fold, room, together, width);
  fold.join(states, room, width);
  const std::int64_t done = turns * together;
  fold.rows(at(x, done * width, fold.in_size), width, rows - done, width, states);
}

struct Block {
  std::int64_t first_row, last_row, first_column, last_column;
};

// States of some columns over some rows, of the outputs from `base` on.
void fold_block(const Fold& fold, const Reduction& shape, const char* base, const Block& block,
                void* states) {
  const std::int64_t width = block.last_column - block.first_column;
  fold.clear(states, width);
  const std::int64_t inner = shape.reduced.empty() ? 1 : shape.reduced.back().dim;
  for (std::int64_t row = block.first_row; row < block.last_row;) {
    const std::int64_t count = std::min(block.last_row - row, inner - row % inner);
    const char* x = at(base, offset_of(shape.reduced, row) + block.first_column, fold.in_size);
    if (shape.width < kNarrow && count >= kTogether) {
      narrow_rows(fold, x, count, width, states);
    } else {
      fold.rows(x, shape.width, count, width, states);
    }
    row += count;
  }
}

void reduce_columns(Call& call, const Fold& fold, const Reduction& shape, const char* x,
                    void* states) {
  // Narrow rows are few elements: more of them at once.
  const std::int64_t chunk = std::max(kRows, kChunk / shape.width);
  const std::int64_t chunks = (shape.rows + chunk - 1) / chunk;
  const std::int64_t blocks = (shape.width + kColumns - 1) / kColumns;
  void* parts = states;
  if (chunks > 1) {
    const auto size = static_cast<std::int64_t>(fold.state_size);
    parts = call.scratch<char>(chunks * shape.outer * shape.width * size);
  }
  const std::int64_t size = std::min(shape.rows, chunk) * std::min(shape.width, kColumns);
  parallel(shape.outer * chunks * blocks, 1 + size / 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t column = item % blocks * kColumns;
      const std::int64_t part = item / blocks % chunks;
      const std::int64_t outer = item / blocks / chunks;
      const Block block = {part * chunk, std::min((part + 1) * chunk, shape.rows), column,
                           std::min(column + kColumns, shape.width)};
      const std::int64_t place = (part * shape.outer + outer) * shape.width + column;
      fold_block(fold, shape, at(x, offset_of(shape.kept, outer), fold.in_size), block,
                 at(parts, place, fold.state_size));
    }
  });
  if (chunks == 1) return;
  join_all(fold, parts, chunks, shape.outer * shape.width);
  fold.clear(states, shape.outer * shape.width);
  fold.join(states, parts, shape.outer * shape.width);
}

// One state of several runs. Short ones become one run first, element by element: to fold each takes
// longer than to read it.
class Runs {
 public:
  Runs(const Fold& fold, const Reduction& shape)
      : fold_(fold), shape_(shape), short_(shape.run <= kShort && shape.rows >= 4) {}

  void fold(const char* base, void* state) {
    fold_.clear(state, 1);
    const std::int64_t step = short_ ? shape_.reduced.back().dim : 1;
    for (std::int64_t row = 0; row < shape_.rows; row += step) {
      const char* x = at(base, offset_of(shape_.reduced, row), fold_.in_size);
      if (short_) {
        add_up(x, state);
      } else {
        fold_.runs(x, shape_.run, 1, room_);
        fold_.join(state, room_, 1);
      }
    }
  }

 private:
  void add_up(const char* x, void* state) {
    const auto [rows, stride] = shape_.reduced.back();
    for (std::int64_t row = 0; row < rows; row += kRows) {
      fold_.clear(room_, shape_.run);
      const char* from = at(x, row * stride, fold_.in_size);
      fold_.rows(from, stride, std::min(kRows, rows - row), shape_.run, room_);
      join_all(fold_, room_, shape_.run, 1);
      fold_.join(state, room_, 1);
    }
  }

  const Fold& fold_;
  const Reduction& shape_;
  const bool short_;
  alignas(64) char room_[kShort * 16];
};

void reduce_runs(const Fold& fold, const Reduction& shape, const char* x, void* states) {
  parallel(shape.outer, 1 + shape.each / 8, [&](std::int64_t begin, std::int64_t end) {
    if (shape.rows == 1) {
      fold.runs(at(x, begin * shape.run, fold.in_size), shape.run, end - begin,
                at(states, begin, fold.state_size));
      return;
    }
    Runs runs(fold, shape);
    for (std::int64_t k = begin; k < end; ++k) {
      const char* base = at(x, offset_of(shape.kept, k), fold.in_size);
      runs.fold(base, at(states, k, fold.state_size));
    }
  });
}

}  // namespace

std::vector<bool> reduced_axes(const Tensor& axes, int rank) {
  std::vector<bool> out(static_cast<std::size_t>(rank), false);
  for (std::int64_t k = 0; k < axes.count(); ++k) {
    const std::int64_t axis =
        axes.dtype() == TF_INT32 ? axes.as<std::int32_t>()[k] : axes.as<std::int64_t>()[k];
    if (axis < -rank || axis >= rank) {
      fail(TF_INVALID_ARGUMENT, "axis " + std::to_string(axis) + " is none of a tensor with " +
                                    std::to_string(rank) + " dimensions");
    }
    const auto place = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    if (out[place]) fail(TF_INVALID_ARGUMENT, "axis " + std::to_string(place) + " is named twice");
    out[place] = true;
  }
  return out;
}

Reduction reduction(DimsView dims, const std::vector<bool>& reduced, bool keep_dims) {
  Reduction out;
  std::vector<std::pair<bool, std::int64_t>> groups;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (!reduced[k]) out.out.push_back(dims[k]);
    if (reduced[k] && keep_dims) out.out.push_back(1);
  }
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) {
    out.each = 0;  // nothing to walk, and products of the other dims may be too large
    return out;
  }
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (reduced[k]) out.each *= dims[k];
    if (dims[k] == 1) continue;
    if (!groups.empty() && groups.back().first == reduced[k]) {
      groups.back().second *= dims[k];
    } else {
      groups.emplace_back(reduced[k], dims[k]);
    }
  }
  if (groups.empty()) return out;
  std::int64_t stride = groups.back().second;
  (groups.back().first ? out.run : out.width) = stride;
  groups.pop_back();
  for (std::size_t k = groups.size(); k-- > 0;) {
    const auto [is_reduced, dim] = groups[k];
    (is_reduced ? out.reduced : out.kept).push_back({dim, stride});
    (is_reduced ? out.rows : out.outer) *= dim;
    stride *= dim;
  }
  std::reverse(out.kept.begin(), out.kept.end());
  std::reverse(out.reduced.begin(), out.reduced.end());
  return out;
}

void reduce_all(Call& call, const Fold& fold, const void* x, std::int64_t count, void* state) {
  if (count <= kChunk) {
    fold.runs(x, count, 1, state);
    return;
  }
  const std::int64_t chunks = (count + kChunk - 1) / kChunk;
  char* parts = call.scratch<char>(chunks * static_cast<std::int64_t>(fold.state_size));
  parallel(chunks, kChunk / 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      fold.runs(at(x, k * kChunk, fold.in_size), std::min(kChunk, count - k * kChunk), 1,
                at(parts, k, fold.state_size));
    }
  });
  join_all(fold, parts, chunks, 1);
  fold.clear(state, 1);
  fold.join(state, parts, 1);
}

void reduce(Call& call, const Fold& fold, const Tensor& x, const Reduction& shape) {
  const Tensor out = call.output(0, shape.out);
  const std::int64_t count = out.count();
  if (count == 0) return;
  void* states = out.write<char>();
  if (!fold.in_place) {
    states = call.scratch<char>(count * static_cast<std::int64_t>(fold.state_size));
  }
  const char* data = x.as<char>();
  if (x.count() == 0) {
    fold.clear(states, count);
  } else if (shape.width > 1) {
    reduce_columns(call, fold, shape, data, states);
  } else if (shape.outer == 1) {
    reduce_all(call, fold, data, x.count(), states);
  } else {
    reduce_runs(fold, shape, data, states);
  }
  fold.finish(out.write<char>(), states, count, shape.each);
}

}  // namespace drystone::cpu
