#include "moves.h"

#include "divider.h"

namespace drystone::gpu {
namespace {

template <class T>
struct MoveBody {
  Move move;
  Divider dims[kMoveRank];
  const T* from;
  T* to;

  MoveBody(const Move& all, const void* source, void* target)
      : move(all), from(static_cast<const T*>(source)), to(static_cast<T*>(target)) {
    for (int k = 0; k < move.rank; ++k) dims[k] = Divider(move.dims[k]);
  }

  DS_BOTH void operator()(std::uint32_t i) const {
    std::int32_t source = move.from_first, target = move.to_first;
    for (int k = move.rank - 1; k >= 0; --k) {
      std::uint32_t rest = i;
      i = dims[k].split(&rest);
      const auto at = static_cast<std::int32_t>(rest);
      source += at * move.from[k];
      target += at * move.to[k];
    }
    to[target] = from[source];
  }
};

template <class T>
struct FillBody {
  T value;
  T* to;
  DS_BOTH void operator()(std::uint32_t i) const { to[i] = value; }
};

DS_BOTH std::int64_t whole_at(const void* data, bool wide, std::uint32_t at) {
  return wide ? static_cast<const std::int64_t*>(data)[at]
              : static_cast<const std::int32_t*>(data)[at];
}

template <class T>
struct GatherBody {
  Gather gather;
  const T* from;
  const void* indices;
  bool wide;
  Alarm alarm;
  T* to;

  DS_BOTH void operator()(std::uint32_t i) const {
    const std::uint32_t k = i % gather.inner, rest = i / gather.inner;
    const std::uint32_t index = rest % gather.indices, outer = rest / gather.indices;
    const std::uint32_t batch = outer / gather.outer;
    const std::int64_t place = whole_at(indices, wide, batch * gather.indices + index);
    if (place < 0 || place >= gather.places) {
      alarm.raise();
      return;
    }
    to[i] = from[(outer * gather.places + static_cast<std::uint32_t>(place)) * gather.inner + k];
  }
};

struct SegmentSumBody {
  SegmentSum sum;
  const float* from;
  const void* segments;
  bool wide;
  Alarm alarm;
  float* to;

  DS_BOTH void operator()(std::uint32_t i) const {
    const std::int64_t segment = whole_at(segments, wide, i / sum.inner);
    if (segment < 0 && !sum.all) return;
    if (segment < 0 || segment >= static_cast<std::int64_t>(sum.count)) {
      alarm.raise();
      return;
    }
    float* const place = to + static_cast<std::uint32_t>(segment) * sum.inner + i % sum.inner;
#if defined(__CUDA_ARCH__)
    atomicAdd(place, from[i]);
#else
    *place += from[i];
#endif
  }
};

template <class T>
struct OneHotBody {
  OneHot one_hot;
  const void* indices;
  bool wide;
  const T *on, *off;
  T* to;

  DS_BOTH void operator()(std::uint32_t i) const {
    const std::uint32_t inner = i % one_hot.inner, rest = i / one_hot.inner;
    const std::uint32_t place = rest % one_hot.depth, outer = rest / one_hot.depth;
    const std::int64_t index = whole_at(indices, wide, outer * one_hot.inner + inner);
    to[i] = index == static_cast<std::int64_t>(place) ? *on : *off;
  }
};

template <class T>
struct MirrorBody {
  Mirror mirror;
  const T* from;
  T* to;

  DS_BOTH void operator()(std::uint32_t i) const {
    std::uint32_t rest = i, source = 0, stride = 1;
    for (int k = mirror.rank - 1; k >= 0; --k) {
      auto at = static_cast<std::int32_t>(rest % mirror.dims[k] - mirror.before[k]);
      rest /= mirror.dims[k];
      const auto size = static_cast<std::int32_t>(mirror.inside[k]);
      const auto edge = static_cast<std::int32_t>(mirror.edge);
      if (at < 0) at = -at - edge;
      if (at >= size) at = 2 * size - 2 - at + edge;
      source += static_cast<std::uint32_t>(at) * stride;
      stride *= mirror.inside[k];
    }
    to[i] = from[source];
  }
};

struct alignas(16) Sixteen {
  std::uint64_t low, high;
};

// use(T()) with a T of that many bytes.
template <class Use>
void by_size(std::size_t size, Use use) {
  switch (size) {
    case 1: use(std::uint8_t()); break;
    case 2: use(std::uint16_t()); break;
    case 4: use(std::uint32_t()); break;
    case 8: use(std::uint64_t()); break;
    default: use(Sixteen());
  }
}

// Whether two elements in a row can go as one of twice the size.
bool can_pair(const Move& move) {
  const int last = move.rank - 1;
  if (last < 0 || move.from[last] != 1 || move.to[last] != 1 || move.dims[last] % 2 != 0)
    return false;
  std::int32_t odd = move.from_first | move.to_first;
  for (int k = 0; k < last; ++k) odd |= move.from[k] | move.to[k];
  return odd % 2 == 0;
}

Move paired(Move move) {
  const int last = move.rank - 1;
  move.dims[last] /= 2;
  move.from_first /= 2;
  move.to_first /= 2;
  for (int k = 0; k < last; ++k) {
    move.from[k] /= 2;
    move.to[k] /= 2;
  }
  return move;
}

}  // namespace

void run_move(const Stream& stream, const Move& given, std::size_t size, const void* from,
              void* to) {
  Move move = given;
  for (; size < 16 && can_pair(move); size *= 2) move = paired(move);
  std::int64_t count = 1;
  for (int k = 0; k < move.rank; ++k) count *= move.dims[k];
  by_size(size, [&](auto one) {
    using T = decltype(one);
    each(stream, count, MoveBody<T>(move, from, to));
  });
}

void run_fill(const Stream& stream, std::int64_t count, std::size_t size, std::uint64_t bits,
              void* to) {
  by_size(size, [&](auto one) {
    using T = decltype(one);
    if constexpr (sizeof(T) <= sizeof bits) {
      each(stream, count, FillBody<T>{static_cast<T>(bits), static_cast<T*>(to)});
    }
  });
}

void run_gather(const Stream& stream, const Gather& given, std::size_t size, const void* from,
                const void* indices, bool wide, Alarm alarm, void* to) {
  Gather gather = given;
  for (; size < 16 && gather.inner % 2 == 0; size *= 2) gather.inner /= 2;
  const std::int64_t count =
      std::int64_t{gather.batches} * gather.outer * gather.indices * gather.inner;
  by_size(size, [&](auto one) {
    using T = decltype(one);
    each(stream, count,
         GatherBody<T>{gather, static_cast<const T*>(from), indices, wide, alarm,
                       static_cast<T*>(to)});
  });
}

void run_segment_sum(const Stream& stream, const SegmentSum& sum, std::int64_t rows, const void* from,
                     const void* segments, bool wide, Alarm alarm, void* to) {
  each(stream, rows * sum.inner,
       SegmentSumBody{sum, static_cast<const float*>(from), segments, wide, alarm,
                      static_cast<float*>(to)});
}

void run_one_hot(const Stream& stream, const OneHot& one_hot, std::int64_t count, std::size_t size,
                 const void* indices, bool wide, const void* on, const void* off, void* to) {
  by_size(size, [&](auto one) {
    using T = decltype(one);
    each(stream, count,
         OneHotBody<T>{one_hot, indices, wide, static_cast<const T*>(on),
                       static_cast<const T*>(off), static_cast<T*>(to)});
  });
}

void run_mirror(const Stream& stream, const Mirror& mirror, std::int64_t count, std::size_t size,
                const void* from, void* to) {
  by_size(size, [&](auto one) {
    using T = decltype(one);
    each(stream, count, MirrorBody<T>{mirror, static_cast<const T*>(from), static_cast<T*>(to)});
  });
}

}  // namespace drystone::gpu
