// Random numbers from streams that go on from run to run: those that a session keeps for a node, and
// generators whose state is a variable. Streams are those of TensorFlow.
#include <cstring>
#include <limits>
#include <mutex>
#include <random>
#include <vector>

#include "core/moving.h"
#include "drystone/kernel_state.h"
#include "fast/draws.h"

namespace drystone::cpu {
namespace {

constexpr std::int64_t kBlocks = 256;  // that each output may use up

struct Stream {
  std::mutex mutex;
  std::uint64_t key = 0;
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  // The stream as it is; the next call gets it without its first `blocks` blocks.
  Philox take(std::uint64_t blocks) {
    const std::lock_guard lock(mutex);
    const Philox out(key, low, high);
    if (__builtin_add_overflow(low, blocks, &low)) ++high;
    return out;
  }
};

const DS_ObjectKind kKind = {DS_OBJECT_KIND_STRUCT_SIZE, "random stream",
                             [](void* object) { delete static_cast<Stream*>(object); }};

std::uint64_t arbitrary() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

// What a stateful random op draws from: two zero seeds make an arbitrary stream.
class Seeded {
 public:
  explicit Seeded(const Node& node)
      : seed_(static_cast<std::uint64_t>(node.integer("seed"))),
        seed2_(static_cast<std::uint64_t>(node.integer("seed2"))) {}

  Philox take(const Call& call, std::int64_t count, std::int64_t blocks) const {
    const auto create = [](void* argument) -> void* {
      const auto* self = static_cast<const Seeded*>(argument);
      const bool given = self->seed_ != 0 || self->seed2_ != 0;
      auto* made = new (std::nothrow) Stream();
      if (made == nullptr) return nullptr;
      made->key = given ? self->seed_ : arbitrary();
      made->high = given ? self->seed2_ : arbitrary();
      return made;
    };
    void* found = DS_NodeState(call.context(), &kKind, create, const_cast<Seeded*>(this));
    if (found == nullptr) throw AlreadyFailed();
    return static_cast<Stream*>(found)->take(static_cast<std::uint64_t>(count) *
                                             static_cast<std::uint64_t>(blocks));
  }

 private:
  std::uint64_t seed_;
  std::uint64_t seed2_;
};

template <class T, template <class> class Draw>
class Stateful {
 public:
  explicit Stateful(const Node& node) : seeded_(node) {}
  void compute(Call& call) const {
    const Tensor out = call.output(0, dims_of(call.input(0)));
    Draw<T>::draw(seeded_.take(call, out.count(), kBlocks), out.write<T>(), out.count());
  }

 private:
  Seeded seeded_;
};

template <class T>
class Integers {
 public:
  explicit Integers(const Node& node) : seeded_(node) {}
  void compute(Call& call) const {
    const Tensor out = call.output(0, dims_of(call.input(0)));
    if (out.count() == 0) return;
    check_bounds<T>(call.input(1), call.input(2));
    draw_between<T>(seeded_.take(call, out.count(), kBlocks), out, call.input(1), call.input(2));
  }

 private:
  Seeded seeded_;
};

std::vector<std::uint32_t> words_of(const Philox& stream, std::int64_t count) {
  const std::int64_t blocks = (count + 3) / 4;
  std::vector<std::uint32_t> out(static_cast<std::size_t>(4 * blocks));
  stream.blocks(0, blocks, out.data());
  return out;
}

// Rows in random order: by swaps from the front.
class Shuffle {
 public:
  explicit Shuffle(const Node& node) : seeded_(node) {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    if (x.rank() == 0 || x.dim(0) <= 1) return call.share(0, 0, x.dims());
    const std::int64_t rows = x.dim(0);
    const auto words = words_of(seeded_.take(call, (rows + 2) / 4, 1), rows - 1);
    std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<std::int64_t>(k);
    for (std::size_t k = 0; k + 1 < order.size(); ++k) {
      std::swap(order[k], order[k + words[k] % (order.size() - k)]);
    }
    const Tensor y = call.output(0, x.dims());
    const std::size_t bytes =
        static_cast<std::size_t>(product(x.dims().subspan(1))) * element_size(x.dtype());
    for (std::size_t k = 0; k < order.size() && bytes != 0; ++k) {
      std::memcpy(y.write<char>() + k * bytes,
                  x.as<char>() + static_cast<std::size_t>(order[k]) * bytes, bytes);
    }
  }

 private:
  Seeded seeded_;
};

// Class numbers drawn by log probabilities that need not add up to one.
template <class T, class Out>
void categorical(const Philox& stream, const Tensor& logits, const Tensor& out) {
  const std::int64_t rows = logits.dim(0);
  const std::int64_t classes = logits.dim(1);
  const std::int64_t count = out.dim(1);
  const auto words = words_of(stream, 2 * rows * count);
  std::vector<double> heights(static_cast<std::size_t>(classes));
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* in = logits.as<T>() + row * classes;
    double top = -std::numeric_limits<double>::infinity();
    for (std::int64_t k = 0; k < classes; ++k) {
      const auto value = static_cast<double>(widen(in[k]));
      if (std::isfinite(value)) top = std::max(top, value);
    }
    double total = 0;
    for (std::int64_t k = 0; k < classes; ++k) {
      const auto value = static_cast<double>(widen(in[k]));
      total += std::isfinite(value) ? std::exp(value - top) : 0;
      heights[static_cast<std::size_t>(k)] = total;
    }
    Out* to = out.write<Out>() + row * count;
    const std::uint32_t* from = words.data() + 2 * row * count;
    for (std::int64_t k = 0; k < count; ++k) {
      const double sought = unit(from[2 * k], from[2 * k + 1]) * total;
      const auto found = std::upper_bound(heights.begin(), heights.end(), sought);
      to[k] = static_cast<Out>(found - heights.begin());
    }
  }
}

template <class T, class Out>
class Multinomial {
 public:
  explicit Multinomial(const Node& node) : seeded_(node) {}
  void compute(Call& call) const {
    const Tensor logits = call.input(0);
    require(logits.rank() == 2, "logits must be a matrix");
    require(call.input(1).rank() == 0, "num_samples must be a scalar");
    const std::int64_t count = scalar_int(call.input(1), "num_samples");
    require(count >= 0, "num_samples must not be negative");
    require(logits.dim(1) > 0, "there must be a class to draw");
    const Tensor out = call.output(0, {{logits.dim(0), count}});
    const std::int64_t outputs = logits.dim(0) * ((count + 3) / 4) * 8;
    categorical<T, Out>(seeded_.take(call, outputs, kBlocks), logits, out);
  }

 private:
  Seeded seeded_;
};

template <class T>
void add_multinomial() {
  constexpr TF_DataType kType = std::is_same_v<T, float>    ? TF_FLOAT
                                : std::is_same_v<T, double> ? TF_DOUBLE
                                : std::is_same_v<T, Half>   ? TF_HALF
                                                            : TF_BFLOAT16;
  add<Multinomial<T, std::int64_t>>("Multinomial", {{"T", {kType}}, {"output_dtype", {TF_INT64}}});
  add<Multinomial<T, std::int32_t>>("Multinomial", {{"T", {kType}}, {"output_dtype", {TF_INT32}}});
}

// The stream of a generator, whose counter moves on by what `count` numbers may use up.
Philox advance(const Call& call, std::int64_t count) {
  constexpr std::int64_t kPhilox = 1;
  constexpr std::int64_t kAutomatic = 3;
  const Tensor algorithm = call.input(1);
  require(algorithm.rank() == 0, "algorithm must be a scalar");
  const std::int64_t number = integer_at(algorithm, 0);
  if (number != kPhilox && number != kAutomatic) {
    fail(number == 2 ? TF_UNIMPLEMENTED : TF_INVALID_ARGUMENT,
         "the algorithm must be Philox, got " + std::to_string(number));
  }
  const Tensor state = call.change_variable(0);
  require(state.dtype() == TF_INT64 && state.rank() == 1 && state.count() >= 3,
          "the state of a generator must be an int64 vector of counter and key");
  auto* words = state.write<std::uint64_t>();
  const Philox out(words[2], words[0], words[1]);
  const auto blocks = static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(kBlocks);
  if (__builtin_add_overflow(words[0], blocks, &words[0])) ++words[1];
  return out;
}

template <class T, template <class> class Draw>
struct Generated {
  explicit Generated(const Node&) {}
  void compute(Call& call) const {
    const Tensor out = call.output(0, dims_of(call.input(2)));
    Draw<T>::draw(advance(call, out.count()), out.write<T>(), out.count());
  }
};

template <class T>
void generated_integers(Call& call) {
  check_bounds<T>(call.input(3), call.input(4));
  const Tensor out = call.output(0, dims_of(call.input(2)));
  draw_between<T>(advance(call, out.count()), out, call.input(3), call.input(4));
}

std::int64_t delta_of(const Tensor& delta) {
  require(delta.rank() == 0, "delta must be a scalar");
  const bool is_wide = delta.dtype() == TF_UINT64 || delta.dtype() == TF_INT64;
  return is_wide ? *delta.as<std::int64_t>() : integer_at(delta, 0);
}

void skip(Call& call) { advance(call, delta_of(call.input(2))); }

void read_and_skip(Call& call) {
  const Philox stream = advance(call, delta_of(call.input(2)));
  auto* out = call.output(0, {{3}}).write<std::uint64_t>();
  out[0] = stream.low();
  out[1] = stream.high();
  out[2] = stream.key();
}

void add_generators() {
  add_floats<Generated, Uniform>("StatefulUniform");
  add_floats<Generated, Normal>("StatefulStandardNormalV2");
  add_floats<Generated, Truncated>("StatefulTruncatedNormal");
  const char* full = "StatefulUniformFullInt";
  add<Generated<std::uint32_t, Full>>(full, {{"dtype", {TF_INT32, TF_UINT32}}});
  add<Generated<std::uint64_t, Full>>(full, {{"dtype", {TF_INT64, TF_UINT64}}});
  add<generated_integers<std::uint32_t>>("StatefulUniformInt", {{"dtype", {TF_INT32}}});
  add<generated_integers<std::uint64_t>>("StatefulUniformInt", {{"dtype", {TF_INT64}}});
  add<skip>("RngSkip");
  add<read_and_skip>("RngReadAndSkip");
}

}  // namespace

void add_random_state() {
  add_floats<Stateful, Uniform>("RandomUniform");
  add_floats<Stateful, Normal>("RandomStandardNormal");
  add_floats<Stateful, Truncated>("TruncatedNormal");
  add<Integers<std::uint32_t>>("RandomUniformInt", {{"Tout", {TF_INT32}}});
  add<Integers<std::uint64_t>>("RandomUniformInt", {{"Tout", {TF_INT64}}});
  add<Shuffle>("RandomShuffle", {{"T", plain_types()}});
  add_multinomial<float>();
  add_multinomial<double>();
  add_multinomial<Half>();
  add_multinomial<BFloat16>();
  add_generators();
}

}  // namespace drystone::cpu
