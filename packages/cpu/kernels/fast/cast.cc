// Conversions between numbers.
//
// Floats that do not fit an integer give what x86-64's scalar instructions give: the smallest int32
// (also for narrower types, which take its low bits) or int64 (also for uint32).
#include <algorithm>
#include <cstring>

#include "core/moving.h"
#include "fast/elementwise.h"

namespace drystone::cpu {
namespace {

using Run = void (*)(void* out, const void* in, std::int64_t count);

template <class I, class F>
I whole(F x) {
  constexpr F kLimit = sizeof(I) == 4 ? F(0x1p31) : F(0x1p63);
  const bool fits = (x >= -kLimit) & (x < kLimit);
  // Of what does not fit the language says nothing: it is left out.
  const I inside = static_cast<I>(fits ? x : F(0));
  return fits ? inside : std::numeric_limits<I>::min();
}

// double to int32: what is cut off may lie below the smallest.
inline std::int32_t whole32(double x) {
  const bool fits = (x > -0x1p31 - 1) & (x < 0x1p31);
  const auto inside = static_cast<std::int32_t>(fits ? x : 0.0);
  return fits ? inside : INT32_MIN;
}
inline std::int32_t whole32(float x) { return whole<std::int32_t>(x); }

template <class D, class S>
D convert(S x) {
  if constexpr (std::is_same_v<D, bool>) {
    return x != S(0);
  } else if constexpr (std::is_integral_v<S> || std::is_floating_point_v<D>) {
    return static_cast<D>(x);
  } else if constexpr (std::is_same_v<D, std::uint64_t>) {
    const auto low = whole<std::int64_t>(x);
    const auto high = whole<std::int64_t>(static_cast<S>(x - S(0x1p63)));
    return static_cast<D>(low < 0 ? low | high : low);
  } else if constexpr (sizeof(D) == 8 || std::is_same_v<D, std::uint32_t>) {
    return static_cast<D>(whole<std::int64_t>(x));
  } else {
    return static_cast<D>(whole32(x));
  }
}

template <class D, class S>
void cast_run(void* to, const void* from, std::int64_t count) {
  D* out = static_cast<D*>(to);
  const S* x = static_cast<const S*>(from);
#pragma GCC ivdep
  for (std::int64_t k = 0; k < count; ++k) out[k] = convert<D>(x[k]);
}

template <class T>
void copy_run(void* to, const void* from, std::int64_t count) {
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
}

template <class D, class S>
Run run_of() {
  constexpr bool integers =
      std::is_integral_v<S> && std::is_integral_v<D> && !std::is_same_v<D, bool>;
  if constexpr (integers && sizeof(S) == sizeof(D)) return copy_run<S>;
  else if constexpr (integers) return cast_run<std::make_unsigned_t<D>, S>;
  else if constexpr (std::is_same_v<D, bool> && std::is_integral_v<S> && sizeof(S) > 1)
    return cast_run<D, std::make_unsigned_t<S>>;
  else return cast_run<D, S>;
}

// Of bools the bytes count.
template <class D>
Run run_from(TF_DataType source) {
  switch (source) {
    case TF_FLOAT: return run_of<D, float>();
    case TF_DOUBLE: return run_of<D, double>();
    case TF_INT8: return run_of<D, std::int8_t>();
    case TF_INT16: return run_of<D, std::int16_t>();
    case TF_INT32: return run_of<D, std::int32_t>();
    case TF_INT64: return run_of<D, std::int64_t>();
    case TF_UINT16: return run_of<D, std::uint16_t>();
    case TF_UINT32: return run_of<D, std::uint32_t>();
    case TF_UINT64: return run_of<D, std::uint64_t>();
    default: return run_of<D, std::uint8_t>();
  }
}

Run run_between(TF_DataType source, TF_DataType target) {
  switch (target) {
    case TF_FLOAT: return run_from<float>(source);
    case TF_DOUBLE: return run_from<double>(source);
    case TF_INT8: return run_from<std::int8_t>(source);
    case TF_INT16: return run_from<std::int16_t>(source);
    case TF_INT32: return run_from<std::int32_t>(source);
    case TF_INT64: return run_from<std::int64_t>(source);
    case TF_UINT8: return run_from<std::uint8_t>(source);
    case TF_UINT16: return run_from<std::uint16_t>(source);
    case TF_UINT32: return run_from<std::uint32_t>(source);
    case TF_UINT64: return run_from<std::uint64_t>(source);
    default: return run_from<bool>(source);
  }
}

// Sixteen-bit floats from and to float.
template <class T>
void widen_run(void* to, const void* from, std::int64_t count) {
  float* out = static_cast<float*>(to);
  const T* x = static_cast<const T*>(from);
#pragma GCC ivdep
  for (std::int64_t k = 0; k < count; ++k) out[k] = to_float(x[k]);
}
template <class T>
void narrow_run(void* to, const void* from, std::int64_t count) {
  T* out = static_cast<T*>(to);
  const float* x = static_cast<const float*>(from);
#pragma GCC ivdep
  for (std::int64_t k = 0; k < count; ++k) out[k] = from_float<T>(x[k]);
}
void odd_run(void* to, const void* from, std::int64_t count) {
  float* out = static_cast<float*>(to);
  const double* x = static_cast<const double*>(from);
  for (std::int64_t k = 0; k < count; ++k) out[k] = to_odd(x[k]);
}

// Clears the last `drop` bits, but of NaN.
template <class T, class Bits>
void chop_run(void* to, const void* from, std::int64_t count, int drop, Bits infinity) {
  Bits* out = static_cast<Bits*>(to);
  const Bits* x = static_cast<const Bits*>(from);
  const Bits mask = static_cast<Bits>(~Bits(0) << drop);
  const Bits size = static_cast<Bits>(static_cast<Bits>(~Bits(0)) >> 1);
  for (std::int64_t k = 0; k < count; ++k) {
    out[k] = (x[k] & size) > infinity ? x[k] : static_cast<Bits>(x[k] & mask);
  }
}

int mantissa(TF_DataType type) {
  return type == TF_DOUBLE     ? 52
         : type == TF_FLOAT    ? 23
         : type == TF_HALF     ? 10
         : type == TF_BFLOAT16 ? 7
                               : 0;
}

bool is_short(TF_DataType type) { return type == TF_HALF || type == TF_BFLOAT16; }

class Cast {
 public:
  explicit Cast(const Node& node) : source_(node.type("SrcT")), target_(node.type("DstT")) {
    const int kept = mantissa(target_);
    if (node.boolean("Truncate") && kept > 0) drop_ = std::max(mantissa(source_) - kept, 0);
    const TF_DataType from = is_short(source_) ? TF_FLOAT : source_;
    const TF_DataType to = is_short(target_) ? TF_FLOAT : target_;
    if (is_short(source_)) first_ = source_ == TF_HALF ? widen_run<Half> : widen_run<BFloat16>;
    if (is_short(target_)) last_ = target_ == TF_HALF ? narrow_run<Half> : narrow_run<BFloat16>;
    if (from != to) between_ = run_between(from, to);
    if (source_ == TF_DOUBLE && target_ == TF_HALF) between_ = odd_run;
  }

  void compute(Call& call) const {
    const Tensor x = call.input(0);
    if (source_ == target_) return call.share(0, 0, x.dims());
    const auto in = static_cast<std::int64_t>(element_size(source_));
    const auto size = static_cast<std::int64_t>(element_size(target_));
    const Tensor out = call.output(0, x.dims());
    const std::int64_t count = x.count();
    const bool direct = drop_ == 0 && first_ == nullptr && last_ == nullptr;
    parallel((count + kTile - 1) / kTile, kTile / 4, [&](std::int64_t from, std::int64_t to) {
      if (direct) {
        const std::int64_t begin = from * kTile;
        between_(out.write<char>() + begin * size, x.as<char>() + begin * in,
                 std::min(to * kTile, count) - begin);
        return;
      }
      for (std::int64_t tile = from; tile < to; ++tile) {
        const std::int64_t begin = tile * kTile;
        convert_tile(out.write<char>() + begin * size, x.as<char>() + begin * in,
                     std::min(kTile, count - begin));
      }
    });
  }

 private:
  static constexpr std::int64_t kTile = 256;

  void convert_tile(void* out, const void* in, std::int64_t count) const {
    double chopped[kTile];
    double widened[kTile];
    double changed[kTile];
    if (drop_ > 0) {
      chop(chopped, in, count);
      in = chopped;
    }
    for (const auto& [run, room] : {std::pair(first_, widened), std::pair(between_, changed)}) {
      if (run == nullptr) continue;
      const bool is_last = last_ == nullptr && (run == between_ || between_ == nullptr);
      void* to = is_last ? out : static_cast<void*>(room);
      run(to, in, count);
      in = to;
    }
    if (last_ != nullptr) last_(out, in, count);
  }
  void chop(void* out, const void* in, std::int64_t count) const {
    if (source_ == TF_DOUBLE) {
      chop_run<double, std::uint64_t>(out, in, count, drop_, 0x7ff0000000000000);
    } else if (source_ == TF_FLOAT) {
      chop_run<float, std::uint32_t>(out, in, count, drop_, 0x7f800000);
    } else {
      chop_run<Half, std::uint16_t>(out, in, count, drop_, 0x7c00);
    }
  }

  TF_DataType source_;
  TF_DataType target_;
  int drop_ = 0;
  Run first_ = nullptr;
  Run between_ = nullptr;
  Run last_ = nullptr;
};

}  // namespace

void add_cast() {
  const std::vector<TF_DataType> numbers = {TF_FLOAT, TF_DOUBLE, TF_INT8,    TF_INT16,  TF_INT32,
                                            TF_INT64, TF_UINT8,  TF_UINT16,  TF_UINT32, TF_UINT64,
                                            TF_BOOL,  TF_HALF,   TF_BFLOAT16};
  add<Cast>("Cast", {{"SrcT", numbers}, {"DstT", numbers}});
}

}  // namespace drystone::cpu
