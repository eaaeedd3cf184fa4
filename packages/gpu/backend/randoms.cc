// Random numbers on the device. Shapes, seeds and bounds are read on the host; streams are those that
// TensorFlow and drystone have on the processor, so that equal seeds give the same numbers.
#include <mutex>
#include <random>

#include "draws.h"
#include "drystone/kernel_state.h"
#include "node.h"

// A host that keeps nothing for a node has no need of the kernels that go on from run to run.
#pragma weak DS_NodeState

namespace drystone::gpu {
namespace {

constexpr std::uint64_t kBlocks = 256;  // that each number of a node's own stream may use up

// What a stream begins with: two seeds, a key and a counter, or the state of the node.
enum class Source : std::uint8_t { seeds, key, node };

struct Random {
  const char* op;
  Drawing drawing;
  Source source;
  const char* attr = "dtype";
};

const std::vector<Random>& all_random() {
  static const std::vector<Random> all = {
      {"StatelessRandomUniform", Drawing::uniform, Source::seeds},
      {"StatelessRandomNormal", Drawing::normal, Source::seeds},
      {"StatelessTruncatedNormal", Drawing::truncated, Source::seeds},
      {"StatelessRandomUniformFullInt", Drawing::whole, Source::seeds},
      {"StatelessRandomUniformInt", Drawing::between, Source::seeds},
      {"StatelessRandomUniformV2", Drawing::uniform, Source::key},
      {"StatelessRandomNormalV2", Drawing::normal, Source::key},
      {"StatelessTruncatedNormalV2", Drawing::truncated, Source::key},
      {"StatelessRandomUniformFullIntV2", Drawing::whole, Source::key},
      {"StatelessRandomUniformIntV2", Drawing::between, Source::key},
      {"RandomUniform", Drawing::uniform, Source::node},
      {"RandomStandardNormal", Drawing::normal, Source::node},
      {"TruncatedNormal", Drawing::truncated, Source::node},
      {"RandomUniformInt", Drawing::between, Source::node, "Tout"},
  };
  return all;
}

std::vector<std::string> inputs_of(const Random& random) {
  std::vector<std::string> names = {"shape"};
  if (random.source == Source::seeds) names.push_back("seed");
  if (random.source == Source::key) names.insert(names.end(), {"key", "counter", "alg"});
  if (random.drawing == Drawing::between) names.insert(names.end(), {"minval", "maxval"});
  return names;
}

// Whole numbers of an input on the host, as many as there must be; -1: as many as there are.
std::vector<std::int64_t> whole_of(const NodeCall& call, std::size_t input, std::int64_t count) {
  const TF_Tensor* tensor = call.input(input);
  const std::int64_t found = TF_TensorElementCount(tensor);
  if (TF_NumDims(tensor) > 1 || (count >= 0 && found < count)) throw Refused("an input of other shape");
  std::vector<std::int64_t> all(static_cast<std::size_t>(found));
  const void* data = TF_TensorData(tensor);
  for (std::size_t k = 0; k < all.size(); ++k) {
    switch (TF_TensorType(tensor)) {
      case TF_INT32: all[k] = static_cast<const std::int32_t*>(data)[k]; break;
      case TF_INT64: all[k] = static_cast<const std::int64_t*>(data)[k]; break;
      case TF_UINT64:
        all[k] = static_cast<std::int64_t>(static_cast<const std::uint64_t*>(data)[k]);
        break;
      default: throw Refused("an input of a type that no random numbers begin with");
    }
  }
  return all;
}

Philox by_seeds(const NodeCall& call) {
  const std::vector<std::int64_t> seeds = whole_of(call, 1, 2);
  if (seeds.size() != 2 || TF_TensorType(call.input(1)) == TF_UINT64)
    throw Refused("the seed must be two signed numbers");
  return Philox::of_seeds(static_cast<std::uint64_t>(seeds[0]), static_cast<std::uint64_t>(seeds[1]));
}

Philox by_key(const NodeCall& call) {
  constexpr std::int64_t kPhilox = 1, kAutomatic = 3;
  const std::vector<std::int64_t> key = whole_of(call, 1, 1), counter = whole_of(call, 2, 2);
  const std::int64_t algorithm = whole_of(call, 3, 1)[0];
  if (key.size() != 1) throw Refused("key must be one number");
  if (algorithm != kPhilox && algorithm != kAutomatic) {  // which the host may know
    throw Unknown("the algorithm must be Philox, got " + std::to_string(algorithm));
  }
  return {static_cast<std::uint64_t>(key[0]), static_cast<std::uint64_t>(counter[0]),
          static_cast<std::uint64_t>(counter[1])};
}

// ---- what goes on from run to run ------------------------------------------------------------

struct Kept {
  std::mutex mutex;
  Philox stream;

  // The stream as it is; the next call gets it without its first `blocks` blocks.
  Philox take(std::uint64_t blocks) {
    const std::lock_guard<std::mutex> guard(mutex);
    const Philox found = stream;
    if (__builtin_add_overflow(stream.low, blocks, &stream.low)) ++stream.high;
    return found;
  }
};

const DS_ObjectKind kKind = {DS_OBJECT_KIND_STRUCT_SIZE, "random stream of a GPU",
                             [](void* object) { delete static_cast<Kept*>(object); }};

std::uint64_t arbitrary() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

struct Seeds {
  std::uint64_t first, second;

  static void* make(void* argument) {
    const auto* self = static_cast<const Seeds*>(argument);
    auto* made = new (std::nothrow) Kept();
    if (made == nullptr) return nullptr;
    const bool given = self->first != 0 || self->second != 0;
    made->stream = {given ? self->first : arbitrary(), 0, given ? self->second : arbitrary()};
    return made;
  }
};

// ---- kernels ---------------------------------------------------------------------------------

class Numbers {
 public:
  Numbers(const Random& random, const sdk::NodeView& node) : random_(random) {
    const auto type = node.attr(random.attr).type();
    type_ = type.has_value() ? type_of(*type) : Type::none;
    const auto seed = [&](const char* name) {
      return static_cast<std::uint64_t>(node.attr(name).integer().value_or(0));
    };
    seeds_ = {seed("seed"), seed("seed2")};
  }

  void run(TF_OpKernelContext* context) {
    NodeCall call(context);
    for (int k = 0; k < TF_NumInputs(context); ++k) call.take(k);
    const Dims dims = whole_of(call, 0, -1);
    if (TF_NumDims(call.input(0)) != 1) throw Refused("shape must be a vector");
    const std::int64_t count = count_of(dims);
    Draw draw = {random_.drawing, type_, {}, 0, 1};
    if (draw.drawing == Drawing::between && count != 0) bound(call, &draw);
    const bool is_drawn = random_.source != Source::node || count != 0;
    if (is_drawn && !taken(call, static_cast<std::uint64_t>(count), &draw.stream)) return;
    sdk::Tensor made;
    void* const to = allocate(call, 0, type_, dims, &made);
    const std::lock_guard<std::mutex> guard(call.stream()->mutex);
    call.stream()->stream->enter();
    run_draw(*call.stream()->stream, draw, count, to);
  }

 private:
  // The least number, and how many there are.
  static void bound(const NodeCall& call, Draw* draw) {
    const std::size_t last = call.count() - 1;
    const std::int64_t least = whole_of(call, last - 1, 1)[0], end = whole_of(call, last, 1)[0];
    if (TF_NumDims(call.input(last - 1)) != 0 || TF_NumDims(call.input(last)) != 0)
      throw Refused("minval and maxval must be scalars");
    if (least >= end) throw Refused("minval must be below maxval");
    draw->least = static_cast<std::uint64_t>(least);
    draw->span = static_cast<std::uint64_t>(end) - draw->least;
  }

  // False where the call has failed.
  bool taken(const NodeCall& call, std::uint64_t count, Philox* to) {
    if (random_.source == Source::node) {
      void* const kept = DS_NodeState(call.get(), &kKind, Seeds::make, &seeds_);
      if (kept != nullptr) *to = static_cast<Kept*>(kept)->take(count * kBlocks);
      return kept != nullptr;
    }
    *to = random_.source == Source::seeds ? by_seeds(call) : by_key(call);
    return true;
  }

  const Random& random_;
  Type type_;
  Seeds seeds_;
};

void* create(TF_OpKernelConstruction* construction) {
  return created(construction, [&]() -> void* {
    const std::string def = def_of(construction);
    const sdk::NodeView view(def);
    for (const Random& one : all_random()) {
      if (view.op() == one.op) return new Numbers(one, view);
    }
    throw Refused("no such random numbers");
  });
}

void destroy(void* kernel) { delete static_cast<Numbers*>(kernel); }

void compute(void* kernel, TF_OpKernelContext* context) {
  computed(context, [&] { static_cast<Numbers*>(kernel)->run(context); });
}

}  // namespace

// Whole numbers of 32 bits stay on the host, as those of other ops do.
void add_random_kernels() {
  for (const Random& one : all_random()) {
    if (one.source == Source::node && DS_NodeState == nullptr) continue;
    const bool is_whole = one.drawing == Drawing::whole || one.drawing == Drawing::between;
    const std::vector<TF_DataType> types =
        is_whole ? std::vector<TF_DataType>{TF_INT64} : std::vector<TF_DataType>{TF_FLOAT, TF_HALF, TF_BFLOAT16};
    for (const TF_DataType type : types) {
      add_kernel({one.op, create, compute, destroy, inputs_of(one), {{one.attr, type}}});
    }
  }
}

}  // namespace drystone::gpu
