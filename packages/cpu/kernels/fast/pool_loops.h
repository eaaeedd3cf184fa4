// What maximum and average pooling share: windows of images, or planes, by several threads.
#ifndef DRYSTONE_CPU_FAST_POOL_LOOPS_H_
#define DRYSTONE_CPU_FAST_POOL_LOOPS_H_

#include <iterator>

#include "core/pool_window.h"
#include "fast/lanes.h"
#include "fast/neighbours.h"
#include "fast/plane_gradients.h"
#include "fast/plane_pooling.h"

namespace drystone::cpu {

// Images of the op's rank: [N, H, W, C], or with one more dimension where `spatial` is 3.
inline void check_rank(const Tensor& x, int spatial) {
  require(x.rank() == spatial + 2, "the input's rank must fit");
}

// A kernel that is told how many dimensions of space its op has: compiled once for all of them.
template <class Kernel, int kSpatial>
struct In : Kernel {
  explicit In(const Node& node) : Kernel(node, kSpatial) {}
};

// body(image, window, part) for the windows of rows [begin, end), which are counted through all
// images.
template <class Body>
DRYSTONE_INLINE void walk_rows(const Pool& p, std::int64_t begin, std::int64_t end, Body&& body) {
  const std::int64_t rows = p.out[0] * p.out[1];
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t window = row % rows * p.out[2];
    Pool::Part part = p.part(window);
    for (std::int64_t w = 0; w < p.out[2]; ++w) {
      const std::int64_t start = w * p.stride[2] - p.before[2];
      part.first[2] = std::max<std::int64_t>(start, 0);
      part.last[2] = std::max(std::min(start + p.size[2], p.in[2]), part.first[2]);
      body(row / rows, window + w, part);
    }
  }
}

// The same for all windows of all images, by several threads.
template <class Body>
void each_window(const Pool& p, Body&& body) {
  if (p.windows() == 0) return;
  const std::int64_t cost = p.out[2] * (5 + p.taps() * p.channels / 16);
  parallel(p.batch * p.out[0] * p.out[1], cost,
           [&](std::int64_t begin, std::int64_t end) { walk_rows(p, begin, end, body); });
}

// Pool by planes where channels are first and rows of windows fill registers: work(a Worker of the
// thread's, plane) for each. Says whether it did.
template <class T, template <class> class Worker, class Work>
bool each_plane(const Pool& given, bool channels_first, Work&& work) {
  if constexpr (std::is_integral_v<T>) return false;  // few pool those: in the order of channels
  else {
    if (!channels_first) return false;
    const Pool p = lying(given);
    if (!in_rows<T>(p)) return false;
    parallel(p.batch, plane_cost(p), [&](std::int64_t begin, std::int64_t end) {
      Worker<T> worker(p);
      for (std::int64_t plane = begin; plane < end; ++plane) work(worker, plane);
    });
    return true;
  }
}

// The same for a worker that makes one number of each window.
template <class T, template <class> class Worker>
bool pool_planes(const Pool& p, bool channels_first, const Tensor& x, T* to) {
  return each_plane<T, Worker>(p, channels_first, [&](auto& worker, std::int64_t plane) {
    const std::int64_t at = plane * p.places();
    worker.pool(x.as<T>() + at, x.count() - at - p.places(), to + plane * p.windows());
  });
}

inline void check_gradient(const Tensor& dy, const Pool& p) {
  if (std::ranges::equal(dy.dims(), p.result)) return;
  fail(TF_INVALID_ARGUMENT, "the gradient must have the shape of the pooled output: " +
                                text(dy.dims()) + " instead of " + text(p.result));
}

// body(image) for all images: windows that overlap add to the same elements, so that an image stays
// with one thread.
template <class Body>
void each_image(const Pool& p, Body&& body) {
  parallel(p.batch, 1 + p.windows() * p.taps() * p.channels / 4,
           [&](std::int64_t begin, std::int64_t end) {
             for (std::int64_t image = begin; image < end; ++image) body(image);
           });
}

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_FAST_POOL_LOOPS_H_
