// Moving elements between layouts: see core/moving.h.
#include "core/moving.h"

#include "drystone/tstring.h"

#include <algorithm>
#include <cstring>

namespace drystone::cpu {
namespace {

constexpr int kMostDims = 64;
constexpr std::int64_t kTile = 32;  // elements: a tile of each side stays in the nearest cache

// The dims of a box that matter: none of size 1, neighbours that both layouts walk alike merged.
struct Box {
  int rank = 0;
  std::int64_t dims[kMostDims];
  std::int64_t out[kMostDims];
  std::int64_t in[kMostDims];
  std::int64_t size = 0;  // bytes of an element

  void push(std::int64_t dim, std::int64_t out_step, std::int64_t in_step) {
    if (rank > 0 && out[rank - 1] == out_step * dim && in[rank - 1] == in_step * dim) {
      dims[rank - 1] *= dim;
      out[rank - 1] = out_step;
      in[rank - 1] = in_step;
      return;
    }
    if (rank == kMostDims) fail(TF_UNIMPLEMENTED, "a tensor of so many dimensions cannot be moved");
    dims[rank] = dim;
    out[rank] = out_step;
    in[rank] = in_step;
    ++rank;
  }
  void remove(int k) {
    --rank;
    std::copy(dims + k + 1, dims + rank + 1, dims + k);
    std::copy(out + k + 1, out + rank + 1, out + k);
    std::copy(in + k + 1, in + rank + 1, in + k);
  }
  bool dense(int k) const { return out[k] == size && in[k] == size; }
};

// Where a row of the outer dims begins, in bytes.
class Walk {
 public:
  Walk(const Box& box, int outer, std::int64_t row) : box_(box), outer_(outer) {
    for (int k = outer; k-- > 0;) {
      at_[k] = row % box.dims[k];
      row /= box.dims[k];
      out += at_[k] * box.out[k];
      in += at_[k] * box.in[k];
    }
  }
  void next() {
    for (int k = outer_; k-- > 0;) {
      out += box_.out[k];
      in += box_.in[k];
      if (++at_[k] < box_.dims[k]) return;
      out -= box_.out[k] * box_.dims[k];
      in -= box_.in[k] * box_.dims[k];
      at_[k] = 0;
    }
  }
  std::int64_t out = 0;
  std::int64_t in = 0;

 private:
  const Box& box_;
  int outer_;
  std::int64_t at_[kMostDims];
};

std::int64_t rows_of(const Box& box, int outer) {
  std::int64_t rows = 1;
  for (int k = 0; k < outer; ++k) rows *= box.dims[k];
  return rows;
}

// Rows whose elements lie side by side in both layouts.
void move_rows(const Box& box, char* out, const char* in) {
  const int outer = box.rank - 1;
  const std::int64_t bytes = box.dims[outer] * box.size;
  parallel(rows_of(box, outer), 4 + bytes / 8, [&](std::int64_t begin, std::int64_t end) {
    Walk walk(box, outer, begin);
    for (std::int64_t row = begin; row < end; ++row, walk.next()) {
      std::memcpy(out + walk.out, in + walk.in, static_cast<std::size_t>(bytes));
    }
  });
}

template <class E>
void move_row(char* out, std::int64_t out_step, const char* in, std::int64_t in_step,
              std::int64_t n) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(E));
  if (out_step == kSize && in_step == 0) {
    const E value = *reinterpret_cast<const E*>(in);
    std::fill_n(reinterpret_cast<E*>(out), n, value);
  } else if (out_step == kSize) {
    for (std::int64_t k = 0; k < n; ++k) {
      *reinterpret_cast<E*>(out + k * kSize) = *reinterpret_cast<const E*>(in + k * in_step);
    }
  } else {
    for (std::int64_t k = 0; k < n; ++k) {
      *reinterpret_cast<E*>(out + k * out_step) = *reinterpret_cast<const E*>(in + k * in_step);
    }
  }
}

template <class E>
void move_elements(const Box& box, char* out, const char* in) {
  const int outer = box.rank - 1;
  const std::int64_t n = box.dims[outer];
  parallel(rows_of(box, outer), 4 + n, [&](std::int64_t begin, std::int64_t end) {
    Walk walk(box, outer, begin);
    for (std::int64_t row = begin; row < end; ++row, walk.next()) {
      move_row<E>(out + walk.out, box.out[outer], in + walk.in, box.in[outer], n);
    }
  });
}

// Rows of kSide elements become columns.
template <class E, std::int64_t kSide>
void turn_block(char* out, std::int64_t out_step, const char* in, std::int64_t in_step) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(E));
  E block[kSide][kSide];
  for (std::int64_t i = 0; i < kSide; ++i) {
    std::memcpy(block[i], in + i * in_step, sizeof(block[i]));
  }
  for (std::int64_t j = 0; j < kSide; ++j) {
    E row[kSide];
    for (std::int64_t i = 0; i < kSide; ++i) row[i] = block[i][j];
    std::memcpy(out + j * out_step, row, static_cast<std::size_t>(kSide * kSize));
  }
}

// The same for four by four elements of 4 bytes, in registers.
void turn_four(char* out, std::int64_t out_step, const char* in, std::int64_t in_step) {
  typedef std::uint32_t Four __attribute__((vector_size(16)));
  Four row[4];
  for (std::int64_t i = 0; i < 4; ++i) std::memcpy(&row[i], in + i * in_step, sizeof(Four));
  const Four low_a = __builtin_shufflevector(row[0], row[1], 0, 4, 1, 5);
  const Four low_b = __builtin_shufflevector(row[2], row[3], 0, 4, 1, 5);
  const Four high_a = __builtin_shufflevector(row[0], row[1], 2, 6, 3, 7);
  const Four high_b = __builtin_shufflevector(row[2], row[3], 2, 6, 3, 7);
  row[0] = __builtin_shufflevector(low_a, low_b, 0, 1, 4, 5);
  row[1] = __builtin_shufflevector(low_a, low_b, 2, 3, 6, 7);
  row[2] = __builtin_shufflevector(high_a, high_b, 0, 1, 4, 5);
  row[3] = __builtin_shufflevector(high_a, high_b, 2, 3, 6, 7);
  for (std::int64_t j = 0; j < 4; ++j) std::memcpy(out + j * out_step, &row[j], sizeof(Four));
}

// A tile of at most kTile by kTile: `across` steps side by side in the output, `down` in the input.
template <class E>
void turn_tile(char* out, std::int64_t out_step, const char* in, std::int64_t in_step,
               std::int64_t down, std::int64_t across) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(E));
  constexpr std::int64_t kSide = kSize < 4 ? 8 : 4;
  std::int64_t d = 0;
  for (; d + kSide <= down; d += kSide) {
    std::int64_t a = 0;
    for (; a + kSide <= across; a += kSide) {
      char* to = out + d * out_step + a * kSize;
      const char* from = in + a * in_step + d * kSize;
      if constexpr (kSize == 4) turn_four(to, out_step, from, in_step);
      else turn_block<E, kSide>(to, out_step, from, in_step);
    }
    for (std::int64_t j = 0; j < kSide; ++j) {
      move_row<E>(out + (d + j) * out_step + a * kSize, kSize, in + a * in_step + (d + j) * kSize,
                  in_step, across - a);
    }
  }
  for (; d < down; ++d) move_row<E>(out + d * out_step, kSize, in + d * kSize, in_step, across);
}

// The last dim lies side by side in the output and dim `turned` in the input: tile by tile.
template <class E>
void move_turned(Box box, int turned, char* out, const char* in) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(E));
  const std::int64_t across = box.dims[box.rank - 1];
  const std::int64_t in_step = box.in[box.rank - 1];
  const std::int64_t down = box.dims[turned];
  const std::int64_t out_step = box.out[turned];
  box.remove(box.rank - 1);
  box.remove(turned);
  const std::int64_t strips = (down + kTile - 1) / kTile;
  parallel(rows_of(box, box.rank) * strips, across * kTile,
           [&](std::int64_t begin, std::int64_t end) {
             Walk walk(box, box.rank, begin / strips);
             for (std::int64_t k = begin; k < end; ++k) {
               const std::int64_t d = k % strips * kTile;
               if (d == 0 && k != begin) walk.next();
               for (std::int64_t a = 0; a < across; a += kTile) {
                 turn_tile<E>(out + walk.out + d * out_step + a * kSize, out_step,
                              in + walk.in + a * in_step + d * kSize, in_step,
                              std::min(kTile, down - d), std::min(kTile, across - a));
               }
             }
           });
}

// As few rows of the input as the last dim has become one: theirs in turn, as a picture's colours.
template <class E, int kRows>
void move_woven(Box box, int along, char* out, const char* in) {
  constexpr std::int64_t kPiece = 1024;
  const std::int64_t in_step = box.in[box.rank - 1];
  const std::int64_t count = box.dims[along];
  box.remove(box.rank - 1);
  box.remove(along);
  const std::int64_t pieces = (count + kPiece - 1) / kPiece;
  parallel(rows_of(box, box.rank) * pieces, kPiece, [&](std::int64_t begin, std::int64_t end) {
    Walk walk(box, box.rank, begin / pieces);
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t first = k % pieces * kPiece;
      if (first == 0 && k != begin) walk.next();
      const E* from[kRows];
      for (int i = 0; i < kRows; ++i)
        from[i] = reinterpret_cast<const E*>(in + walk.in + i * in_step) + first;
      E* to = reinterpret_cast<E*>(out + walk.out) + first * kRows;
      const std::int64_t here = std::min(kPiece, count - first);
      for (std::int64_t j = 0; j < here; ++j) {
        for (int i = 0; i < kRows; ++i) to[j * kRows + i] = from[i][j];
      }
    }
  });
}

// Does that where it is that, and says whether: some dim lies side by side in the input, and before the
// last one in the output.
template <class E>
bool weaves(const Box& box, char* out, const char* in) {
  const int last = box.rank - 1;
  const std::int64_t rows = box.dims[last];
  if (box.out[last] != box.size || rows > 3) return false;
  for (int k = 0; k < last; ++k) {
    if (box.in[k] != box.size || box.out[k] != rows * box.size || box.dims[k] < 8) continue;
    if (rows == 2) move_woven<E, 2>(box, k, out, in);
    else move_woven<E, 3>(box, k, out, in);
    return true;
  }
  return false;
}

void move(const Box& box, char* out, const char* in) {
  const int last = box.rank - 1;
  if (box.dense(last)) return move_rows(box, out, in);
  with_bits(static_cast<std::size_t>(box.size), [&](auto bits) {
    using E = decltype(bits);
    if (box.out[last] == box.size && box.dims[last] >= 4) {
      for (int k = 0; k < last; ++k) {
        if (box.in[k] == box.size && box.dims[k] >= 4) return move_turned<E>(box, k, out, in);
      }
    }
    if (!weaves<E>(box, out, in)) move_elements<E>(box, out, in);
  });
}

// Short runs become larger elements.
void widen(Box& box) {
  while (box.rank > 1 && box.dense(box.rank - 1)) {
    const std::int64_t wide = box.dims[box.rank - 1] * box.size;
    if (wide != 2 && wide != 4 && wide != 8 && wide != 16) return;
    box.size = wide;
    --box.rank;
  }
}

}  // namespace

const std::vector<TF_DataType>& plain_types() {
  static const std::vector<TF_DataType> types = {
      TF_FLOAT, TF_INT32,  TF_INT64,  TF_BOOL,   TF_DOUBLE, TF_UINT8,     TF_INT8,
      TF_INT16, TF_UINT16, TF_UINT32, TF_UINT64, TF_HALF,   TF_BFLOAT16,  TF_COMPLEX64,
      TF_QINT8, TF_QUINT8, TF_QINT32, TF_QINT16, TF_QUINT16, TF_COMPLEX128};
  return types;
}

const std::vector<TF_DataType>& real_types() {
  static const std::vector<TF_DataType> types = {TF_FLOAT,  TF_DOUBLE, TF_INT32, TF_INT64,
                                                 TF_INT8,   TF_INT16,  TF_UINT8, TF_UINT16,
                                                 TF_UINT32, TF_UINT64};
  return types;
}

std::size_t element_size(TF_DataType dtype) {
  switch (dtype) {
    case TF_BOOL: case TF_UINT8: case TF_INT8: case TF_QINT8: case TF_QUINT8: return 1;
    case TF_INT16: case TF_UINT16: case TF_HALF: case TF_BFLOAT16: case TF_QINT16:
    case TF_QUINT16: return 2;
    case TF_FLOAT: case TF_INT32: case TF_UINT32: case TF_QINT32: return 4;
    case TF_DOUBLE: case TF_INT64: case TF_UINT64: case TF_COMPLEX64: return 8;
    case TF_COMPLEX128: return 16;
    case TF_STRING: return sizeof(TF_TString);
    default: fail(TF_UNIMPLEMENTED, "elements of this dtype are not plain bytes");
  }
}

std::int64_t integer_at(const Tensor& tensor, std::int64_t k) {
  if (tensor.dtype() == TF_INT32) return tensor.as<std::int32_t>()[k];
  if (tensor.dtype() == TF_INT64) return tensor.as<std::int64_t>()[k];
  std::int64_t out = 0;
  with_index(tensor.dtype(), [&](auto type) {
    out = tensor.as<decltype(type)>()[k];  // NOLINT(bugprone-signed-char-misuse): of a number
  });
  return out;
}

Dims integers(const Tensor& tensor) {
  Dims out(static_cast<std::size_t>(tensor.count()));
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = integer_at(tensor, static_cast<std::int64_t>(k));
  return out;
}

static void check_vector(const Tensor& tensor, const char* what) {
  if (tensor.rank() == 1) return;
  fail(TF_INVALID_ARGUMENT,
       std::string(what) + " must be a vector, not of shape " + text(tensor.dims()));
}

Dims int_vector(const Tensor& tensor, const char* what) {
  check_vector(tensor, what);
  return integers(tensor);
}

Sizes small_vector(const Tensor& tensor, const char* what) {
  check_vector(tensor, what);
  Sizes out;
  for (std::int64_t k = 0; k < tensor.count(); ++k) out.push_back(integer_at(tensor, k));
  return out;
}

std::int64_t scalar_int(const Tensor& tensor, const char* what) {
  if (tensor.count() != 1) {
    fail(TF_INVALID_ARGUMENT,
         std::string(what) + " must be a scalar, not of shape " + text(tensor.dims()));
  }
  return integer_at(tensor, 0);
}

int wrap_axis(std::int64_t axis, int rank, const char* what) {
  if (axis < -rank || axis >= rank) {
    fail(TF_INVALID_ARGUMENT, std::string(what) + " " + std::to_string(axis) + " must lie in [" +
                                  std::to_string(-rank) + "," + std::to_string(rank) + ")");
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::int64_t span_of(DimsView dims, int first, int last) {
  std::int64_t out = 1;
  for (int k = first; k < last; ++k) out *= dims[static_cast<std::size_t>(k)];
  return out;
}

void check_dims(DimsView dims) {
  std::int64_t held = 1;
  for (const std::int64_t dim : dims) {
    require(dim >= 0, "dimensions must not be negative");
    if (dim != 0 && __builtin_mul_overflow(held, dim, &held)) fail_too_many(text(dims));
  }
}

Dims steps_of(DimsView dims) {
  Dims out(dims.size());
  std::int64_t step = 1;
  for (std::size_t k = dims.size(); k-- > 0;) {
    out[k] = step;
    step *= dims[k];
  }
  return out;
}

Sizes small_steps(DimsView dims, std::size_t size) {
  Sizes out(dims.size());
  auto step = static_cast<std::int64_t>(size);
  for (std::size_t k = dims.size(); k-- > 0;) {
    out[k] = step;
    step *= dims[k];
  }
  return out;
}

void copy_bytes(void* out, const void* in, std::int64_t bytes) {
  constexpr std::int64_t kPiece = 1 << 16;
  if (bytes <= kPiece) {
    std::memcpy(out, in, static_cast<std::size_t>(bytes));
    return;
  }
  parallel((bytes + kPiece - 1) / kPiece, kPiece / 8, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * kPiece;
    std::memcpy(static_cast<char*>(out) + first, static_cast<const char*>(in) + first,
                static_cast<std::size_t>(std::min(end * kPiece, bytes) - first));
  });
}

void move_box(std::size_t size, DimsView dims, void* out, DimsView out_steps, const void* in,
              DimsView in_steps) {
  Box box;
  box.size = static_cast<std::int64_t>(size);
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (dims[k] == 0) return;
    if (dims[k] != 1) box.push(dims[k], out_steps[k], in_steps[k]);
  }
  if (box.rank == 0 || (box.rank == 1 && box.dense(0))) {
    copy_bytes(out, in, box.rank == 0 ? box.size : box.size * box.dims[0]);
    return;
  }
  widen(box);
  move(box, static_cast<char*>(out), static_cast<const char*>(in));
}

void gather_box(std::size_t size, DimsView dims, void* out, const void* in, DimsView in_steps) {
  const Sizes steps = small_steps(dims, size);
  move_box(size, dims, out, steps, in, in_steps);
}

void fill(std::size_t size, void* out, std::int64_t count, const void* value) {
  with_bits(size, [&](auto bits) {
    using E = decltype(bits);
    const E one = *static_cast<const E*>(value);
    parallel(count, 1, [&](std::int64_t begin, std::int64_t end) {
      std::fill_n(static_cast<E*>(out) + begin, end - begin, one);
    });
  });
}

}  // namespace drystone::cpu
