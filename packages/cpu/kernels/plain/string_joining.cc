// Strings compared and joined: element by element, along axes, by segment; without space around.
#include <algorithm>

#include "core/broadcast.h"
#include "core/family.h"
#include "core/moving.h"
#include "core/text.h"
#include "plain/combine.h"

namespace drystone::cpu {
namespace {

using Text = std::string_view;

// body(k, i, j) for each element k of the output and those of the inputs that go with it.
template <class Body>
void each_pair(const Walk<2>& shape, std::int64_t count, Body&& body) {
  if (count == 0) return;
  const std::int64_t width = shape.width();
  for_each_row(shape, 0, count / width,
               [&](std::int64_t at, const std::array<std::int64_t, 2>& in) {
                 for (std::int64_t k = 0; k < width; ++k)
                   body(at + k, in[0] + k * shape.step(0), in[1] + k * shape.step(1));
               });
}

// Equal and NotEqual; shapes that do not go together are unequal where the node says so.
template <bool kEqual>
class Compare {
 public:
  explicit Compare(const Node& node) : strict_(node.boolean("incompatible_shape_error")) {}
  void compute(Call& call) const {
    const Tensor a = call.input(0);
    const Tensor b = call.input(1);
    if (!strict_ && !go_together(a.dims(), b.dims())) {
      *call.output(0, {}).write<bool>() = !kEqual;
      return;
    }
    Walk<2> shape;
    walk<2>({a.dims(), b.dims()}, shape);
    const Tensor y = call.output(0, shape.out);
    bool* out = y.write<bool>();
    each_pair(shape, y.count(), [&](std::int64_t k, std::int64_t i, std::int64_t j) {
      out[k] = (text_of(a, i) == text_of(b, j)) == kEqual;
    });
  }

 private:
  bool strict_;
};

void append(Call& call) {
  const Tensor a = call.input(0);
  const Tensor b = call.input(1);
  Walk<2> shape;
  walk<2>({a.dims(), b.dims()}, shape);
  const Tensor y = call.output(0, shape.out);
  each_pair(shape, y.count(), [&](std::int64_t k, std::int64_t i, std::int64_t j) {
    const Text first = text_of(a, i);
    const Text second = text_of(b, j);
    char* to = room_in(y.write<TF_TString>() + k, first.size() + second.size());
    second.copy(to + first.copy(to, first.size()), second.size());
  });
}

// Joined texts, the separator between neighbours.
class Joiner {
 public:
  explicit Joiner(Text separator) : separator_(separator) {}
  void add(Text text) {
    if (count_++ > 0) joined_ += separator_;
    joined_ += text;
  }
  bool empty() const { return joined_.empty(); }
  void write(TF_TString* to) {
    set_text(to, joined_);
    joined_.clear();
    count_ = 0;
  }

 private:
  Text separator_;
  std::string joined_;
  std::int64_t count_ = 0;
};

class ReduceJoin {
 public:
  explicit ReduceJoin(const Node& node)
      : keeps_(node.boolean("keep_dims")), separator_(node.string("separator")) {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    const Dims axes = axes_of(x, call.input(1));
    if (axes.empty()) return call.share(0, 0, x.dims());
    const Dims steps = steps_of(x.dims());
    Dims dims;
    Dims kept;        // dims that stay, and their steps
    Dims kept_steps;
    for (int k = 0; k < x.rank(); ++k) {
      const bool gone = std::find(axes.begin(), axes.end(), k) != axes.end();
      if (gone && keeps_) dims.push_back(1);
      if (gone) continue;
      dims.push_back(x.dim(k));
      kept.push_back(x.dim(k));
      kept_steps.push_back(steps[static_cast<std::size_t>(k)]);
    }
    const Tensor y = call.output(0, dims);
    Dims joined;  // the last axis that is given varies slowest
    Dims joined_steps;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      joined.push_back(x.dim(static_cast<int>(*axis)));
      joined_steps.push_back(steps[static_cast<std::size_t>(*axis)]);
    }
    const std::int64_t count = product(joined);
    Joiner joiner(separator_);
    for (std::int64_t k = 0; k < y.count(); ++k) {
      const std::int64_t start = place(k, kept, kept_steps);
      for (std::int64_t i = 0; i < count; ++i)
        joiner.add(text_of(x, start + place(i, joined, joined_steps)));
      joiner.write(y.write<TF_TString>() + k);
    }
  }

 private:
  static Dims axes_of(const Tensor& x, const Tensor& given) {
    Dims out;
    for (std::int64_t axis : integers(given)) {
      if (axis < -x.rank() || axis >= x.rank()) {
        fail(TF_OUT_OF_RANGE, "Invalid reduction dimension " + std::to_string(axis) +
                                  " for input with " + std::to_string(x.rank()) + " dimension(s)");
      }
      if (axis < 0) axis += x.rank();
      require(std::find(out.begin(), out.end(), axis) == out.end(),
              "Duplicate reduction dimension");
      out.push_back(axis);
    }
    return out;
  }
  // Where element `k` in row-major order of the dims is.
  static std::int64_t place(std::int64_t k, const Dims& dims, const Dims& steps) {
    std::int64_t out = 0;
    for (std::size_t d = dims.size(); d-- > 0;) {
      out += k % dims[d] * steps[d];
      k /= dims[d];
    }
    return out;
  }
  bool keeps_;
  std::string separator_;
};

class UnsortedSegmentJoin {
 public:
  explicit UnsortedSegmentJoin(const Node& node) : separator_(node.string("separator")) {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    const Tensor ids = call.input(1);
    if (ids.rank() > x.rank())
      fail(TF_OUT_OF_RANGE, "segment_ids must not have more dimensions than the input");
    bool fits = ids.rank() > 0;
    for (int k = 0; fits && k < ids.rank(); ++k) fits = ids.dim(k) == x.dim(k);
    require(fits, "segment_ids' shape must be a prefix of the input's");
    require(call.input(2).rank() == 0, "num_segments must be a scalar");
    const std::int64_t count = scalar_int(call.input(2), "num_segments");
    require(count >= 0, "num_segments must not be negative");
    check_below(ids, count, "segment_ids");
    Dims dims(x.dims().begin() + ids.rank(), x.dims().end());
    const std::int64_t width = product(dims);
    dims.insert(dims.begin(), count);
    check_dims(dims);
    const Tensor y = call.output(0, dims);
    std::vector<std::vector<std::int64_t>> members(static_cast<std::size_t>(count));
    for (std::int64_t k = 0; k < ids.count(); ++k)
      members[static_cast<std::size_t>(integer_at(ids, k))].push_back(k);
    Joiner joiner(separator_);
    for (std::int64_t k = 0; k < y.count(); ++k) {
      // A segment begins with its first string that is not empty, without separators before it.
      bool begun = false;
      for (const std::int64_t row : members[static_cast<std::size_t>(k / width)]) {
        const Text text = text_of(x, row * width + k % width);
        begun = begun || !text.empty();
        if (begun) joiner.add(text);
      }
      joiner.write(y.write<TF_TString>() + k);
    }
  }

 private:
  std::string separator_;
};

void strip(Call& call) {
  constexpr Text kSpace = " \t\n\r\x0b\x0c";
  const Tensor strings = call.input(0);
  auto* out = call.output(0, strings.dims()).write<TF_TString>();
  for (std::int64_t k = 0; k < strings.count(); ++k) {
    Text text = text_of(strings, k);
    text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
    set_text(out + k, text.substr(0, text.find_last_not_of(kSpace) + 1));
  }
}

}  // namespace

const Family registered([] {
  const std::vector<Constraint> strings = {{"T", {TF_STRING}}};
  add<Compare<true>>("Equal", strings);
  add<Compare<false>>("NotEqual", strings);
  add<append>("Add", strings);
  add<ReduceJoin>("ReduceJoin");
  add<UnsortedSegmentJoin>("UnsortedSegmentJoin");
  add<strip>("StringStrip");
});

}  // namespace drystone::cpu
