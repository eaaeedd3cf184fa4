// Random numbers that depend on nothing but their seeds. Streams are those of TensorFlow.
#include "core/family.h"
#include "fast/draws.h"

namespace drystone::cpu {
namespace {

Philox stream_of(const Tensor& seed) {
  require(seed.rank() == 1 && seed.dim(0) == 2, "seed must have shape [2]");
  const auto word = [&](int k) {
    switch (seed.dtype()) {
      case TF_INT32: return static_cast<std::uint64_t>(std::int64_t{seed.as<std::int32_t>()[k]});
      case TF_INT64: return seed.as<std::uint64_t>()[k];
      default: fail(TF_INVALID_ARGUMENT, "seed must be signed");
    }
  };
  return Philox::of_seeds(word(0), word(1));
}

template <class T, template <class> class Draw>
struct FromSeed {
  explicit FromSeed(const Node&) {}
  void compute(Call& call) const {
    const Tensor shape = call.input(0);
    const Tensor seed = call.input(1);
    const bool is_signed = seed.dtype() == TF_INT32 || seed.dtype() == TF_INT64;
    const Philox stream = is_signed ? stream_of(seed) : Philox(0, 0, 0);
    const Dims dims = dims_of(shape);
    require(is_signed || product(dims) == 0, "seed must be signed");
    require(seed.rank() == 1 && seed.dim(0) == 2, "seed must have shape [2]");
    const Tensor out = call.output(0, dims);
    Draw<T>::draw(stream, out.write<T>(), out.count());
  }
};

template <class T>
void integers_from_seed(Call& call) {
  const Philox stream = stream_of(call.input(1));
  const Tensor out = call.output(0, dims_of(call.input(0)));
  if (out.count() == 0) return;
  check_bounds<T>(call.input(2), call.input(3));
  draw_between<T>(stream, out, call.input(2), call.input(3));
}

// A stream by key and counter. Only Philox is known here: another algorithm is UNIMPLEMENTED, which
// leaves the node to the reference kernel.
Philox stream_by_key(const Tensor& key, const Tensor& counter, const Tensor& algorithm) {
  constexpr std::int32_t kPhilox = 1;
  constexpr std::int32_t kAutomatic = 3;
  require(algorithm.rank() == 0, "alg must be a scalar");
  require(key.rank() == 1 && key.dim(0) == 1, "key must be one number");
  require(counter.rank() == 1 && counter.dim(0) >= 2, "counter must be two numbers");
  const std::int32_t number = *algorithm.as<std::int32_t>();
  if (number != kPhilox && number != kAutomatic) {
    fail(TF_UNIMPLEMENTED, "the algorithm must be Philox, got " + std::to_string(number));
  }
  return {*key.as<std::uint64_t>(), counter.as<std::uint64_t>()[0], counter.as<std::uint64_t>()[1]};
}

template <class T, template <class> class Draw>
struct FromKey {
  explicit FromKey(const Node&) {}
  void compute(Call& call) const {
    const Philox stream = stream_by_key(call.input(1), call.input(2), call.input(3));
    const Tensor out = call.output(0, dims_of(call.input(0)));
    Draw<T>::draw(stream, out.write<T>(), out.count());
  }
};

template <class T>
void integers_from_key(Call& call) {
  const Philox stream = stream_by_key(call.input(1), call.input(2), call.input(3));
  const Tensor out = call.output(0, dims_of(call.input(0)));
  if (out.count() == 0) return;
  check_bounds<T>(call.input(4), call.input(5));
  draw_between<T>(stream, out, call.input(4), call.input(5));
}

template <bool kAlgorithm>
void key_counter(Call& call) {
  const Philox stream = stream_of(call.input(0));
  *call.output(0, {{1}}).write<std::uint64_t>() = stream.key();
  auto* counter = call.output(1, {{2}}).write<std::uint64_t>();
  counter[0] = stream.low();
  counter[1] = stream.high();
  if (kAlgorithm) *call.output(2, {}).write<std::int32_t>() = 1;  // Philox
}

void algorithm(Call& call) { *call.output(0, {}).write<std::int32_t>() = 1; }

}  // namespace

const Family registered([] {
  add_floats<FromSeed, Uniform>("StatelessRandomUniform");
  add_floats<FromSeed, Normal>("StatelessRandomNormal");
  add_floats<FromSeed, Truncated>("StatelessTruncatedNormal");
  add_floats<FromKey, Uniform>("StatelessRandomUniformV2");
  add_floats<FromKey, Normal>("StatelessRandomNormalV2");
  add_floats<FromKey, Truncated>("StatelessTruncatedNormalV2");
  const char* full = "StatelessRandomUniformFullInt";
  add<FromSeed<std::uint32_t, Full>>(full, {{"dtype", {TF_INT32, TF_UINT32}}});
  add<FromSeed<std::uint64_t, Full>>(full, {{"dtype", {TF_INT64, TF_UINT64}}});
  const char* by_key = "StatelessRandomUniformFullIntV2";
  add<FromKey<std::uint32_t, Full>>(by_key, {{"dtype", {TF_INT32, TF_UINT32}}});
  add<FromKey<std::uint64_t, Full>>(by_key, {{"dtype", {TF_INT64, TF_UINT64}}});
  add<integers_from_key<std::uint32_t>>("StatelessRandomUniformIntV2", {{"dtype", {TF_INT32}}});
  add<integers_from_key<std::uint64_t>>("StatelessRandomUniformIntV2", {{"dtype", {TF_INT64}}});
  add<integers_from_seed<std::uint32_t>>("StatelessRandomUniformInt", {{"dtype", {TF_INT32}}});
  add<integers_from_seed<std::uint64_t>>("StatelessRandomUniformInt", {{"dtype", {TF_INT64}}});
  add<key_counter<false>>("StatelessRandomGetKeyCounter");
  add<key_counter<true>>("StatelessRandomGetKeyCounterAlg");
  add<algorithm>("StatelessRandomGetAlg");
  add_random_state();
});

}  // namespace drystone::cpu
