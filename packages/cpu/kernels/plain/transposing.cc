// Elements in another order: transposed, reversed, or dealt to other dims in blocks.
#include <algorithm>

#include "core/family.h"
#include "core/moving_text.h"

namespace drystone::cpu {
namespace {

Sizes byte_steps(const Tensor& x) { return small_steps(x.dims(), element_size(x.dtype())); }

Sizes permutation(const Tensor& given, int rank) {
  Sizes perm = small_vector(given, "perm");
  if (perm.size() != static_cast<std::size_t>(rank)) {
    fail(TF_INVALID_ARGUMENT, "transpose expects a vector of size " + std::to_string(rank) +
                                  ". But input(1) is a vector of size " +
                                  std::to_string(perm.size()));
  }
  Sizes seen(perm.size());
  for (std::int64_t& axis : perm) {
    axis = wrap_axis(axis, rank, "perm");
    require(seen[static_cast<std::size_t>(axis)] == 0, "perm must hold each dimension once");
    seen[static_cast<std::size_t>(axis)] = 1;
  }
  return perm;
}

// Whether only dims of 1 change places.
bool keeps_order(const Tensor& x, const Sizes& perm) {
  std::int64_t last = -1;
  for (const std::int64_t axis : perm) {
    if (x.dim(static_cast<int>(axis)) == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

template <class T>
void conjugate(const Tensor& y) {
  T* parts = y.write<T>();
  for (std::int64_t k = 0; k < y.count(); ++k) parts[2 * k + 1] = -parts[2 * k + 1];
}

template <bool kConjugates>
void transpose(Call& call) {
  const Tensor x = call.input(0);
  const Sizes perm = permutation(call.input(1), x.rank());
  const Sizes steps = byte_steps(x);
  Sizes dims;
  Sizes in_steps;
  for (const std::int64_t axis : perm) {
    dims.push_back(x.dim(static_cast<int>(axis)));
    in_steps.push_back(steps[static_cast<std::size_t>(axis)]);
  }
  const bool conjugates = kConjugates && (x.dtype() == TF_COMPLEX64 || x.dtype() == TF_COMPLEX128);
  if (!conjugates && (x.count() == 0 || keeps_order(x, perm))) return call.share(0, 0, dims);
  const Tensor y = call.output(0, dims);
  gather_box(element_size(x.dtype()), dims, y.write<char>(), x.data(), in_steps);
  if (conjugates && x.dtype() == TF_COMPLEX64) conjugate<float>(y);
  if (conjugates && x.dtype() == TF_COMPLEX128) conjugate<double>(y);
}

void reversed(Call& call, const std::vector<bool>& backwards) {
  const Tensor x = call.input(0);
  Sizes steps = byte_steps(x);
  std::int64_t start = 0;
  bool changes = false;
  for (int k = 0; k < x.rank(); ++k) {
    if (!backwards[static_cast<std::size_t>(k)] || x.dim(k) <= 1) continue;
    start += (x.dim(k) - 1) * steps[static_cast<std::size_t>(k)];
    steps[static_cast<std::size_t>(k)] = -steps[static_cast<std::size_t>(k)];
    changes = true;
  }
  if (!changes || x.count() == 0) return call.share(0, 0, x.dims());
  const Tensor y = call.output(0, x.dims());
  gather_box(element_size(x.dtype()), x.dims(), y.write<char>(), x.as<char>() + start, steps);
}

void reverse(Call& call) {
  const Tensor x = call.input(0);
  const Tensor flags = call.input(1);
  require(flags.rank() == 1 && flags.dim(0) == x.rank(),
          "'dims' must hold one flag for each dimension");
  require(x.rank() == 0 || x.dim(0) > 0, "the first dimension must not be empty");
  reversed(call, std::vector<bool>(flags.as<bool>(), flags.as<bool>() + flags.count()));
}

void reverse_v2(Call& call) {
  const Tensor x = call.input(0);
  std::vector<bool> backwards(static_cast<std::size_t>(x.rank()), false);
  for (const std::int64_t given : int_vector(call.input(1), "axis")) {
    const auto axis = static_cast<std::size_t>(wrap_axis(given, x.rank()));
    require(!backwards[axis] || x.count() == 0, "axis specified more than once");
    backwards[axis] = true;
  }
  reversed(call, backwards);
}

class ReverseSequence {
 public:
  explicit ReverseSequence(const Node& node)
      : seq_(node.integer("seq_dim")), batch_(node.integer("batch_dim")) {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    const Dims lengths = int_vector(call.input(1), "seq_lengths");
    require(seq_ >= 0 && seq_ < x.rank() && batch_ >= 0 && batch_ < x.rank() && seq_ != batch_,
            "seq_dim and batch_dim must be two different dimensions");
    const int seq = static_cast<int>(seq_);
    const int batch = static_cast<int>(batch_);
    require(static_cast<std::int64_t>(lengths.size()) == x.dim(batch),
            "seq_lengths must hold one length for each batch entry");
    for (const std::int64_t length : lengths) {
      require(length >= 0 && length <= x.dim(seq),
              "seq_lengths must lie in [0, the sequence's dimension]");
    }
    const Tensor y = call.output(0, x.dims());
    const Sizes steps = byte_steps(x);
    Dims dims(x.dims().begin(), x.dims().end());
    const std::size_t size = element_size(x.dtype());
    for (std::int64_t b = 0; b < x.dim(batch) && x.count() > 0; ++b) {
      const std::int64_t length = lengths[static_cast<std::size_t>(b)];
      const std::int64_t step = steps[static_cast<std::size_t>(seq)];
      const std::int64_t start = b * steps[static_cast<std::size_t>(batch)];
      dims[static_cast<std::size_t>(batch)] = 1;
      dims[static_cast<std::size_t>(seq)] = length;
      Sizes back = steps;
      back[static_cast<std::size_t>(seq)] = -step;
      move_box(size, dims, y.write<char>() + start, steps,
               x.as<char>() + start + (length - 1) * step, back);
      dims[static_cast<std::size_t>(seq)] = x.dim(seq) - length;
      move_box(size, dims, y.write<char>() + start + length * step, steps,
               x.as<char>() + start + length * step, steps);
    }
  }

 private:
  std::int64_t seq_;
  std::int64_t batch_;
};

// Blocks of height and width to channels, and back. Dims by name: n, c, h, w.
class DepthAndSpace {
 public:
  explicit DepthAndSpace(const Node& node)
      : block_(node.integer("block_size")), layout_(node.string("data_format")) {
    require(layout_ == "NHWC" || layout_ == "NCHW", "data_format must be NHWC or NCHW");
    require(block_ >= 2, "block_size must be 2 or more");
    require(block_ <= INT32_MAX, "block_size is too large");  // so its square is a number
  }

 protected:
  bool last() const { return layout_ == "NHWC"; }
  // Where dims h, w and c are.
  int h() const { return last() ? 1 : 2; }
  int w() const { return last() ? 2 : 3; }
  int c() const { return last() ? 3 : 1; }
  // The extent of a dim; where nothing is stored, a product may be no number.
  static std::int64_t times(std::int64_t extent, std::int64_t factor) {
    require(!__builtin_mul_overflow(extent, factor, &extent), "the output is too large");
    return extent;
  }
  // A tensor's dims in its layout.
  Dims shape(std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c) const {
    return last() ? Dims{n, h, w, c} : Dims{n, c, h, w};
  }
  std::int64_t block_;

 private:
  std::string layout_;
};

class SpaceToDepth : DepthAndSpace {
 public:
  using DepthAndSpace::DepthAndSpace;
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    require(x.rank() == 4, "Input rank should be: 4");
    require(x.dim(h()) % block_ == 0 && x.dim(w()) % block_ == 0,
            "height and width must be multiples of block_size");
    const std::int64_t height = x.dim(h()) / block_;
    const std::int64_t width = x.dim(w()) / block_;
    const std::int64_t depth = x.dim(c());
    const Tensor y = call.output(0, shape(x.dim(0), height, width, times(depth, block_ * block_)));
    if (y.count() == 0) return;
    const Sizes s = byte_steps(x);
    const std::int64_t sh = s[static_cast<std::size_t>(h())];
    const std::int64_t sw = s[static_cast<std::size_t>(w())];
    const std::int64_t sc = s[static_cast<std::size_t>(c())];
    const Dims dims = last() ? Dims{x.dim(0), height, width, block_, block_, depth}
                             : Dims{x.dim(0), block_, block_, depth, height, width};
    const Dims steps = last() ? Dims{s[0], sh * block_, sw * block_, sh, sw, sc}
                              : Dims{s[0], sh, sw, sc, sh * block_, sw * block_};
    gather_box(element_size(x.dtype()), dims, y.write<char>(), x.data(), steps);
  }
};

class DepthToSpace : DepthAndSpace {
 public:
  using DepthAndSpace::DepthAndSpace;
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    require(x.rank() == 4, "Input rank should be: 4");
    require(x.dim(c()) % (block_ * block_) == 0,
            "the depth must be a multiple of block_size squared");
    const std::int64_t depth = x.dim(c()) / (block_ * block_);
    const std::int64_t height = x.dim(h());
    const std::int64_t width = x.dim(w());
    const Tensor y =
        call.output(0, shape(x.dim(0), times(height, block_), times(width, block_), depth));
    if (y.count() == 0) return;
    const Sizes s = byte_steps(x);
    const std::int64_t sh = s[static_cast<std::size_t>(h())];
    const std::int64_t sw = s[static_cast<std::size_t>(w())];
    const std::int64_t sc = s[static_cast<std::size_t>(c())];
    const Dims dims = last() ? Dims{x.dim(0), height, block_, width, block_, depth}
                             : Dims{x.dim(0), depth, height, block_, width, block_};
    const Dims steps = last() ? Dims{s[0], sh, sc * block_ * depth, sw, sc * depth, sc}
                              : Dims{s[0], sc, sh, sc * block_ * depth, sw, sc * depth};
    gather_box(element_size(x.dtype()), dims, y.write<char>(), x.data(), steps);
  }
};

}  // namespace

const Family registered([] {
  add_moving<transpose<false>>("Transpose");
  add_moving<transpose<true>>("ConjugateTranspose");
  add_moving<reverse>("Reverse");
  add_moving<reverse_v2>("ReverseV2");
  add_moving<ReverseSequence>("ReverseSequence");
  add_moving<SpaceToDepth>("SpaceToDepth");
  add_moving<DepthToSpace>("DepthToSpace");
});

}  // namespace drystone::cpu
