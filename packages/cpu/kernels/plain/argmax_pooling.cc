// Maximum pooling that says where the maxima were, and what is handed back to these places.
#include <vector>

#include "core/family.h"
#include "core/moving.h"
#include "core/pool_window.h"
#include "core/widen.h"

namespace drystone::cpu {
namespace {

// Attributes of a node of the family, and the geometry for its image.
class Windows {
 public:
  explicit Windows(const Node& node)
      : windows_(node), counts_batch_(node.boolean("include_batch_in_index")) {}
  Pool place(const Tensor& x) const {
    require(x.rank() == 4, "the input must be a batch of images");
    return windows_.place(x.dims());
  }
  // What is added to a place in example `k` of `count`, for it to be one in memory.
  std::int64_t missing(std::int64_t k, std::int64_t count) const { return counts_batch_ ? 0 : k * count; }
  bool counts_batch() const { return counts_batch_; }

 private:
  PoolWindows windows_;
  bool counts_batch_;
};

// The maxima of one window of one example, [channels], and where each was first; -1 for nowhere.
// A NaN that comes first stays.
template <class T, class Index>
void largest(const Pool& pool, std::int64_t window, const T* image, std::int64_t start, T* best,
             Index* index) {
  const std::int64_t channels = pool.channels;
  std::fill_n(best, channels, T{});
  std::fill_n(index, channels, static_cast<Index>(start - 1));
  bool is_first = true;
  pool.each(pool.part(window), [&](std::int64_t place) {
    const T* row = image + place * channels;
    for (std::int64_t c = 0; c < channels; ++c) {
      if (!is_first && !(widen(best[c]) < widen(row[c]))) continue;
      best[c] = row[c];
      index[c] = static_cast<Index>(start + place * channels + c);
    }
    is_first = false;
  });
}

template <class T, class Index>
class MaxPool : Windows {
 public:
  explicit MaxPool(const Node& node) : Windows(node) {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    require(x.count() > 0, "the input must not be empty");
    const Pool pool = place(x);
    T* best = call.output(0, pool.result).template write<T>();
    Index* index = call.output(1, pool.result).template write<Index>();
    const std::int64_t windows = pool.windows();
    const std::int64_t count = pool.places() * pool.channels;
    parallel(pool.batch * windows, pool.taps() * pool.channels, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        const std::int64_t example = k / windows;
        largest(pool, k % windows, x.as<T>() + example * count, counts_batch() ? example * count : 0,
                best + k * pool.channels, index + k * pool.channels);
      }
    });
  }
};

// Input 2 as places in input 0, checked.
Dims given_places(const Call& call, const Windows& windows) {
  const Tensor x = call.input(0);
  const Tensor given = call.input(2);
  const Pool pool = windows.place(x);
  require(std::ranges::equal(given.dims(), pool.result), "argmax must have the pooled output's shape");
  const std::int64_t each = pool.places() * pool.channels;
  const std::int64_t pooled = pool.windows() * pool.channels;
  Dims out(static_cast<std::size_t>(given.count()));
  for (std::int64_t k = 0; k < given.count(); ++k) {
    std::int64_t at = 0;
    const bool fits = !__builtin_add_overflow(integer_at(given, k), windows.missing(k / pooled, each), &at);
    require(fits && at >= 0 && at < x.count(), "argmax must point into the input");
    out[static_cast<std::size_t>(k)] = at;
  }
  return out;
}

template <class T>
class Gradient : Windows {
 public:
  explicit Gradient(const Node& node) : Windows(node) {}
  void compute(Call& call) const {
    const Dims places = given_places(call, *this);
    const Tensor dy = call.input(1);
    require(std::ranges::equal(dy.dims(), call.input(2).dims()),
            "the gradient must have the pooled output's shape");
    const Tensor dx = call.output(0, call.input(0).dims());
    std::vector<Wide<T>> total(static_cast<std::size_t>(dx.count()));
    for (std::size_t k = 0; k < places.size(); ++k) {
      auto& to = total[static_cast<std::size_t>(places[k])];
      to = wrapping_add(to, widen(dy.as<T>()[k]));
    }
    std::ranges::transform(total, dx.write<T>(), [](Wide<T> value) { return narrow<T>(value); });
  }
};

template <class T>
class SecondGradient : Windows {
 public:
  explicit SecondGradient(const Node& node) : Windows(node) {}
  void compute(Call& call) const {
    const Dims places = given_places(call, *this);
    const Tensor dx = call.input(1);
    require(std::ranges::equal(dx.dims(), call.input(0).dims()), "the gradient must have the input's shape");
    T* out = call.output(0, call.input(2).dims()).template write<T>();
    std::ranges::transform(places, out, [&](std::int64_t at) { return dx.as<T>()[at]; });
  }
};

template <class T>
void add_for(TF_DataType dtype) {
  add<MaxPool<T, std::int32_t>>("MaxPoolWithArgmax", {{"T", {dtype}}, {"Targmax", {TF_INT32}}});
  add<MaxPool<T, std::int64_t>>("MaxPoolWithArgmax", {{"T", {dtype}}, {"Targmax", {TF_INT64}}});
  add<Gradient<T>>("MaxPoolGradWithArgmax", {{"T", {dtype}}});
  add<SecondGradient<T>>("MaxPoolGradGradWithArgmax", {{"T", {dtype}}});
}

}  // namespace

const Family registered([] {
  add_for<float>(TF_FLOAT);
  add_for<double>(TF_DOUBLE);
  add_for<Half>(TF_HALF);
  add_for<BFloat16>(TF_BFLOAT16);
  add_for<std::int8_t>(TF_INT8);
  add_for<std::int16_t>(TF_INT16);
  add_for<std::int32_t>(TF_INT32);
  add_for<std::int64_t>(TF_INT64);
  add_for<std::uint8_t>(TF_UINT8);
  add_for<std::uint16_t>(TF_UINT16);
  add_for<std::uint32_t>(TF_UINT32);
  add_for<std::uint64_t>(TF_UINT64);
});

}  // namespace drystone::cpu
