// Matrix products, with what is fused to them.
#include <algorithm>

#include "core/stored.h"
#include "dnnl/entry.h"
#include "dnnl/fusion.h"
#include "dnnl/nan_watch.h"
#include "dnnl/primitive.h"
#include "dnnl/packed_gemv.h"
#include "dnnl/weights.h"

namespace drystone::cpu::dnnl_part {
namespace {

// A product as oneDNN does it: batch dimensions, of which one may be 1 where the other is not.
struct Product {
  Shape a;  // [..., m, k]
  Shape b;  // [..., k, n]
  Shape y;  // [..., m, n]
};

Desc matrix(const Shape& dims, bool is_flipped, Type type) {
  Shape strides(dims.size(), 1);
  const std::size_t rank = dims.size();
  std::int64_t step = dims[rank - 1] * dims[rank - 2];
  strides[rank - 2] = is_flipped ? 1 : dims[rank - 1];
  strides[rank - 1] = is_flipped ? dims[rank - 2] : 1;
  for (std::size_t k = rank - 2; k-- > 0;) {
    strides[k] = step;
    step *= dims[k];
  }
  return {dims, type, strides};
}

struct Plan {
  std::unique_ptr<Primitive> primitive;
  std::unique_ptr<Packing> packing;  // of b
};

std::unique_ptr<Plan> make_product(const Product& p, Type type, bool flip_a, bool flip_b,
                                   bool packs, const Fusion& fusion, std::size_t done) {
  const Desc a = matrix(p.a, flip_a, type);
  const Desc b = matrix(p.b, flip_b, type);
  const Desc y = dense(p.y, type);
  std::vector<std::pair<int, Desc>> operands{{DNNL_ARG_SRC, a}, {DNNL_ARG_DST, y}};
  dnnl::primitive_attr attr = attributes();
  Shape channel(p.y.size(), 1);
  channel.back() = p.y.back();
  fusion.attach(attr, operands, channel, y, done);
  const dnnl::matmul::primitive_desc pd(engine(), a, packs ? any(p.b, type) : b, y, attr);
  operands.emplace_back(DNNL_ARG_WEIGHTS, pd.weights_desc());
  auto plan = std::make_unique<Plan>();
  plan->packing = std::make_unique<Packing>(b, pd.weights_desc());
  plan->primitive =
      std::make_unique<Primitive>(dnnl::matmul(pd), std::move(operands), pd.scratchpad_desc());
  return plan;
}

constexpr std::int64_t kNear = 1 << 18;  // elements of a matrix that stays in a core's second cache

// Y = op(A) op(B), then what is fused. The batch dims of the three are merged where they can be.
class Multiplier {
 public:
  Multiplier(const Node& node, bool flip_a, bool flip_b)
      : flip_a_(flip_a), flip_b_(flip_b), fusion_(node) {
    take_stored_weights(node, 1);
  }

  void multiply(const Call& call, const Tensor& a, const Tensor& b, const Dims& result) {
    const Placed placed{product(DimsView(result).first(result.size() - 1)), result.back(), 1};
    const std::vector<Tensor> more = fusion_.inputs(call, 2, result, placed);
    const Tensor y = call.output(0, result);
    if (y.count() == 0) return;
    if (a.count() == 0 || b.count() == 0) {
      clear(y);
      fusion_.finish(call, more, y, placed, 0);
      return;
    }
    const Type type = type_of(a.dtype());
    // Otherwise oneDNN puts B in order in every call: most of a product of few rows, and more than a
    // tenth of one with 128, which is worth a second copy.
    const bool packs = b.rank() == 2 && call.is_constant(1);
    const std::int64_t inner = a.dim(a.rank() - (flip_a_ ? 2 : 1));
    const int threads = threads_for(2 * y.count() * inner, a.count() + b.count() + y.count());
    if (is_row(a, b, y) && call.is_constant(1) && fusion_.is_light(y.count())) {
      multiply_row(call, a, b, more, y, threads);
      return fusion_.finish(call, more, y, placed, fusion_.starts_with_bias() ? 1 : 0);
    }
    if (threads == 1 && is_row(a, b, y) && fusion_.empty() && b.count() <= kNear) {
      const auto* matrix = static_cast<const float*>(loaded(call, 1, b));
      return gemv_row_major(a.as<float>(), matrix, y.write<float>(), inner, y.count());
    }
    if (threads == 1 && is_column(a, b)) {
      const auto* column = static_cast<const float*>(loaded(call, 1, b));
      return gemv_column(a.as<float>(), column, y.write<float>(), y.count(), inner);
    }
    const auto execute = [&](const void* to, std::size_t done) {
      Key key;
      key << a.dims() << b.dims() << threads << (packs ? 1 : 0) << static_cast<std::int64_t>(done);
      plans_.with(
          key,
          [&] {
            return make_product(merged(a.dims(), b.dims()), type, flip_a_, flip_b_, packs, fusion_,
                                done);
          },
          [&](const Plan& plan) {
            const Packed weights = weights_.packed(call, 1, b, *plan.packing);
            plan.primitive->run(
                call, {{DNNL_ARG_SRC, a.data()}, {DNNL_ARG_WEIGHTS, weights.get()}, {DNNL_ARG_DST, to}},
                fusion_.operands(call, more, done));
          });
    };
    if (fusion_.hiding().empty()) {
      execute(y.data(), fusion_.attached());
    } else {
      const NanWatch watch;
      execute(y.data(), fusion_.attached());
      if (watch.saw()) {
        void* before = call.scratch<char>(bytes_of(y));
        for (const std::size_t step : fusion_.hiding()) {
          execute(before, step);
          mark_nan(y, before);
        }
      }
    }
    fusion_.finish(call, more, y, placed, fusion_.attached());
  }

 private:
  Product merged(DimsView a, DimsView b) const;

  // Whether it is a row times a matrix.
  bool is_row(const Tensor& a, const Tensor& b, const Tensor& y) const {
    return a.dtype() == TF_FLOAT && !flip_b_ && b.rank() == 2 && y.count() == b.dim(1) && has_gemv();
  }

  // Whether all there is to do is a matrix times a column.
  bool is_column(const Tensor& a, const Tensor& b) const {
    return a.dtype() == TF_FLOAT && !flip_a_ && b.rank() == 2 && b.dim(flip_b_ ? 0 : 1) == 1 &&
           fusion_.empty() && has_gemv();
  }

  void multiply_row(const Call& call, const Tensor& a, const Tensor& b,
                    const std::vector<Tensor>& more, const Tensor& y, int threads) {
    rows_.run(call, 1, b, {b.dim(0), b.dim(1)}, a.as<float>(),
              fusion_.starts_with_bias() ? more[0].as<float>() : nullptr, y.write<float>(), threads);
  }

  bool flip_a_;
  bool flip_b_;
  Fusion fusion_;
  Plans<Plan> plans_;
  Weights weights_;
  PackedGemv rows_;
};

Product Multiplier::merged(DimsView a, DimsView b) const {
  const std::size_t rank = std::max(a.size(), b.size());
  Product out;
  for (std::size_t k = 0; k + 2 < rank; ++k) {
    const std::int64_t p = k + a.size() >= rank ? a[k + a.size() - rank] : 1;
    const std::int64_t q = k + b.size() >= rank ? b[k + b.size() - rank] : 1;
    if (p == 1 && q == 1) continue;
    const bool joins =
        !out.y.empty() && (p == 1) == (out.a.back() == 1) && (q == 1) == (out.b.back() == 1);
    if (!joins) {
      out.a.push_back(1);
      out.b.push_back(1);
      out.y.push_back(1);
    }
    out.a.back() *= p;
    out.b.back() *= q;
    out.y.back() *= std::max(p, q);
  }
  std::int64_t m = a[a.size() - (flip_a_ ? 1 : 2)];
  const std::int64_t inner = a[a.size() - (flip_a_ ? 2 : 1)];
  const std::int64_t n = b[b.size() - (flip_b_ ? 2 : 1)];
  if (out.y.size() == 1 && out.b[0] == 1 && !flip_a_) {  // one matrix for all: more rows
    m *= out.y[0];
    out = {};
  }
  for (const auto& [dims, rows, columns] :
       {std::tuple(&out.a, m, inner), std::tuple(&out.b, inner, n), std::tuple(&out.y, m, n)}) {
    dims->push_back(rows);
    dims->push_back(columns);
  }
  if (out.y.size() > DNNL_MAX_NDIMS)
    fail(TF_UNIMPLEMENTED, "a product that broadcasts too many dimensions");
  return out;
}

void check_inner(const Tensor& a, const Tensor& b, bool flip_a, bool flip_b) {
  const std::int64_t columns = a.dim(a.rank() - (flip_a ? 2 : 1));
  const std::int64_t rows = b.dim(b.rank() - (flip_b ? 1 : 2));
  if (columns == rows) return;
  fail(TF_INVALID_ARGUMENT, "the inner dimensions of a matrix product must be equal: " +
                                text(a.dims()) + " and " + text(b.dims()));
}

class MatMul {
 public:
  explicit MatMul(const Node& node)
      : flip_a_(node.boolean("transpose_a")),
        flip_b_(node.boolean("transpose_b")),
        multiplier_(node, flip_a_, flip_b_) {}

  void compute(Call& call) {
    const Tensor a = call.input(0);
    const Tensor b = call.input(1);
    require(a.rank() == 2 && b.rank() == 2, "both inputs must be matrices");
    check_inner(a, b, flip_a_, flip_b_);
    multiplier_.multiply(call, a, b, {a.dim(flip_a_ ? 1 : 0), b.dim(flip_b_ ? 0 : 1)});
  }

 private:
  bool flip_a_;
  bool flip_b_;
  Multiplier multiplier_;
};

template <bool kBroadcasts>
class BatchMatMul {
 public:
  explicit BatchMatMul(const Node& node)
      : flip_a_(node.boolean("adj_x")),
        flip_b_(node.boolean("adj_y")),
        multiplier_(node, flip_a_, flip_b_) {}

  void compute(Call& call) {
    const Tensor a = call.input(0);
    const Tensor b = call.input(1);
    require(a.rank() >= 2 && b.rank() >= 2, "both inputs must be (batches of) matrices");
    Dims dims = batch(a.dims(), b.dims());
    check_inner(a, b, flip_a_, flip_b_);
    dims.push_back(a.dim(a.rank() - (flip_a_ ? 1 : 2)));
    dims.push_back(b.dim(b.rank() - (flip_b_ ? 2 : 1)));
    multiplier_.multiply(call, a, b, dims);
  }

 private:
  static Dims batch(DimsView a, DimsView b) {
    require(kBroadcasts || a.size() == b.size(), "the batch dimensions must agree");
    const std::size_t rank = std::max(a.size(), b.size());
    Dims out;
    for (std::size_t k = 0; k + 2 < rank; ++k) {
      const std::int64_t p = k + a.size() >= rank ? a[k + a.size() - rank] : 1;
      const std::int64_t q = k + b.size() >= rank ? b[k + b.size() - rank] : 1;
      require(p == q || (kBroadcasts && (p == 1 || q == 1)), "the batch dimensions must agree");
      out.push_back(p == 1 ? q : p);
    }
    return out;
  }

  bool flip_a_;
  bool flip_b_;
  Multiplier multiplier_;
};

}  // namespace

void list_products(std::vector<Entry>& out) {
  list_narrow<MatMul>(out, "MatMul");
  list_narrow<MatMul>(out, "_FusedMatMul");
  list_narrow<BatchMatMul<false>>(out, "BatchMatMul");
  list_narrow<BatchMatMul<true>>(out, "BatchMatMulV2");
  list_narrow<BatchMatMul<true>>(out, "BatchMatMulV3");
}

}  // namespace drystone::cpu::dnnl_part
