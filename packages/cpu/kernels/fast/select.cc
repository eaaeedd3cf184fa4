// One of two tensors' elements, and limits.
#include <algorithm>
#include <complex>
#include <cstring>

#include "core/broadcast.h"
#include "core/moving_text.h"
#include "fast/elementwise.h"
#include "fast/select.h"

namespace drystone::cpu {
namespace {

constexpr std::int64_t kBlock = 1024;  // elements that a thread takes at least

template <class T>
void select_run(void* to, const std::uint8_t* which, const void* left, const void* right,
                std::int64_t count, std::int64_t which_step, std::int64_t a_step,
                std::int64_t b_step) {
  T* out = static_cast<T*>(to);
  const T* a = static_cast<const T*>(left);
  const T* b = static_cast<const T*>(right);
  if (which_step == 0) {
    const T* all = *which != 0 ? a : b;
    if ((*which != 0 ? a_step : b_step) == 0) std::fill_n(out, count, T(*all));
    else if (all != out) std::copy_n(all, count, out);
  } else if (a_step != 0 && b_step != 0) {
#pragma GCC ivdep
    for (std::int64_t k = 0; k < count; ++k) {
      const T x = a[k];
      const T y = b[k];
      out[k] = which[k] != 0 ? x : y;
    }
  } else if (a_step != 0) {
    const T y = *b;
#pragma GCC ivdep
    for (std::int64_t k = 0; k < count; ++k) {
      const T x = a[k];
      out[k] = which[k] != 0 ? x : y;
    }
  } else {
    const T x = *a;
#pragma GCC ivdep
    for (std::int64_t k = 0; k < count; ++k) {
      const T y = b[k * b_step];
      out[k] = which[k] != 0 ? x : y;
    }
  }
}

}  // namespace

SelectRun select_run_of(std::size_t size) {
  switch (size) {
    case 1: return select_run<std::uint8_t>;
    case 2: return select_run<std::uint16_t>;
    case 4: return select_run<std::uint32_t>;
    case 8: return select_run<std::uint64_t>;
    case 16: return select_run<TwoWords>;
    default: return select_run<ThreeWords>;
  }
}

namespace {

// Pieces of the output, by threads where that pays.
template <class Piece>
void over_pieces(const Walk<3>& shape, std::int64_t count, Piece&& piece) {
  const std::int64_t width = shape.width();
  if (shape.dims.size() > 1) {
    parallel(count / width, 5 + width / 4, [&](std::int64_t first, std::int64_t last) {
      for_each_row(shape, first, last, [&](std::int64_t at, const std::array<std::int64_t, 3>& in) {
        piece(at, in, width);
      });
    });
    return;
  }
  parallel((width + kBlock - 1) / kBlock, kBlock / 4, [&](std::int64_t first, std::int64_t last) {
    const std::int64_t begin = first * kBlock;
    piece(begin, {begin * shape.step(0), begin * shape.step(1), begin * shape.step(2)},
          std::min(last * kBlock, width) - begin);
  });
}

void select_as(const Call& call, DimsView which_dims) {
  const Tensor which = call.input(0);
  const Tensor a = call.input(1);
  const Tensor b = call.input(2);
  Walk<3> shape;
  walk<3>({which_dims, a.dims(), b.dims()}, shape);
  const DimsView dims = shape.out;
  const bool a_full = std::ranges::equal(a.dims(), dims);
  const bool b_full = std::ranges::equal(b.dims(), dims);
  if (which.count() == 1) {
    const bool first = *which.as<std::uint8_t>() != 0;
    if (first ? a_full : b_full) return call.share(0, first ? 1 : 2, dims);
  }
  const Tensor out = call.output(0, dims, a_full ? 1 : b_full ? 2 : -1);
  if (out.count() == 0) return;
  const auto size = static_cast<std::int64_t>(element_size(out.dtype()));
  const SelectRun run = select_run_of(static_cast<std::size_t>(size));
  over_pieces(shape, out.count(),
              [&](std::int64_t at, const std::array<std::int64_t, 3>& in, std::int64_t count) {
                run(out.write<char>() + at * size, which.as<std::uint8_t>() + in[0],
                    a.as<char>() + in[1] * size, b.as<char>() + in[2] * size, count, shape.step(0),
                    shape.step(1), shape.step(2));
              });
}

void select_v2(Call& call) { select_as(call, call.input(0).dims()); }

// The condition may be a vector that chooses rows.
void select(Call& call) {
  const Tensor which = call.input(0);
  const DimsView dims = call.input(1).dims();
  if (!std::ranges::equal(dims, call.input(2).dims())) {
    fail(TF_INVALID_ARGUMENT,
         "Both branches must have one shape: " + text(dims) + " vs. " + text(call.input(2).dims()));
  }
  const bool fits = which.rank() == 0 || std::ranges::equal(which.dims(), dims);
  if (fits) return select_as(call, which.dims());
  const bool rows = which.rank() == 1 && !dims.empty() && which.count() == dims[0];
  if (!rows) {
    fail(TF_INVALID_ARGUMENT,
         "The condition must fit the branches: " + text(which.dims()) + " vs. " + text(dims));
  }
  FewDims tall;
  tall.assign(dims.size(), 1);
  tall[0] = dims[0];
  select_as(call, tall);
}

// `low` wins where the limits cross; NaN stays.
template <class T>
T clip(T x, Wide<T> low, Wide<T> high) {
  const Wide<T> value = wide(x);
  const Wide<T> below = high < value ? high : value;
  return as_held<T>(below < low ? low : below);
}

template <class T>
void clip_run(T* out, const T* x, const T* low, const T* high, std::int64_t count,
              std::int64_t low_step, std::int64_t high_step) {
  if (low_step == 0 && high_step == 0) {
    const Wide<T> least = wide(*low);
    const Wide<T> most = wide(*high);
#pragma GCC ivdep
    for (std::int64_t k = 0; k < count; ++k) out[k] = clip(x[k], least, most);
  } else {
    for (std::int64_t k = 0; k < count; ++k) {
      out[k] = clip(x[k], wide(low[k * low_step]), wide(high[k * high_step]));
    }
  }
}

template <class T>
void clip_by_value(Call& call) {
  const Tensor x = call.input(0);
  const Tensor low = call.input(1);
  const Tensor high = call.input(2);
  for (const Tensor& limit : {low, high}) {
    if (limit.rank() == 0 || std::ranges::equal(limit.dims(), x.dims())) continue;
    fail(TF_INVALID_ARGUMENT, "A limit must be a scalar or have the tensor's shape: " +
                                  text(limit.dims()) + " vs. " + text(x.dims()));
  }
  T* out = call.output(0, x.dims(), 0).write<T>();
  const std::int64_t low_step = low.count() == 1 ? 0 : 1;
  const std::int64_t high_step = high.count() == 1 ? 0 : 1;
  const std::int64_t count = x.count();
  parallel((count + kBlock - 1) / kBlock, kBlock / 4, [&](std::int64_t first, std::int64_t last) {
    const std::int64_t begin = first * kBlock;
    clip_run(out + begin, x.as<T>() + begin, low.as<T>() + begin * low_step,
             high.as<T>() + begin * high_step, std::min(last * kBlock, count) - begin, low_step,
             high_step);
  });
}

template <class... T>
void add_clip(Types<T...>) {
  (add<clip_by_value<T>>("ClipByValue", {{"T", {kType<T>}}}), ...);
}

}  // namespace

void add_select() {
  add_moving<select>("Select");
  add_moving<select_v2>("SelectV2");
  add_clip(Floats{});
  add_clip(Signed{});
  add_clip(Unsigned{});
  add_clip(Types<Half, BFloat16>{});
}

}  // namespace drystone::cpu
