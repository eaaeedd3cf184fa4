// im2col: convolutions of shapes that oneDNN has only its reference code for, which is some hundred times slower.
#ifndef DRYSTONE_CPU_DNNL_IM2COL_H_
#define DRYSTONE_CPU_DNNL_IM2COL_H_

#include <string_view>

#include "dnnl/weights.h"
#include "dnnl/window.h"

namespace drystone::cpu::dnnl_part {

// Whether an implementation, by oneDNN's name of it, is the reference.
inline bool is_reference(std::string_view name) { return name.find("ref") != name.npos; }

// The windows of an image whose channels are last, written out: a row for each place of the output. A
// convolution of any shape is one of single places then, with the same weights in the same order in
// memory. Rows are made for so many places at a time that they stay in the caches.
class Im2col {
 public:
  explicit Im2col(const Geometry& g);

  std::int64_t places() const { return places_; }
  // How many places are done at once, but for the last ones.
  std::int64_t at_once() const { return at_once_; }
  // Elements of a place's row.
  std::int64_t width() const { return width_; }
  // The convolution of the rows of so many places.
  Geometry of(std::int64_t places) const;

  // Writes the rows of places [first, first + count).
  void gather(const void* image, std::int64_t first, std::int64_t count, void* rows) const;
  // Adds these rows to where they are from; of floats.
  void scatter(const float* rows, std::int64_t first, std::int64_t count, float* image) const;

 private:
  // Calls visit(offset in the row, offset in the image or -1 for zeros, elements) for all pieces of the
  // first group in a place's row; those of the others are as far apart as the groups are.
  template <class Visit>
  void pieces(std::int64_t place, Visit&& visit) const;
  template <class Element>
  void gather_as(const Element* image, std::int64_t first, std::int64_t count, Element* rows) const;

  static constexpr std::size_t kAxes = 3;
  struct Axis {
    std::int64_t in = 1, size = 1, out = 1, stride = 1, step = 1, before = 0;
  };
  Geometry g_;
  Axis axes_[kAxes];
  std::int64_t places_;
  std::int64_t width_;
  std::int64_t at_once_;
};

// Images whose channels are first, brought to the end and back: oneDNN has code for more of these.
class ChannelsLast {
 public:
  explicit ChannelsLast(const Geometry& g);
  const Packing& x() const { return x_; }
  const Packing& y() const { return y_; }
  const Packing& x_back() const { return x_back_; }
  const Packing& y_back() const { return y_back_; }

  // `from` with its channels last: itself, or in memory of the call.
  static const void* last(const Call& call, const Packing& to_last, const void* from);
  static void back(const Call& call, const Packing& to_first, const void* from, void* to);
  // Memory of the call for what the packing gives.
  static void* room(const Call& call, const Packing& to_last);

 private:
  Packing x_;
  Packing y_;
  Packing x_back_;
  Packing y_back_;
};

}  // namespace drystone::cpu::dnnl_part

#endif  // DRYSTONE_CPU_DNNL_IM2COL_H_
