// Reductions over axes, and what is one: Sum, Mean, Prod, Max, Min, All, Any, EuclideanNorm,
// BiasAddGrad, L2Loss.
#include <complex>
#include <limits>

#include "core/family.h"
#include "fast/folds.h"

namespace drystone::cpu {
namespace {

template <class T>
struct MeanFold : SumFold<T> {
  using State = Wide<T>;
  static T finish(State s, std::int64_t each) { return narrow<T>(s / static_cast<State>(each)); }
};

// Integers add up in 64 bits, and the mean is cut towards zero.
template <class T>
using Whole = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
template <class T>
struct WholeMeanFold : SumFold<T, Whole<T>> {
  using State = Whole<T>;
  static State join(State a, State b) {
    return static_cast<State>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }
  static T finish(State s, std::int64_t each) {
    return static_cast<T>(s / static_cast<State>(each < 1 ? 1 : each));
  }
};

// By parts: an infinite one would make the other NaN.
template <class T>
struct ComplexMeanFold : SumFold<std::complex<T>> {
  static std::complex<T> finish(std::complex<T> s, std::int64_t each) {
    const T count = static_cast<T>(each < 1 ? 1 : each);
    return {s.real() / count, s.imag() / count};
  }
};

template <class T>
struct ProdFold : SumFold<T> {
  using State = Wide<T>;
  static State neutral() { return State(1); }
  static State join(State a, State b) { return static_cast<State>(a * b); }
};

template <class T>
struct MinFold : SumFold<T> {
  using State = Wide<T>;
  using Limits = std::numeric_limits<State>;
  static State neutral() { return Limits::has_infinity ? Limits::infinity() : Limits::max(); }
  static State join(State a, State b) {
    const State one = b < a ? b : a;
    return b != b ? b : one;
  }
};

template <class T>
struct NormFold : SquaresFold<T> {
  using State = Wide<T>;
  static T finish(State s, std::int64_t) { return narrow<T>(std::sqrt(s)); }
};

template <class T>
struct L2LossFold : SquaresFold<T> {
  using State = Wide<T>;
  static T finish(State s, std::int64_t) { return narrow<T>(s / 2); }
};

// On bytes that are 0 or 1.
struct AllFold : SumFold<std::uint8_t> {
  static State neutral() { return 1; }
  static State join(State a, State b) { return a & b; }
};
struct AnyFold : SumFold<std::uint8_t> {
  static State join(State a, State b) { return a | b; }
};

// Gradients of what broadcasts reduce over axes that they know late, and often over none.
template <class Op>
inline constexpr bool kOneIsItself = true;
template <class T>
inline constexpr bool kOneIsItself<NormFold<T>> = false;

template <class Op>
class Reduce {
 public:
  explicit Reduce(const Node& node) : keep_dims_(node.boolean("keep_dims")) {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    const std::vector<bool> axes = reduced_axes(call.input(1), x.rank());
    const Reduction shape = reduction(x.dims(), axes, keep_dims_);
    if (kOneIsItself<Op> && shape.each == 1) {
      call.share(0, 0, shape.out);  // as TensorFlow does: -0 stays -0
    } else {
      reduce(call, kFold<Op>, x, shape);
    }
  }

 private:
  bool keep_dims_;
};

template <class Op>
class BiasAddGrad {
 public:
  explicit BiasAddGrad(const Node& node) : channels_first_(node.string("data_format") == "NCHW") {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    require(x.rank() >= 2, "Input tensor must be at least 2D");
    std::vector<bool> axes(static_cast<std::size_t>(x.rank()), true);
    axes[channels_first_ ? 1 : axes.size() - 1] = false;
    reduce(call, kFold<Op>, x, reduction(x.dims(), axes, false));
  }

 private:
  bool channels_first_;
};

template <class T>
void l2_loss(Call& call) {
  const Tensor x = call.input(0);
  const std::vector<bool> axes(static_cast<std::size_t>(x.rank()), true);
  reduce(call, kFold<L2LossFold<T>>, x, reduction(x.dims(), axes, false));
}

template <class Op>
void add_fold(const char* op, std::vector<TF_DataType> types) {
  add<Reduce<Op>>(op, {{"T", std::move(types)}, {"Tidx", {TF_INT32, TF_INT64}}});
}

// Sums and products that wrap do not depend on signs.
template <template <class...> class Op>
void add_numbers(const char* op) {
  add_fold<Op<float>>(op, {TF_FLOAT});
  add_fold<Op<double>>(op, {TF_DOUBLE});
  add_fold<Op<std::uint8_t>>(op, {TF_UINT8, TF_INT8});
  add_fold<Op<std::uint16_t>>(op, {TF_UINT16, TF_INT16});
  add_fold<Op<std::uint32_t>>(op, {TF_UINT32, TF_INT32});
  add_fold<Op<std::uint64_t>>(op, {TF_UINT64, TF_INT64});
  add_fold<Op<Half>>(op, {TF_HALF});
  add_fold<Op<BFloat16>>(op, {TF_BFLOAT16});
  add_fold<Op<std::complex<float>>>(op, {TF_COMPLEX64});
  add_fold<Op<std::complex<double>>>(op, {TF_COMPLEX128});
}

template <template <class> class Op>
void add_whole(const char* op) {
  add_fold<Op<std::uint8_t>>(op, {TF_UINT8});
  add_fold<Op<std::int8_t>>(op, {TF_INT8});
  add_fold<Op<std::uint16_t>>(op, {TF_UINT16});
  add_fold<Op<std::int16_t>>(op, {TF_INT16});
  add_fold<Op<std::uint32_t>>(op, {TF_UINT32});
  add_fold<Op<std::int32_t>>(op, {TF_INT32});
  add_fold<Op<std::uint64_t>>(op, {TF_UINT64});
  add_fold<Op<std::int64_t>>(op, {TF_INT64});
}

template <template <class> class Op>
void add_floats(const char* op) {
  add_fold<Op<float>>(op, {TF_FLOAT});
  add_fold<Op<double>>(op, {TF_DOUBLE});
  add_fold<Op<Half>>(op, {TF_HALF});
  add_fold<Op<BFloat16>>(op, {TF_BFLOAT16});
}

template <class Op>
void add_bias(TF_DataType type) {
  add<BiasAddGrad<Op>>("BiasAddGrad", {{"T", {type}}});
}

}  // namespace

const Family registered([] {
  add_numbers<SumFold>("Sum");
  add_numbers<ProdFold>("Prod");
  add_floats<MeanFold>("Mean");
  add_whole<WholeMeanFold>("Mean");
  add_fold<ComplexMeanFold<float>>("Mean", {TF_COMPLEX64});
  add_fold<ComplexMeanFold<double>>("Mean", {TF_COMPLEX128});
  add_floats<MaxFold>("Max");
  add_whole<MaxFold>("Max");
  add_floats<MinFold>("Min");
  add_whole<MinFold>("Min");
  add_floats<NormFold>("EuclideanNorm");
  add<Reduce<AllFold>>("All", {{"Tidx", {TF_INT32, TF_INT64}}});
  add<Reduce<AnyFold>>("Any", {{"Tidx", {TF_INT32, TF_INT64}}});
  add_bias<SumFold<float>>(TF_FLOAT);
  add_bias<SumFold<double>>(TF_DOUBLE);
  add_bias<SumFold<std::uint32_t>>(TF_INT32);
  add_bias<SumFold<std::uint64_t>>(TF_INT64);
  add_bias<SumFold<Half>>(TF_HALF);
  add_bias<SumFold<BFloat16>>(TF_BFLOAT16);
  add<l2_loss<float>>("L2Loss", {{"T", {TF_FLOAT}}});
  add<l2_loss<double>>("L2Loss", {{"T", {TF_DOUBLE}}});
  add<l2_loss<Half>>("L2Loss", {{"T", {TF_HALF}}});
  add<l2_loss<BFloat16>>("L2Loss", {{"T", {TF_BFLOAT16}}});
});

}  // namespace drystone::cpu
