#include "rows.h"

#include <cmath>

namespace drystone::gpu {
namespace {

struct Add {
  DS_BOTH float operator()(float a, float b) const { return a + b; }
};
// A NaN among the two is the result.
struct Larger {
  DS_BOTH float operator()(float a, float b) const { return a > b || a != a ? a : b; }
};
struct Smaller {
  DS_BOTH float operator()(float a, float b) const { return a < b || a != a ? a : b; }
};

#define DS_INFINITY (float_of_bits(0x7F800000u))

DS_BOTH float none_of(Join join) {
  switch (join) {
    case Join::max: return -DS_INFINITY;
    case Join::min: return DS_INFINITY;
    case Join::prod:
    case Join::all: return 1.0f;
    default: return 0.0f;
  }
}

DS_BOTH float joined(Join join, float a, float b) {
  switch (join) {
    case Join::max:
    case Join::any: return Larger()(a, b);
    case Join::min:
    case Join::all: return Smaller()(a, b);
    case Join::prod: return a * b;
    default: return a + b;
  }
}

DS_BOTH std::uint32_t offset(int rank, const std::uint32_t* dims, const std::uint32_t* strides,
                             std::uint32_t i) {
  std::uint32_t at = 0;
  for (int k = rank - 1; k >= 0; --k) {
    at += i % dims[k] * strides[k];
    i /= dims[k];
  }
  return at;
}

struct Joining {
  Join join;
  DS_BOTH float operator()(float a, float b) const { return joined(join, a, b); }
};

// One thread a result where there are many results, a team where there are few.
struct ReduceBody {
  Reduction r;
  const void* from;
  void* to;

  DS_BOTH void operator()(std::uint32_t row) const { (*this)(row, Team{0, 1}); }

  DS_BOTH void operator()(std::uint32_t row, Team team) const {
    const std::uint32_t first = offset(r.outer_rank, r.outer_dims, r.outer_strides, row);
    float found = none_of(r.join);
    for (std::uint32_t i = team.index; i < r.inner; i += team.size) {
      const std::uint32_t at = first + offset(r.inner_rank, r.inner_dims, r.inner_strides, i);
      found = joined(r.join, found, load<float>(from, r.type, at));
    }
    if (team.size > 1) found = team.all(found, none_of(r.join), Joining{r.join});
    if (r.join == Join::mean) found /= static_cast<float>(r.inner);
    if (team.index == 0) store(to, r.type, row, found);
  }
};

DS_BOTH std::uint64_t unsigned_of(std::int64_t value) { return static_cast<std::uint64_t>(value); }

// Whole numbers wrap as they do elsewhere; one thread a result.
struct WholeReduceBody {
  Reduction r;
  const void* from;
  void* to;

  DS_BOTH void operator()(std::uint32_t row) const {
    const std::uint32_t first = offset(r.outer_rank, r.outer_dims, r.outer_strides, row);
    std::uint64_t found = r.join == Join::prod ? 1 : 0;
    const bool is_short = r.type == Type::i32;
    if (r.join == Join::max) found = unsigned_of(is_short ? INT32_MIN : INT64_MIN);
    if (r.join == Join::min) found = unsigned_of(is_short ? INT32_MAX : INT64_MAX);
    for (std::uint32_t i = 0; i < r.inner; ++i) {
      const std::uint32_t at = first + offset(r.inner_rank, r.inner_dims, r.inner_strides, i);
      const auto value = load<std::int64_t>(from, r.type, at);
      const auto held = static_cast<std::int64_t>(found);
      switch (r.join) {
        case Join::max: found = unsigned_of(value > held ? value : held); break;
        case Join::min: found = unsigned_of(value < held ? value : held); break;
        case Join::prod: found *= unsigned_of(value); break;
        default: found += unsigned_of(value);
      }
    }
    store(to, r.type, row, static_cast<std::int64_t>(found));
  }
};

struct SoftmaxBody {
  SoftmaxRows r;
  const void *from, *mask;
  void* to;

  DS_BOTH float at(std::uint32_t row, std::uint32_t i) const {
    const float x = load<float>(from, r.type, row * r.length + i) * r.factor;
    return mask == nullptr ? x : x + load<float>(mask, r.mask_type, row / r.repeats * r.length + i);
  }

  DS_BOTH void operator()(std::uint32_t row, Team team) const {
    float most = -DS_INFINITY, sum = 0.0f;
    for (std::uint32_t i = team.index; i < r.length; i += team.size)
      most = Larger()(most, at(row, i));
    most = team.all(most, -DS_INFINITY, Larger());
    for (std::uint32_t i = team.index; i < r.length; i += team.size) sum += expf(at(row, i) - most);
    sum = team.all(sum, 0.0f, Add());
    const float log_sum = logf(sum);
    for (std::uint32_t i = team.index; i < r.length; i += team.size) {
      const float x = at(row, i) - most;
      store(to, r.type, row * r.length + i, r.logarithm ? x - log_sum : expf(x) / sum);
    }
  }
};

// Rows that a team holds in registers: kHeld times four elements a thread, and those that one warp
// does.
constexpr int kBlockHeld = 4, kWarpHeld = 8;
bool fits_registers(std::uint32_t length) {
  return length % 4 == 0 && length <= 1024 * 4 * kBlockHeld;
}
// Of few rows a block each is quicker: more of them go on at once.
bool fits_warp(std::uint32_t length, std::uint32_t count) {
  return length % 4 == 0 && length <= 32 * 4 * kWarpHeld && count >= 2048;
}

template <int kHeld>
struct HeldRow {
  float values[kHeld][4];

  template <class Use>
  DS_BOTH void each(std::uint32_t length, Team team, Use use) {
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int k = 0; k < kHeld; ++k) {
      const std::uint32_t at = (k * team.size + team.index) * 4;
      if (at < length) use(values[k], at);
    }
  }
};

template <int kHeld>
struct HeldSoftmaxBody {
  SoftmaxRows r;
  const void *from, *mask;
  void* to;

  DS_BOTH void operator()(std::uint32_t row, Team team) const {
    const std::uint32_t first = row * r.length, masked = row / r.repeats * r.length;
    HeldRow<kHeld> held;
    float most = -DS_INFINITY, sum = 0.0f;
    held.each(r.length, team, [&](float* four, std::uint32_t at) {
      float added[4] = {};
      load_row<float, 4>(from, r.type, first + at, four);
      if (mask != nullptr) load_row<float, 4>(mask, r.mask_type, masked + at, added);
      for (int j = 0; j < 4; ++j) {
        four[j] = four[j] * r.factor + added[j];
        most = Larger()(most, four[j]);
      }
    });
    most = team.all(most, -DS_INFINITY, Larger());
    held.each(r.length, team, [&](float* four, std::uint32_t) {
      for (int j = 0; j < 4; ++j) {
        four[j] -= most;
        const float power = expf(four[j]);
        sum += power;
        if (!r.logarithm) four[j] = power;
      }
    });
    sum = team.all(sum, 0.0f, Add());
    const float log_sum = logf(sum), factor = 1.0f / sum;
    held.each(r.length, team, [&](float* four, std::uint32_t at) {
      for (int j = 0; j < 4; ++j) four[j] = r.logarithm ? four[j] - log_sum : four[j] * factor;
      store_row<float, 4>(to, r.type, first + at, four);
    });
  }
};

template <int kHeld>
struct HeldLayerNormBody {
  LayerNorm norm;
  const void *from, *scale, *shift;
  void* to;

  DS_BOTH void operator()(std::uint32_t row, Team team) const {
    const std::uint32_t first = row * norm.length;
    const auto length = static_cast<float>(norm.length);
    HeldRow<kHeld> held;
    float sum = 0.0f, squares = 0.0f;
    held.each(norm.length, team, [&](float* four, std::uint32_t at) {
      load_row<float, 4>(from, norm.type, first + at, four);
      for (int j = 0; j < 4; ++j) sum += four[j];
    });
    const float mean = team.all(sum, 0.0f, Add()) / length;
    held.each(norm.length, team, [&](float* four, std::uint32_t) {
      for (int j = 0; j < 4; ++j) {
        four[j] -= mean;
        squares += four[j] * four[j];
      }
    });
    const float variance = team.all(squares, 0.0f, Add()) / length;
    const float factor = 1.0f / sqrtf(variance + norm.epsilon);
    held.each(norm.length, team, [&](float* four, std::uint32_t at) {
      float scales[4], shifts[4];
      load_row<float, 4>(scale, norm.scale_type, at, scales);
      load_row<float, 4>(shift, norm.scale_type, at, shifts);
      for (int j = 0; j < 4; ++j) four[j] = four[j] * factor * scales[j] + shifts[j];
      store_row<float, 4>(to, norm.type, first + at, four);
    });
  }
};

struct LayerNormBody {
  LayerNorm norm;
  const void *from, *scale, *shift;
  void* to;

  DS_BOTH float at(std::uint32_t i) const { return load<float>(from, norm.type, i); }

  DS_BOTH void operator()(std::uint32_t row, Team team) const {
    const std::uint32_t first = row * norm.length;
    const auto length = static_cast<float>(norm.length);
    float sum = 0.0f;
    for (std::uint32_t i = team.index; i < norm.length; i += team.size) sum += at(first + i);
    const float mean = team.all(sum, 0.0f, Add()) / length;
    float squares = 0.0f;
    for (std::uint32_t i = team.index; i < norm.length; i += team.size) {
      const float x = at(first + i) - mean;
      squares += x * x;
    }
    const float variance = team.all(squares, 0.0f, Add()) / length;
    const float factor = 1.0f / sqrtf(variance + norm.epsilon);
    for (std::uint32_t i = team.index; i < norm.length; i += team.size) {
      const float scaled = (at(first + i) - mean) * factor * load<float>(scale, norm.scale_type, i);
      store(to, norm.type, first + i, scaled + load<float>(shift, norm.scale_type, i));
    }
  }
};

struct ExtremeBody {
  Extreme extreme;
  const void* from;
  void* to;

  template <class Lane>
  DS_BOTH std::uint32_t place(std::uint32_t first) const {
    std::uint32_t best = 0;
    Lane most = load<Lane>(from, extreme.type, first);
    if constexpr (sizeof(Lane) == sizeof(float)) {  // NaN is no extreme
      if (most != most) most = extreme.smallest ? DS_INFINITY : -DS_INFINITY;
    }
    for (std::uint32_t i = 1; i < extreme.length; ++i) {
      const Lane value = load<Lane>(from, extreme.type, first + i * extreme.inner);
      if (extreme.smallest ? value < most : value > most) {
        most = value;
        best = i;
      }
    }
    return best;
  }

  DS_BOTH void operator()(std::uint32_t row) const {
    const std::uint32_t outer = row / extreme.inner, inner = row % extreme.inner;
    const std::uint32_t first = outer * extreme.length * extreme.inner + inner;
    const bool whole = extreme.type == Type::i32 || extreme.type == Type::i64 ||
                       extreme.type == Type::u8 || extreme.type == Type::b8;
    const std::uint32_t best = whole ? place<std::int64_t>(first) : place<float>(first);
    if (extreme.wide) {
      static_cast<std::int64_t*>(to)[row] = best;
    } else {
      static_cast<std::int32_t*>(to)[row] = static_cast<std::int32_t>(best);
    }
  }
};

}  // namespace

void run_reduction(const Stream& stream, const Reduction& r, const void* from, void* to) {
  const bool logical = r.join == Join::all || r.join == Join::any;
  if (!is_float(r.type) && !logical) {
    each(stream, r.outer, WholeReduceBody{r, from, to});
  } else if (r.inner >= 16 && (r.outer < 8192 || (r.inner >= 64 && r.outer < 65536))) {
    rows(stream, r.outer, r.inner, ReduceBody{r, from, to});
  } else {
    each(stream, r.outer, ReduceBody{r, from, to});
  }
}

void run_softmax(const Stream& stream, const SoftmaxRows& r, std::uint32_t count, const void* from,
                 const void* mask, void* to) {
  if (fits_warp(r.length, count) && !stream.is_host()) {
    warp_rows(stream, count, HeldSoftmaxBody<kWarpHeld>{r, from, mask, to});
  } else if (fits_registers(r.length) && !stream.is_host()) {
    rows(stream, count, r.length, HeldSoftmaxBody<kBlockHeld>{r, from, mask, to});
  } else {
    rows(stream, count, r.length, SoftmaxBody{r, from, mask, to});
  }
}

void run_layer_norm(const Stream& stream, const LayerNorm& norm, std::uint32_t count,
                    const void* from, const void* scale, const void* shift, void* to) {
  if (fits_warp(norm.length, count) && !stream.is_host()) {
    warp_rows(stream, count, HeldLayerNormBody<kWarpHeld>{norm, from, scale, shift, to});
  } else if (fits_registers(norm.length) && !stream.is_host()) {
    rows(stream, count, norm.length, HeldLayerNormBody<kBlockHeld>{norm, from, scale, shift, to});
  } else {
    rows(stream, count, norm.length, LayerNormBody{norm, from, scale, shift, to});
  }
}

void run_extreme(const Stream& stream, const Extreme& extreme, std::int64_t count, const void* from,
                 void* to) {
  each(stream, count, ExtremeBody{extreme, from, to});
}

}  // namespace drystone::gpu
