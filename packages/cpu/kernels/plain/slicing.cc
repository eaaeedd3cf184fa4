// Regions cut out of a tensor, or written into one.
#include <algorithm>
#include <cstring>

#include "core/family.h"
#include "core/moving_text.h"

namespace drystone::cpu {
namespace {

void slice(Call& call) {
  const Tensor x = call.input(0);
  const Sizes begin = small_vector(call.input(1), "begin");
  Sizes dims = small_vector(call.input(2), "size");
  require(begin.size() == dims.size() && static_cast<int>(dims.size()) == x.rank(),
          "begin and size must hold one number for each dimension");
  const std::size_t bytes = element_size(x.dtype());
  const Sizes steps = small_steps(x.dims(), bytes);
  std::int64_t start = 0;
  bool whole = true;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    const std::int64_t d = x.dims()[k];
    if (dims[k] == -1) dims[k] = d - begin[k];
    if (begin[k] < 0 || begin[k] > d || dims[k] < 0 || dims[k] > d - begin[k]) {
      fail(TF_INVALID_ARGUMENT,
           "Expected begin[" + std::to_string(k) + "] in [0, " + std::to_string(d) +
               "] and a size inside the dimension, but got begin " + text(begin));
    }
    start += begin[k] * steps[k];
    whole = whole && dims[k] == d;
  }
  if (whole) return call.share(0, 0, dims);
  const Tensor y = call.output(0, dims);
  gather_box(bytes, dims, y.write<char>(), x.as<char>() + start, steps);
}

// The region that a strided slice shows: its dims, and where each is in the tensor, in elements.
struct Region {
  Sizes dims;
  Sizes steps;
  std::int64_t start = 0;
};

// Bits of the masks at place k.
struct Masks {
  explicit Masks(const Node& node)
      : begin(node.integer("begin_mask")),
        end(node.integer("end_mask")),
        ellipsis(node.integer("ellipsis_mask")),
        fresh(node.integer("new_axis_mask")),
        shrink(node.integer("shrink_axis_mask")) {}
  static bool bit(std::int64_t mask, std::size_t k) {
    return (mask >> std::min<std::size_t>(k, 63) & 1) != 0;
  }
  std::int64_t begin;
  std::int64_t end;
  std::int64_t ellipsis;
  std::int64_t fresh;
  std::int64_t shrink;
};

// Walks over the specification of a strided slice.
class Slicer {
 public:
  Slicer(const Masks& masks, DimsView dims, const Call& call, int first)
      : masks_(masks),
        dims_(dims),
        steps_(small_steps(dims, 1)),
        low_(small_vector(call.input(first), "begin")),
        high_(small_vector(call.input(first + 1), "end")),
        step_(small_vector(call.input(first + 2), "strides")) {
    require(low_.size() == high_.size() && low_.size() == step_.size(),
            "begin, end and strides must be of one length");
  }
  Region region() {
    std::size_t taken = 0;
    int ellipses = 0;
    for (std::size_t k = 0; k < low_.size(); ++k) {
      if (Masks::bit(masks_.ellipsis, k)) ++ellipses;
      else if (!Masks::bit(masks_.fresh, k)) ++taken;
    }
    require(ellipses <= 1, "Multiple ellipses in slice spec not allowed");
    if (taken > dims_.size()) {
      fail(TF_INVALID_ARGUMENT, "Index out of range using input dim " +
                                    std::to_string(dims_.size()) + "; input has only " +
                                    std::to_string(dims_.size()) + " dims");
    }
    const std::size_t covered = dims_.size() - taken;
    for (std::size_t k = 0; k < low_.size(); ++k) {
      if (Masks::bit(masks_.ellipsis, k)) {
        for (std::size_t j = 0; j < covered; ++j) keep();
      } else if (Masks::bit(masks_.fresh, k)) {
        put(1, 0);
      } else {
        take(k);
      }
    }
    while (dim_ < dims_.size()) keep();
    return std::move(out_);
  }

 private:
  void put(std::int64_t dim, std::int64_t step) {
    out_.dims.push_back(dim);
    out_.steps.push_back(step);
  }
  void keep() {
    put(dims_[dim_], steps_[dim_]);
    ++dim_;
  }
  void take(std::size_t k) {
    const std::int64_t size = dims_[dim_];
    const std::int64_t step = step_[k];
    if (step == 0) fail(TF_INVALID_ARGUMENT, "strides[" + std::to_string(k) + "] must be non-zero");
    if (Masks::bit(masks_.shrink, k)) {
      index(low_[k] < 0 ? low_[k] + size : low_[k], size, step);
    } else {
      range(k, size, step);
    }
    ++dim_;
  }
  void index(std::int64_t place, std::int64_t size, std::int64_t step) {
    require(step > 0, "only stride 1 allowed on non-range indexing.");
    if (place < 0 || place >= size) {
      fail(TF_INVALID_ARGUMENT, "slice index " + std::to_string(place) + " of dimension " +
                                    std::to_string(dim_) + " out of bounds.");
    }
    out_.start += place * steps_[dim_];
  }
  void range(std::size_t k, std::int64_t size, std::int64_t step) {
    const std::int64_t least = step > 0 ? 0 : -1;
    const std::int64_t most = step > 0 ? size : size - 1;
    const auto clamp = [&](std::int64_t value) {
      return std::min(std::max(value < 0 ? value + size : value, least), most);
    };
    const std::int64_t start =
        Masks::bit(masks_.begin, k) ? (step > 0 ? least : most) : clamp(low_[k]);
    const std::int64_t stop =
        Masks::bit(masks_.end, k) ? (step > 0 ? most : least) : clamp(high_[k]);
    const std::int64_t way = step > 0 ? stop - start : start - stop;
    const std::uint64_t stride =
        step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
    const std::int64_t count =
        way <= 0 ? 0
                 : static_cast<std::int64_t>((static_cast<std::uint64_t>(way) - 1) / stride) + 1;
    // A step that is never taken may be too far to be calculated.
    put(count, count > 1 ? step * steps_[dim_] : 0);
    if (count > 0) out_.start += start * steps_[dim_];
  }

  const Masks& masks_;
  DimsView dims_;
  Sizes steps_;
  Sizes low_;
  Sizes high_;
  Sizes step_;
  std::size_t dim_ = 0;
  Region out_;
};

// Whether the region is all of a tensor of so many elements, in order.
bool is_whole(const Region& region, std::int64_t count) {
  if (product(region.dims) != count) return false;
  std::int64_t next = 1;
  for (std::size_t k = region.dims.size(); k-- > 0;) {
    if (region.dims[k] == 1) continue;
    if (region.steps[k] != next) return false;
    next *= region.dims[k];
  }
  return true;
}

void to_bytes(Region& region, std::size_t size) {
  for (std::int64_t& step : region.steps) step *= static_cast<std::int64_t>(size);
  region.start *= static_cast<std::int64_t>(size);
}

class StridedSlice {
 public:
  explicit StridedSlice(const Node& node) : masks_(node) {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    Region region = Slicer(masks_, x.dims(), call, 1).region();
    if (is_whole(region, x.count())) return call.share(0, 0, region.dims);
    const std::size_t size = element_size(x.dtype());
    to_bytes(region, size);
    const Tensor y = call.output(0, region.dims);
    if (y.count() == 0) return;
    gather_box(size, region.dims, y.write<char>(), x.as<char>() + region.start, region.steps);
  }

 private:
  Masks masks_;
};

// Steps that walk a value along the region's dims, 0 where it is repeated. Empty: it does not fit.
bool steps_along(const Tensor& value, DimsView dims, bool broadcasts, Dims& out) {
  const auto rank = static_cast<std::size_t>(value.rank());
  if (rank > dims.size() || (!broadcasts && rank != dims.size())) return false;
  const Dims steps = steps_of(value.dims());
  out.assign(dims.size(), 0);
  for (std::size_t k = 0; k < rank; ++k) {
    const std::size_t at = dims.size() - rank + k;
    if (value.dims()[k] == dims[at]) out[at] = steps[k];
    else if (!broadcasts || value.dims()[k] != 1) return false;
  }
  return true;
}

void write_region(const Tensor& out, Region region, const Tensor& value, bool broadcasts) {
  Dims steps;
  if (!steps_along(value, region.dims, broadcasts, steps)) {
    fail(TF_INVALID_ARGUMENT, "shape of the value " + text(value.dims()) +
                                  " must be that of the region " + text(region.dims));
  }
  const std::size_t size = element_size(out.dtype());
  to_bytes(region, size);
  for (std::int64_t& step : steps) step *= static_cast<std::int64_t>(size);
  if (product(region.dims) == 0) return;
  move_box(size, region.dims, out.write<char>() + region.start, region.steps, value.data(), steps);
}

class StridedSliceGrad {
 public:
  explicit StridedSliceGrad(const Node& node) : masks_(node) {}
  void compute(Call& call) const {
    const Dims dims = int_vector(call.input(0), "shape");
    check_dims(dims);
    const Tensor y = call.output(0, dims);
    std::memset(y.write<char>(), 0, static_cast<std::size_t>(y.count()) * element_size(y.dtype()));
    write_region(y, Slicer(masks_, y.dims(), call, 1).region(), call.input(4), false);
  }

 private:
  Masks masks_;
};

class TensorStridedSliceUpdate {
 public:
  explicit TensorStridedSliceUpdate(const Node& node) : masks_(node) {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    const Region region = Slicer(masks_, x.dims(), call, 1).region();
    const Tensor y = call.output(0, x.dims(), 0);
    if (y.data() != x.data()) {
      copy_bytes(y.write<char>(), x.data(),
                 x.count() * static_cast<std::int64_t>(element_size(x.dtype())));
    }
    write_region(y, region, call.input(4), true);
  }

 private:
  Masks masks_;
};

class ResourceStridedSliceAssign {
 public:
  explicit ResourceStridedSliceAssign(const Node& node) : masks_(node) {}
  void compute(Call& call) const {
    const Tensor x = call.change_variable(0);
    write_region(x, Slicer(masks_, x.dims(), call, 1).region(), call.input(4), true);
  }

 private:
  Masks masks_;
};

}  // namespace

const Family registered([] {
  const std::vector<Constraint> any = {{"T", plain_types()}};
  add_moving<slice>("Slice");
  add_moving<StridedSlice>("StridedSlice");
  add<StridedSliceGrad>("StridedSliceGrad", any);
  add_moving<TensorStridedSliceUpdate>("TensorStridedSliceUpdate");
  add<ResourceStridedSliceAssign>("ResourceStridedSliceAssign", any);
});

}  // namespace drystone::cpu
