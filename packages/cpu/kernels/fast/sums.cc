// Sums of many tensors of one shape, and of a tensor and a bias for each channel.
#include <algorithm>

#include "core/broadcast.h"
#include "fast/elementwise.h"

namespace drystone::cpu {
namespace {

constexpr std::int64_t kBlock = 1024;  // elements that are summed at once: they stay in the cache

struct AddOp {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};

// Sixteen-bit floats are rounded once, at the end.
template <class T>
void sum_block(T* out, const std::vector<const T*>& inputs, std::int64_t begin,
               std::int64_t count) {
  Wide<T> sum[kBlock];
  for (std::int64_t k = 0; k < count; ++k) sum[k] = wide(inputs[0][begin + k]);
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const T* x = inputs[i] + begin;
    for (std::int64_t k = 0; k < count; ++k) sum[k] = AddOp()(sum[k], wide(x[k]));
  }
  for (std::int64_t k = 0; k < count; ++k) out[begin + k] = as_held<T>(sum[k]);
}

template <class T>
void add_n(Call& call) {
  const Tensor first = call.input(0);
  const int inputs = call.inputs();
  if (inputs == 1) return call.share(0, 0, first.dims());
  std::vector<const T*> all;
  int from = 0;  // which may be written over, unless it is read again
  for (int i = 0; i < inputs; ++i) {
    const Tensor other = call.input(i);
    if (!std::ranges::equal(other.dims(), first.dims())) {
      fail(TF_INVALID_ARGUMENT, "Inputs to operation AddN must have the same shape: " +
                                    text(first.dims()) + " vs. " + text(other.dims()));
    }
    all.push_back(other.as<T>());
    if (i > 0 && all[0] == all.back()) from = -1;
  }
  const std::int64_t count = first.count();
  T* out = call.output(0, first.dims(), from).template write<T>();
  parallel((count + kBlock - 1) / kBlock, kBlock * inputs / 8,
           [&](std::int64_t begin, std::int64_t end) {
             for (std::int64_t block = begin; block < end; ++block) {
               sum_block(out, all, block * kBlock, std::min(kBlock, count - block * kBlock));
             }
           });
}

bool channels_first(const Node& node) {
  return node.has("data_format") && node.string("data_format") == "NCHW";
}

template <class T, Narrow narrow>
class BiasAdd {
 public:
  explicit BiasAdd(const Node& node) : first_(channels_first(node)) {}
  void compute(Call& call) const {
    const Tensor value = call.input(0);
    const Tensor bias = call.input(1);
    if (value.rank() < 2 || bias.rank() != 1) {
      fail(TF_INVALID_ARGUMENT, "BiasAdd needs a value of rank 2 or more and a vector, not " +
                                    text(value.dims()) + " and " + text(bias.dims()));
    }
    if (value.dim(first_ ? 1 : value.rank() - 1) != bias.count()) {
      fail(TF_INVALID_ARGUMENT, "Must provide as many biases as there are channels: " +
                                    text(bias.dims()) + " vs. " + text(value.dims()));
    }
    FewDims dims;
    dims.assign(first_ ? static_cast<std::size_t>(value.rank()) - 1 : 1, 1);
    dims[0] = bias.count();
    broadcast_binary(kBinary<AddOp, T, T, narrow>, call, value, bias, dims);
  }

 private:
  bool first_;  // channels before the other dimensions
};

template <class... T>
void add_sums(Types<T...>) {
  (add<add_n<T>>("AddN", {{"T", {kType<T>}}}), ...);
  (add<add_n<T>>("AccumulateNV2", {{"T", {kType<T>}}}), ...);
}

template <class T, Narrow narrow>
void add_bias(TF_DataType type) {
  add<BiasAdd<T, narrow>>("BiasAdd", {{"T", {type}}});
  add<BiasAdd<T, narrow>>("BiasAddV1", {{"T", {type}}});
}

}  // namespace

void add_sums() {
  add_sums(Types<float, double, Half, BFloat16>{});
  add_sums(Signed{});
  add_sums(Unsigned{});
  add_bias<float, Narrow::no>(TF_FLOAT);
  add_bias<double, Narrow::no>(TF_DOUBLE);
  add_bias<float, Narrow::half>(TF_HALF);
  add_bias<float, Narrow::bfloat16>(TF_BFLOAT16);
  add_bias<std::int32_t, Narrow::no>(TF_INT32);
  add_bias<std::int64_t, Narrow::no>(TF_INT64);
}

}  // namespace drystone::cpu
