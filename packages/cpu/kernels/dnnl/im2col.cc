// Windows written out: see dnnl/im2col.h.
#include "dnnl/im2col.h"

#include <algorithm>
#include <cstring>

namespace drystone::cpu::dnnl_part {

Im2col::Im2col(const Geometry& g)
    : g_(g),
      places_(g.batch * product(g.out)),
      width_(g.groups * g.depth * product(g.size)) {
  constexpr std::int64_t kRoom = 1 << 18;  // elements that a second cache holds
  const std::size_t others = kAxes - g.out.size();  // in front: pieces() goes along the last
  for (std::size_t k = 0; k < g.out.size(); ++k) {
    axes_[others + k] = {g.spatial[k], g.size[k], g.out[k], g.strides[k], g.dilations[k] + 1, g.before[k]};
  }
  at_once_ = std::clamp<std::int64_t>(kRoom / std::max<std::int64_t>(width_, 1), 64,
                                      std::max<std::int64_t>(places_, 64));
  at_once_ = std::min(at_once_, std::max<std::int64_t>(places_, 1));
}

Geometry Im2col::of(std::int64_t places) const {
  Geometry out{};
  out.type = g_.type;
  out.batch = 1;
  out.channels = width_;
  out.groups = g_.groups;
  out.depth = width_ / g_.groups;
  out.count = g_.count;
  out.spatial = out.out = {1, places};
  out.size = {1, 1};
  out.strides = {1, 1};
  out.dilations = out.before = out.after = {0, 0};
  return out;
}

template <class Visit>
void Im2col::pieces(std::int64_t place, Visit&& visit) const {
  std::int64_t at[kAxes];
  for (std::size_t k = kAxes; k-- > 0;) {
    at[k] = place % axes_[k].out * axes_[k].stride - axes_[k].before;
    place /= axes_[k].out;
  }
  const Axis& last = axes_[kAxes - 1];
  const std::int64_t width = last.size * g_.depth;
  std::int64_t to = 0;
  for (std::int64_t i = 0; i < axes_[0].size; ++i) {
    const std::int64_t a = at[0] + i * axes_[0].step;
    for (std::int64_t j = 0; j < axes_[1].size; ++j, to += width) {
      const std::int64_t b = at[1] + j * axes_[1].step;
      if (a < 0 || a >= axes_[0].in || b < 0 || b >= axes_[1].in) {
        visit(to, -1, width);
        continue;
      }
      const std::int64_t line = ((place * axes_[0].in + a) * axes_[1].in + b) * last.in;
      // The first place of the window that is in the image, and the first one behind it.
      const std::int64_t begin = std::clamp<std::int64_t>((last.step - 1 - at[2]) / last.step, 0, last.size);
      const std::int64_t end =
          std::clamp<std::int64_t>((last.in - at[2] + last.step - 1) / last.step, begin, last.size);
      if (begin > 0) visit(to, -1, begin * g_.depth);
      if (end < last.size) visit(to + end * g_.depth, -1, (last.size - end) * g_.depth);
      const bool is_run = last.step == 1 && g_.groups == 1;
      const std::int64_t each = is_run ? end - begin : 1;
      for (std::int64_t k = begin; k < end; k += each) {
        visit(to + k * g_.depth, (line + at[2] + k * last.step) * g_.channels, each * g_.depth);
      }
    }
  }
}

template <class Element>
void Im2col::gather_as(const Element* image, std::int64_t first, std::int64_t count,
                        Element* rows) const {
  const std::int64_t group = width_ / g_.groups;
  parallel(count, 1 + width_ / 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      Element* const out = rows + row * width_;
      pieces(first + row, [&](std::int64_t to, std::int64_t from, std::int64_t elements) {
        for (std::int64_t k = 0; k < g_.groups; ++k) {
          Element* const piece = out + k * group + to;
          if (from < 0) std::fill_n(piece, elements, Element{0});
          else if (elements == 1) *piece = image[from + k];
          else std::copy_n(image + from + k * g_.depth, elements, piece);
        }
      });
    }
  });
}

void Im2col::gather(const void* image, std::int64_t first, std::int64_t count, void* rows) const {
  if (g_.type == Type::f32) {
    gather_as(static_cast<const float*>(image), first, count, static_cast<float*>(rows));
  } else {
    gather_as(static_cast<const std::uint16_t*>(image), first, count,
              static_cast<std::uint16_t*>(rows));
  }
}

void Im2col::scatter(const float* rows, std::int64_t first, std::int64_t count,
                      float* image) const {
  const std::int64_t group = width_ / g_.groups;
  for (std::int64_t row = 0; row < count; ++row) {
    const float* const in = rows + row * width_;
    pieces(first + row, [&](std::int64_t at, std::int64_t to, std::int64_t elements) {
      if (to < 0) return;
      for (std::int64_t k = 0; k < g_.groups; ++k) {
        const float* const piece = in + k * group + at;
        float* const sums = image + to + k * g_.depth;
        for (std::int64_t i = 0; i < elements; ++i) sums[i] += piece[i];
      }
    });
  }
}

ChannelsLast::ChannelsLast(const Geometry& g)
    : x_(image(g, g.spatial, g.channels, true), image(g, g.spatial, g.channels, false)),
      y_(image(g, g.out, g.count, true), image(g, g.out, g.count, false)),
      x_back_(x_.wanted(), image(g, g.spatial, g.channels, true)),
      y_back_(y_.wanted(), image(g, g.out, g.count, true)) {}

const void* ChannelsLast::last(const Call& call, const Packing& to_last, const void* from) {
  if (!to_last.is_needed()) return from;
  void* const out = room(call, to_last);
  to_last.run(call, from, out);
  return out;
}

void ChannelsLast::back(const Call& call, const Packing& to_first, const void* from, void* to) {
  if (to_first.is_needed()) to_first.run(call, from, to);
  else std::memcpy(to, from, to_first.wanted().get_size());
}

void* ChannelsLast::room(const Call& call, const Packing& to_last) {
  return call.scratch<char>(static_cast<std::int64_t>(to_last.wanted().get_size()));
}

}  // namespace drystone::cpu::dnnl_part
