// Attention: products, masks and softmax of a few heads at a time, so that scores stay in the cache.
//
// Heads lie in their tensors in any order of the dimensions, which are named: B (examples), N
// (heads), T (queries), S (keys and values), H (elements of a head).
#include <algorithm>

#include "dnnl/entry.h"
#include "dnnl/fusion.h"
#include "dnnl/primitive.h"

namespace drystone::cpu::dnnl_part {
namespace {

// A tensor's sizes and steps by the names of its dimensions; steps of what is broadcast are 0.
class Named {
 public:
  Named(const Tensor& x, const std::string& order) : x_(x), order_(order) {
    require(x.rank() == 4 && order.size() == 4, "queries, keys and values must have 4 dimensions");
  }
  DimsView dims() const { return x_.dims(); }
  std::int64_t size(char name) const { return x_.dim(at(name)); }
  std::int64_t stride(char name) const {
    return product(x_.dims().subspan(static_cast<std::size_t>(at(name)) + 1));
  }
  std::int64_t step(char name) const { return size(name) == 1 ? 0 : stride(name); }
  Type type() const { return type_of(x_.dtype()); }
  // Where row `row` of that head is, rows being `stride` elements apart.
  const char* from(std::int64_t b, std::int64_t n, std::int64_t row = 0,
                   std::int64_t stride = 0) const {
    const std::int64_t bytes = type() == Type::f32 ? 4 : 2;
    return x_.as<char>() + (b * step('B') + n * step('N') + row * stride) * bytes;
  }

 private:
  int at(char name) const {
    const std::size_t found = order_.find(name);
    require(found != std::string::npos, "layouts must name each dimension");
    return static_cast<int>(found);
  }
  const Tensor& x_;
  const std::string& order_;
};

// What is added to the scores, or says which of them stay; of the last four dimensions B, N, T, S.
struct Mask {
  Tensor tensor;
  std::int64_t sizes[4];
  std::int64_t steps[4];

  explicit Mask(const Tensor& x) : tensor(x) {
    require(x.rank() <= 4, "a mask must have at most 4 dimensions");
    std::int64_t step = 1;
    for (int k = 3; k >= 0; --k) {
      const int axis = k - 4 + x.rank();
      sizes[k] = axis < 0 ? 1 : x.dim(axis);
      steps[k] = sizes[k] == 1 ? 0 : step;
      step *= sizes[k];
    }
  }
  std::int64_t at(std::int64_t b, std::int64_t n, std::int64_t t) const {
    return b * steps[0] + n * steps[1] + t * steps[2];
  }
};

struct Sizes {
  std::int64_t b, n, t, s, h;
};

// Heads and queries that are computed at once.
struct Block {
  std::int64_t heads;
  std::int64_t rows;
};

struct Plan {
  std::unique_ptr<Primitive> scores;
  std::unique_ptr<Primitive> softmax;
  std::unique_ptr<Primitive> values;
};

// Of one head without the dimension of heads: such may have rows that are further apart.
Desc matrices(const Shape& dims, std::int64_t batch, std::int64_t down, std::int64_t right,
              Type type) {
  if (dims[0] == 1) {
    return {{dims[1], dims[2]},
            type,
            {std::max<std::int64_t>(down, 1), std::max<std::int64_t>(right, 1)}};
  }
  return {dims, type,
          {std::max<std::int64_t>(batch, 1), std::max<std::int64_t>(down, 1),
           std::max<std::int64_t>(right, 1)}};
}

std::unique_ptr<Primitive> make_product(const Desc& a, const Desc& b, const Desc& y, float scale) {
  dnnl::primitive_attr attr = attributes();
  if (scale != 1) {
    dnnl::post_ops post;
    post.append_eltwise(dnnl::algorithm::eltwise_linear, scale, 0);
    attr.set_post_ops(post);
  }
  const dnnl::matmul::primitive_desc pd(engine(), a, b, y, attr);
  return std::make_unique<Primitive>(
      dnnl::matmul(pd),
      std::vector<std::pair<int, Desc>>{
          {DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, y}},
      pd.scratchpad_desc());
}

std::unique_ptr<Primitive> make_softmax(const Desc& rows, const Desc& out) {
  const dnnl::softmax_forward::primitive_desc pd(
      engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::softmax_accurate, rows, out, 1,
      attributes());
  return std::make_unique<Primitive>(
      dnnl::softmax_forward(pd),
      std::vector<std::pair<int, Desc>>{{DNNL_ARG_SRC, rows}, {DNNL_ARG_DST, out}},
      pd.scratchpad_desc());
}

class Attention {
 public:
  explicit Attention(const Node& node)
      : layouts_(node.strings("layouts")),
        masks_(node.strings("masks")),
        scale_(node.real("scale")),
        fill_(node.real("fill")) {
    require(layouts_.size() == 4, "layouts must be of queries, keys, values and the result");
    for (const std::string& mask : masks_) {
      require(mask == "Add" || mask == "Select", "masks must be Add or Select");
    }
  }

  void compute(Call& call) {
    const Tensor tensors[] = {call.input(0), call.input(1), call.input(2)};
    const Named q(tensors[0], layouts_[0]);
    const Named k(tensors[1], layouts_[1]);
    const Named v(tensors[2], layouts_[2]);
    const std::vector<Mask> masks = read_masks(call);
    const Sizes sizes = check(q, k, v, masks);
    Dims dims;
    for (const char name : layouts_[3]) {
      dims.push_back(name == 'B' ? sizes.b : name == 'N' ? sizes.n : name == 'T' ? sizes.t : sizes.h);
    }
    const Tensor out = call.output(0, dims);
    if (out.count() == 0) return;
    if (sizes.s == 0) {
      clear(out);
      return;
    }
    run(call, q, k, v, masks, sizes, out);
  }

 private:
  std::vector<Mask> read_masks(const Call& call) const {
    require(call.inputs() == 3 + static_cast<int>(masks_.size()), "each mask is an input");
    std::vector<Mask> out;
    for (std::size_t i = 0; i < masks_.size(); ++i) {
      out.emplace_back(call.input(3 + static_cast<int>(i)));
      require(out.back().tensor.dtype() == (masks_[i] == "Add" ? TF_FLOAT : TF_BOOL),
              "what is added must be float32, and what selects bool");
    }
    return out;
  }

  static std::int64_t joined(std::int64_t a, std::int64_t b) {
    require(a == b || a == 1 || b == 1, "the examples and heads of attention must agree");
    return a == 1 ? b : a;
  }

  static Sizes check(const Named& q, const Named& k, const Named& v,
                     const std::vector<Mask>& masks) {
    Sizes out{joined(joined(q.size('B'), k.size('B')), v.size('B')),
              joined(joined(q.size('N'), k.size('N')), v.size('N')), q.size('T'), k.size('S'),
              v.size('H')};
    require(q.size('H') == k.size('H'), "queries and keys must have heads of one size");
    require(k.size('S') == v.size('S'), "there must be as many values as keys");
    for (const Mask& mask : masks) {
      out.b = joined(out.b, mask.sizes[0]);
      out.n = joined(out.n, mask.sizes[1]);
      require((mask.sizes[2] == 1 || mask.sizes[2] == out.t) &&
                  (mask.sizes[3] == 1 || mask.sizes[3] == out.s),
              "a mask must have an element for each score, or one for many");
    }
    return out;
  }

  // As many as keep the scores in a part of the second cache. One thread is as fast with one head
  // after another, whose matrices oneDNN takes as they lie, unless they are very small.
  static Block block(const Sizes& sizes, bool together, int threads) {
    const std::int64_t room = (std::int64_t{1} << 16) * threads;
    const std::int64_t each = sizes.t * sizes.s;
    if (each > room) {
      return {1, std::min(sizes.t, std::max<std::int64_t>(16, room / sizes.s / 16 * 16))};
    }
    const std::int64_t few = threads == 1 ? room / 8 : room;
    return {together ? std::clamp<std::int64_t>(few / each, 1, sizes.n) : 1, sizes.t};
  }

  void run(const Call& call, const Named& q, const Named& k, const Named& v,
           const std::vector<Mask>& masks, const Sizes& sizes, const Tensor& out) {
    const Named y(out, layouts_[3]);
    const DimsView dims[] = {q.dims(), k.dims(), v.dims()};
    const std::int64_t width = q.size('H');
    const int threads =
        threads_for(2 * sizes.b * sizes.n * sizes.t * sizes.s * (width + sizes.h), out.count());
    const bool together =
        q.size('N') == sizes.n && k.size('N') == sizes.n && v.size('N') == sizes.n;
    const Block most = block(sizes, together, threads);
    auto* scores = call.scratch<float>(most.heads * most.rows * sizes.s);
    void* shares = scores;
    if (q.type() != Type::f32)
      shares = call.scratch<std::uint16_t>(most.heads * most.rows * sizes.s);
    for (std::int64_t b = 0; b < sizes.b; ++b) {
      for (std::int64_t n = 0; n < sizes.n; n += most.heads) {
        for (std::int64_t t = 0; t < sizes.t; t += most.rows) {
          const Block now{std::min(most.heads, sizes.n - n), std::min(most.rows, sizes.t - t)};
          Key key;
          key << dims[0] << dims[1] << dims[2] << now.heads << now.rows << sizes.n
              << threads;
          plans_.with(
              key, [&] { return make(q, k, v, y, now, sizes); },
              [&](const Plan& plan) {
                plan.scores->run(call, {{DNNL_ARG_SRC, q.from(b, n, t, q.stride('T'))},
                                        {DNNL_ARG_WEIGHTS, k.from(b, n)},
                                        {DNNL_ARG_DST, scores}});
                for (std::size_t i = 0; i < masks.size(); ++i) {
                  mask(masks[i], masks_[i] == "Add", scores, b, n, t, now, sizes.s);
                }
                plan.softmax->run(call, {{DNNL_ARG_SRC, scores}, {DNNL_ARG_DST, shares}});
                plan.values->run(call, {{DNNL_ARG_SRC, shares},
                                        {DNNL_ARG_WEIGHTS, v.from(b, n)},
                                        {DNNL_ARG_DST, y.from(b, n, t, y.stride('T'))}});
              });
        }
      }
    }
  }

  std::unique_ptr<Plan> make(const Named& q, const Named& k, const Named& v, const Named& y,
                             const Block& now, const Sizes& sizes) const {
    const std::int64_t width = q.size('H');
    const Type type = q.type();
    const auto scores = [&](Type of) {
      return matrices({now.heads, now.rows, sizes.s}, now.rows * sizes.s, sizes.s, 1, of);
    };
    const Shape rows{now.heads * now.rows, sizes.s};
    auto plan = std::make_unique<Plan>();
    plan->scores = make_product(
        matrices({now.heads, now.rows, width}, q.stride('N'), q.stride('T'), q.stride('H'), type),
        matrices({now.heads, width, sizes.s}, k.stride('N'), k.stride('H'), k.stride('S'), type),
        scores(Type::f32), scale_);
    plan->softmax = make_softmax(dense(rows), dense(rows, type));
    plan->values = make_product(
        scores(type),
        matrices({now.heads, sizes.s, sizes.h}, v.stride('N'), v.stride('S'), v.stride('H'), type),
        matrices({now.heads, now.rows, sizes.h}, y.stride('N'), y.stride('T'), y.stride('H'), type), 1);
    return plan;
  }

  void mask(const Mask& mask, bool adds, float* scores, std::int64_t b, std::int64_t n,
            std::int64_t t, const Block& now, std::int64_t keys) const {
    for (std::int64_t row = 0; row < now.heads * now.rows; ++row, scores += keys) {
      const std::int64_t at = mask.at(b, n + row / now.rows, t + row % now.rows);
      if (adds) add_row(mask.tensor.as<float>() + at, mask.steps[3], scores, keys);
      else select_row(mask.tensor.as<bool>() + at, mask.steps[3], scores, keys);
    }
  }

  static void add_row(const float* mask, std::int64_t step, float* scores, std::int64_t keys) {
    if (step == 0) {
      for (std::int64_t s = 0; s < keys; ++s) scores[s] += *mask;
      return;
    }
#pragma GCC ivdep
    for (std::int64_t s = 0; s < keys; ++s) scores[s] += mask[s];
  }

  void select_row(const bool* mask, std::int64_t step, float* scores, std::int64_t keys) const {
    const float fill = fill_;
    if (step == 0) {
      if (!*mask) std::fill_n(scores, keys, fill);
      return;
    }
#pragma GCC ivdep
    for (std::int64_t s = 0; s < keys; ++s) scores[s] = mask[s] ? scores[s] : fill;
  }

  std::vector<std::string> layouts_;
  std::vector<std::string> masks_;
  float scale_;
  float fill_;
  Plans<Plan> plans_;
};

}  // namespace

void list_attention(std::vector<Entry>& out) {
  list_narrow<Attention>(out, "Drystone>Attention");
}

}  // namespace drystone::cpu::dnnl_part
