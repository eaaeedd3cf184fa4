// Where the windows of a pooling op lie.
#ifndef DRYSTONE_CPU_CORE_POOL_WINDOW_H_
#define DRYSTONE_CPU_CORE_POOL_WINDOW_H_

#include <algorithm>
#include <array>
#include <string>

#include "core/kernel.h"

namespace drystone::cpu {

// Pooling over [batch, 3 spatial dims, channels] in memory. Two-dimensional pooling has one more
// dim of 1 in front; with channels first each channel is an image of its own.
struct Pool {
  using Three = std::array<std::int64_t, 3>;
  std::int64_t batch = 0;
  std::int64_t channels = 0;
  Three in{1, 1, 1};
  Three size{1, 1, 1};
  Three stride{1, 1, 1};
  Three before{0, 0, 0};
  Three out{1, 1, 1};
  Dims result;  // dims of the output

  std::int64_t windows() const { return out[0] * out[1] * out[2]; }
  std::int64_t places() const { return in[0] * in[1] * in[2]; }
  // How much of the input a window covers at most: it may be far larger.
  std::int64_t taps() const {
    std::int64_t out = 1;
    for (std::size_t k = 0; k < 3; ++k) out *= std::min(size[k], in[k]);
    return out;
  }

  // The part of a window that lies in the input, per axis, for window `at` of [0, windows()).
  struct Part {
    Three first;
    Three last;
    std::int64_t count() const {
      return (last[0] - first[0]) * (last[1] - first[1]) * (last[2] - first[2]);
    }
  };
  Part part(std::int64_t at) const {
    Part p;
    for (std::size_t k = 3; k-- > 0;) {
      const std::int64_t start = at % out[k] * stride[k] - before[k];
      at /= out[k];
      p.first[k] = std::max<std::int64_t>(start, 0);
      p.last[k] = std::max(std::min(start + size[k], in[k]), p.first[k]);
    }
    return p;
  }
  // body(place) for each place of the part, in the order of memory.
  template <class Body>
  void each(const Part& p, Body&& body) const {
    for (std::int64_t d = p.first[0]; d < p.last[0]; ++d) {
      for (std::int64_t h = p.first[1]; h < p.last[1]; ++h) {
        const std::int64_t row = (d * in[1] + h) * in[2];
        for (std::int64_t w = p.first[2]; w < p.last[2]; ++w) body(row + w);
      }
    }
  }
};

// Attributes of a pooling node.
class PoolWindows {
 public:
  explicit PoolWindows(const Node& node);

  // For an input of these dims; `ksize` and `strides` are the node's or what its inputs say. Fails
  // with INVALID_ARGUMENT, or UNIMPLEMENTED for windows over the batch or the channels.
  Pool place(DimsView input, const Dims& ksize, const Dims& strides) const;
  Pool place(DimsView input) const { return place(input, ksize_, strides_); }

  bool channels_first() const { return channels_first_; }
  const Dims& ksize() const { return ksize_; }
  const Dims& strides() const { return strides_; }

 private:
  void check_padding(std::size_t rank) const;

  bool channels_first_;
  std::string padding_;
  Dims ksize_;
  Dims strides_;
  Dims explicit_;
};

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_CORE_POOL_WINDOW_H_
