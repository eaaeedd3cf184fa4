// Depthwise convolutions of images whose channels are first: plane by plane, without a transpose.
#ifndef DRYSTONE_CPU_DNNL_PLANES_H_
#define DRYSTONE_CPU_DNNL_PLANES_H_

#include <limits>
#include <memory>
#include <vector>

#include "dnnl/plane_strips.h"
#include "dnnl/window.h"

namespace drystone::cpu::dnnl_part {

// What the sums of a plane go through before they are stored.
struct Clamp {
  const float* bias = nullptr;  // by channel of the result; NULL: none
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();  // NaN passes both
};

// The convolution, or its gradients, for shapes that are known. Places of the result are counted along
// the rows of the image, so that a vector may hold the end of one row and the begin of the next: each
// tap of the filter is one distance in memory then, and a mask says for which lanes it lies in the
// image. Taps outside of it are left out, not multiplied by zero. Where windows move by several places,
// the image is first split by the remainders of its rows and columns.
class Planes {
 public:
  enum class Way { forward, input_gradient, filter_gradient };

  // Whether it is for such a convolution, on this processor.
  static bool suits(const Geometry& g, bool channels_first, bool is_depthwise, Way way);

  Planes(const Geometry& g, Way way);

  // Way::forward: `to` of the image `from`. Way::input_gradient: the image's gradient of the result's.
  void run(const float* from, const float* filter, const Clamp& after, float* to) const;
  // Way::filter_gradient: that of the image and the result's gradient.
  void filter_gradient(const float* image, const float* grad, float* to) const;

 private:
  // An axis: what is read, what is made of it, and how.
  struct Axis {
    std::int64_t in, out, size, stride, step, before;
    // Where tap k of place 0 reads.
    std::int64_t reads(std::int64_t k) const { return k * step - before; }
  };
  static Axis axis(const Geometry& g, std::size_t k, Way way);
  bool fill_strips(Way way) const;
  Strips in_strips(const Clamp& after) const;
  void place_taps();
  void mark_group(std::int64_t group);
  void place_results();
  bool is_read(std::int64_t row, std::int64_t column, std::int64_t tap) const;
  // The plane as it is read: itself, or split in `room`.
  const float* split(const float* plane, float* room) const;
  std::unique_ptr<float[]> new_room(std::int64_t planes) const;

  std::int64_t batch_;
  std::int64_t channels_;
  std::int64_t times_;  // results of a channel
  bool backward_;
  Axis rows_;
  Axis columns_;
  bool in_strips_;  // row by row: for filters that are usual
  bool splits_;
  std::int64_t pitch_;       // elements from one row to the next, of what is read
  std::int64_t part_;        // elements of one part of a split plane
  std::int64_t in_area_;
  std::int64_t out_area_;
  std::int64_t taps_;
  std::int64_t groups_;      // of vectors
  bool packs_;               // rows of the result are shorter than the pitch
  std::vector<std::int64_t> offsets_;   // by tap
  std::vector<std::uint64_t> masks_;    // by group and tap: which lanes are read
  std::vector<std::uint8_t> whole_;     // by group: all lanes of all taps are
  std::vector<std::uint16_t> kept_;     // by vector: lanes that are places of the result
  std::vector<std::int64_t> stored_;    // by vector: the first of these
};

}  // namespace drystone::cpu::dnnl_part

#endif  // DRYSTONE_CPU_DNNL_PLANES_H_
