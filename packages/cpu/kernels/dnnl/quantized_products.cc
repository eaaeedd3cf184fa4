// TensorFlow's products of quantized tensors: 8 bits in, 32 bits and their range out.
//
// Of (a - a0)(b - b0), summed modulo 2^32, oneDNN does the a b; with sums of a's windows and of b's
// columns the rest costs no products.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "dnnl/entry.h"
#include "dnnl/weights.h"
#include "dnnl/window.h"

namespace drystone::cpu::dnnl_part {
namespace {

using Word = std::uint32_t;  // of sums modulo 2^32

struct Range {
  float low;
  float high;
  float step() const { return (high - low) / 255.0F; }
  // The integer that stands for 0.0, which may lie outside of the type's.
  Word zero(TF_DataType dtype) const {
    const std::int64_t least = dtype == TF_QINT8 ? -128 : 0;
    if (low == high) return static_cast<Word>(least);
    const double scale = 256.0 / (static_cast<double>(high - low) * (256.0 / 255.0));
    const double below = std::round(static_cast<double>(low) * scale);
    if (!std::isfinite(below)) return static_cast<Word>(least);  // as TensorFlow's integers have it
    return static_cast<Word>(least - static_cast<std::int64_t>(below));
  }
};

Range range(const Call& call, int input) {
  const Tensor low = call.input(input);
  const Tensor high = call.input(input + 1);
  require(low.rank() == 0 && high.rank() == 0, "a range's end must be a scalar");
  return {*low.as<float>(), *high.as<float>()};
}

// What the ends of int32 stand for.
void put_range(const Call& call, const Range& a, const Range& b) {
  const float unit = a.step() * b.step();
  *call.output(1, {}).write<float>() = unit * -0x1p31F;
  *call.output(2, {}).write<float>() = unit * 0x1p31F;
}

// Integers with a sign: of those without one, less 128.
const std::int8_t* with_sign(const Call& call, const Tensor& x) {
  if (x.dtype() == TF_QINT8) return x.as<std::int8_t>();
  auto* out = call.scratch<std::int8_t>(x.count() + 1);
  const auto* from = x.as<std::uint8_t>();
  for (std::int64_t k = 0; k < x.count(); ++k) out[k] = static_cast<std::int8_t>(from[k] ^ 0x80);
  return out;
}

// Sums of the rows of [rows, columns], or of the columns.
template <class Element>
const Word* sums(const Call& call, const Element* x, std::int64_t rows, std::int64_t columns,
                 bool of_rows) {
  const std::int64_t count = of_rows ? rows : columns;
  Word* out = call.scratch<Word>(count + 1);
  std::fill_n(out, count, Word{0});
  for (std::int64_t r = 0; r < rows; ++r) {
    const Element* row = x + r * columns;
    for (std::int64_t c = 0; c < columns; ++c) out[of_rows ? r : c] += static_cast<Word>(row[c]);
  }
  return out;
}

// From sums of a b to those of (a - a0)(b - b0), of so many products each.
void correct(Word* y, std::int64_t rows, std::int64_t columns, std::int64_t inner, Word a0, Word b0,
             const Word* of_a, const Word* of_b) {
  parallel(rows, columns, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const Word all = static_cast<Word>(inner) * a0 * b0 - b0 * of_a[r];
      for (std::int64_t c = 0; c < columns; ++c) y[r * columns + c] += all - a0 * of_b[c];
    }
  });
}

struct Plan {
  std::unique_ptr<Primitive> primitive;
  std::unique_ptr<Packing> packing;
};

template <class Kind, class Description>
std::unique_ptr<Plan> plan_of(const Description& pd, const Desc& x, const Desc& w, const Desc& y) {
  auto plan = std::make_unique<Plan>();
  plan->packing = std::make_unique<Packing>(w, pd.weights_desc());
  std::vector<std::pair<int, Desc>> operands{
      {DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, pd.weights_desc()}, {DNNL_ARG_DST, y}};
  plan->primitive =
      std::make_unique<Primitive>(Kind(pd), std::move(operands), pd.scratchpad_desc());
  return plan;
}

void run(const Call& call, const Plan& plan, const void* x, const void* w, void* y) {
  const void* weights = w;
  if (plan.packing->is_needed()) {
    auto* room =
        call.scratch<char>(static_cast<std::int64_t>(plan.packing->wanted().get_size()));
    plan.packing->run(call, w, room);
    weights = room;
  }
  plan.primitive->run(call, {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, y}});
}

Desc flat(std::int64_t rows, std::int64_t columns, bool is_flipped, Type type) {
  return {{rows, columns}, type, is_flipped ? Shape{1, rows} : Shape{columns, 1}};
}

class QuantizedMatMul {
 public:
  explicit QuantizedMatMul(const Node& node)
      : flip_a_(node.boolean("transpose_a")), flip_b_(node.boolean("transpose_b")) {}

  void compute(Call& call) {
    const Tensor a = call.input(0);
    const Tensor b = call.input(1);
    const Range of_a = range(call, 2);
    const Range of_b = range(call, 4);
    require(of_a.low < of_a.high && of_b.low < of_b.high,
            "a range's max must be larger than its min");
    require(a.rank() == 2 && b.rank() == 2, "both inputs must be matrices");
    const std::int64_t rows = a.dim(flip_a_ ? 1 : 0);
    const std::int64_t inner = a.dim(flip_a_ ? 0 : 1);
    const std::int64_t columns = b.dim(flip_b_ ? 0 : 1);
    require(inner == b.dim(flip_b_ ? 1 : 0),
            "the inner dimensions of a matrix product must be equal");
    const Tensor y = call.output(0, Dims{rows, columns});
    put_range(call, of_a, of_b);
    if (y.count() == 0) return;
    std::memset(y.write<char>(), 0, static_cast<std::size_t>(y.count()) * 4);
    if (inner == 0) return;
    const std::int8_t* w = with_sign(call, b);
    multiply(call, a, w, y, {rows, inner, columns});
    const Word b0 = of_b.zero(b.dtype()) - (b.dtype() == TF_QINT8 ? 0 : 128);
    const auto* x = a.as<std::uint8_t>();
    correct(y.write<Word>(), rows, columns, inner, of_a.zero(a.dtype()), b0,
            flip_a_ ? sums(call, x, inner, rows, false) : sums(call, x, rows, inner, true),
            flip_b_ ? sums(call, w, columns, inner, true) : sums(call, w, inner, columns, false));
  }

 private:
  void multiply(const Call& call, const Tensor& a, const std::int8_t* b, const Tensor& y,
                const Shape& dims) {
    Key key;
    key << a.dims() << dims[2]
        << threads_for(dims[0] * dims[1] * dims[2] / 2, a.count() + dims[1] * dims[2] + y.count());
    plans_.with(
        key,
        [&] {
          const Desc x = flat(dims[0], dims[1], flip_a_, Type::u8);
          const Desc w = flat(dims[1], dims[2], flip_b_, Type::s8);
          const Desc out = flat(dims[0], dims[2], false, Type::s32);
          const dnnl::matmul::primitive_desc pd(engine(), x, any({dims[1], dims[2]}, Type::s8), out,
                                                attributes());
          return plan_of<dnnl::matmul>(pd, x, w, out);
        },
        [&](const Plan& plan) { run(call, plan, a.data(), b, y.write<void>()); });
  }

  bool flip_a_;
  bool flip_b_;
  Plans<Plan> plans_;
};

class QuantizedConv2D {
 public:
  explicit QuantizedConv2D(const Node& node) : windows_(node, 2, false) {
    const std::vector<std::int64_t> strides = node.integers("strides");
    require(strides.size() == 4 && strides[1] == strides[2],
            "strides must be equal in both directions");
  }

  void compute(Call& call) {
    const Tensor x = call.input(0);
    const Tensor filters = call.input(1);
    const Range of_x = range(call, 2);
    const Range of_w = range(call, 4);
    require(x.rank() == 4 && filters.rank() == 4 && x.dim(3) == filters.dim(2),
            "images and filters must have 4 dimensions and the same depth");
    Geometry g = windows_.place(x.dims(), filters.dims());
    const Tensor y = call.output(0, g.output(false));
    put_range(call, of_x, of_w);
    if (y.count() == 0) return;
    const Word x0 = of_x.zero(x.dtype());
    const std::uint8_t* padded = pad(call, x, g, static_cast<std::uint8_t>(x0));
    const std::int8_t* w = with_sign(call, filters);
    Key key;
    key << x.dims() << filters.dims()
        << threads_for(g.operations() / 4, x.count() + filters.count() + y.count());
    plans_.with(
        key, [&] { return plan(g); },
        [&](const Plan& plan) { run(call, plan, padded, w, y.write<void>()); });
    const std::int64_t inner = filters.count() / g.count;
    correct(y.write<Word>(), y.count() / g.count, g.count, inner, x0,
            of_w.zero(filters.dtype()) - 128, of_windows(call, padded, g),
            sums(call, w, inner, g.count, false));
  }

 private:
  static std::unique_ptr<Plan> plan(Geometry g) {
    g.type = Type::u8;
    const Desc x = image(g, g.spatial, g.channels, false);
    g.type = Type::s32;
    const Desc y = image(g, g.out, g.count, false);
    g.type = Type::s8;
    const dnnl::convolution_forward::primitive_desc pd(
        engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, x,
        free_filter(g), y, g.strides, g.dilations, g.before, g.after, attributes());
    return plan_of<dnnl::convolution_forward>(pd, x, filter(g, false), y);
  }

  // The images with `fill` around them; `g` then says how large they are, without any padding.
  static const std::uint8_t* pad(const Call& call, const Tensor& x, Geometry& g,
                                 std::uint8_t fill) {
    const auto* from = x.as<std::uint8_t>();
    const Dims old = g.spatial;
    const Shape before = g.before;
    for (std::size_t k = 0; k < 2; ++k) {
      g.spatial[k] += g.before[k] + g.after[k];
      g.before[k] = g.after[k] = 0;
    }
    if (g.spatial == old) return from;
    const std::int64_t row = g.spatial[1] * g.channels;
    auto* out = call.scratch<std::uint8_t>(g.batch * g.spatial[0] * row + 1);
    std::memset(out, fill, static_cast<std::size_t>(g.batch * g.spatial[0] * row));
    for (std::int64_t n = 0; n < g.batch; ++n) {
      for (std::int64_t r = 0; r < old[0]; ++r) {
        std::memcpy(out + (n * g.spatial[0] + r + before[0]) * row + before[1] * g.channels,
                    from + (n * old[0] + r) * old[1] * g.channels,
                    static_cast<std::size_t>(old[1] * g.channels));
      }
    }
    return out;
  }

  // Sums of all that each window covers.
  static const Word* of_windows(const Call& call, const std::uint8_t* x, const Geometry& g) {
    const std::int64_t places = g.spatial[0] * g.spatial[1];
    const Word* each = sums(call, x, g.batch * places, g.channels, true);
    Word* out = call.scratch<Word>(g.batch * g.out[0] * g.out[1]);
    Word* to = out;
    for (std::int64_t n = 0; n < g.batch; ++n) {
      for (std::int64_t r = 0; r < g.out[0]; ++r) {
        for (std::int64_t c = 0; c < g.out[1]; ++c) {
          const std::int64_t corner = r * g.strides[0] * g.spatial[1] + c * g.strides[1];
          *to++ = of_window(each + n * places + corner, g);
        }
      }
    }
    return out;
  }
  static Word of_window(const Word* corner, const Geometry& g) {
    Word sum = 0;
    for (std::int64_t i = 0; i < g.size[0]; ++i) {
      for (std::int64_t j = 0; j < g.size[1]; ++j) {
        sum += corner[i * (g.dilations[0] + 1) * g.spatial[1] + j * (g.dilations[1] + 1)];
      }
    }
    return sum;
  }

  Windows windows_;
  Plans<Plan> plans_;
};

}  // namespace

void list_quantized_products(std::vector<Entry>& out) {
  out.push_back(entry<QuantizedMatMul>("QuantizedMatMul", false));
  out.push_back(entry<QuantizedConv2D>("QuantizedConv2D", false));
}

}  // namespace drystone::cpu::dnnl_part
