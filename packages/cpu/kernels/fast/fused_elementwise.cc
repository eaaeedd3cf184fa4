// Element-wise ops that were fused into one node: tile by tile, so that what one op gives is still
// in the cache when the next one reads it.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "core/broadcast.h"
#include "fast/fused_program.h"

namespace drystone::cpu {
namespace {

constexpr std::size_t kAligned = 64;
constexpr std::int64_t kRoom = 32 << 10;      // bytes of buffers that a tile should fit
constexpr std::int64_t kMostRoom = 64 << 10;  // bytes on the stack
constexpr std::int64_t kShortest = 64;        // elements of a tile
constexpr std::int64_t kLongest = 2048;

// An input of a call: walked along with the output, one element for all, or spread out in a buffer.
struct Input {
  enum class Kind : std::uint8_t { straight, single, spread };
  const char* data;
  DimsView dims;
  std::int64_t count;
  std::int64_t bytes;
  Kind kind;
};
using Inputs = std::array<Input, Program::kMostInputs>;

template <class Bits>
void repeat(char* to, const char* from, std::int64_t count) {
  Bits each;
  std::memcpy(&each, from, sizeof(each));
  std::fill_n(reinterpret_cast<Bits*>(to), count, each);
}

void repeat(char* to, const char* from, std::int64_t count, std::int64_t bytes) {
  switch (bytes) {
    case 1: return repeat<std::uint8_t>(to, from, count);
    case 2: return repeat<std::uint16_t>(to, from, count);
    case 4: return repeat<std::uint32_t>(to, from, count);
    default: return repeat<std::uint64_t>(to, from, count);
  }
}

// Elements [begin, begin + count) of an input broadcast to the output's shape: input 1 of the walk.
void spread(const Walk<2>& walk, const Input& in, char* to, std::int64_t begin,
            std::int64_t count) {
  const std::int64_t width = walk.width();
  const std::int64_t first = begin / width;
  const std::int64_t last = (begin + count - 1) / width;
  for_each_row(walk, first, last + 1,
               [&](std::int64_t at, const std::array<std::int64_t, 2>& offset) {
                 const std::int64_t from = std::max(begin, at);
                 const std::int64_t some = std::min(begin + count, at + width) - from;
                 const bool walks = walk.step(1) != 0;
                 const std::int64_t element = offset[1] + (walks ? from - at : 0);
                 const char* data = in.data + element * in.bytes;
                 char* out = to + (from - begin) * in.bytes;
                 if (walks) std::memcpy(out, data, static_cast<std::size_t>(some * in.bytes));
                 else repeat(out, data, some, in.bytes);
               });
}

class FusedElementwise {
 public:
  explicit FusedElementwise(const Node& node) : program_(node) {}

  void compute(Call& call) const {
    Inputs in;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled as far as it is read
    const int count = call.inputs();
    require(count == program_.inputs(), "there must be as many inputs as Targs has types");
    for (int k = 0; k < count; ++k) {
      const Tensor x = call.input(k);
      require(x.dtype() == program_.input_type(k), "inputs must have the types of Targs");
      in[static_cast<std::size_t>(k)] = {static_cast<const char*>(x.data()), x.dims(), x.count(),
                                         program_.input_bytes(k), Input::Kind::straight};
    }
    FewDims joined;
    const DimsView dims = shape(in, joined);
    const int from = settle(in, dims);
    const Tensor out = call.output(0, dims, from);
    if (out.count() != 0) run(in, out);
  }

 private:
  std::size_t inputs() const { return static_cast<std::size_t>(program_.inputs()); }

  // The output's dims: those of the largest input where the others fit it at a glance.
  DimsView shape(const Inputs& in, FewDims& joined) const {
    const Input* largest = in.data();
    for (std::size_t k = 1; k < inputs(); ++k) {
      const bool larger = in[k].count > largest->count ||
                          (in[k].count == largest->count && in[k].dims.size() > largest->dims.size());
      if (larger) largest = &in[k];
    }
    const bool fit = std::all_of(in.begin(), in.begin() + program_.inputs(), [&](const Input& one) {
      return (one.count == 1 && one.dims.size() <= largest->dims.size()) ||
             std::ranges::equal(one.dims, largest->dims);
    });
    if (fit) return largest->dims;
    join(in, joined);
    return joined;
  }

  // The same op by op, so that what does not go together fails as in the op's own kernel.
  void join(const Inputs& in, FewDims& joined) const {
    std::vector<Dims> of(inputs() + static_cast<std::size_t>(program_.buffers()) + 1);
    for (std::size_t k = 0; k < inputs(); ++k) of[k].assign(in[k].dims.begin(), in[k].dims.end());
    const auto dims = [&](int source) -> DimsView { return of[static_cast<std::size_t>(source)]; };
    for (const Step& step : program_.steps()) {
      Dims found;
      if (step.select != nullptr) {
        Walk<3> walked;
        walk<3>({dims(step.in[0]), dims(step.in[1]), dims(step.in[2])}, walked);
        found.assign(walked.out.begin(), walked.out.end());
      } else if (step.binary != nullptr) {
        Walk<2> walked;
        walk<2>({dims(step.in[0]), dims(step.in[1])}, walked);
        found.assign(walked.out.begin(), walked.out.end());
      } else {
        found = of[static_cast<std::size_t>(step.in[0])];
      }
      if (step.out == Program::kOutput) of.back() = std::move(found);
      else of[static_cast<std::size_t>(step.out)] = std::move(found);
    }
    for (const std::int64_t dim : of.back()) joined.push_back(dim);
  }

  // How each input is walked; the input whose memory the output may take over, or -1.
  int settle(Inputs& in, DimsView dims) const {
    const std::int64_t count = product(dims);
    int from = -1;
    bool singles = false;
    for (std::size_t k = 0; k < inputs(); ++k) {
      Input& one = in[k];
      const bool whole = one.count == count;
      one.kind = whole ? Input::Kind::straight
                 : one.count == 1 ? Input::Kind::single
                                  : Input::Kind::spread;
      singles = singles || one.kind == Input::Kind::single;
      const bool fits = program_.input_type(static_cast<int>(k)) == program_.output_type();
      if (from < 0 && whole && fits && std::ranges::equal(one.dims, dims)) from = static_cast<int>(k);
    }
    if (singles) spread_where_needed(in);
    return from;
  }

  // Loops take one element for all only beside an operand that is walked.
  void spread_where_needed(Inputs& in) const {
    const auto single = [&](int source) {
      return source < program_.inputs() &&
             in[static_cast<std::size_t>(source)].kind == Input::Kind::single;
    };
    for (const Step& step : program_.steps()) {
      const bool alone = step.unary != nullptr ||
                         (step.binary != nullptr && single(step.in[0]) && single(step.in[1]));
      if (alone && single(step.in[0])) {
        in[static_cast<std::size_t>(step.in[0])].kind = Input::Kind::spread;
      }
    }
  }

  struct Spread {
    std::size_t input;
    Walk<2> walk;
  };

  void run(const Inputs& in, const Tensor& out) const {
    std::vector<Spread> spreads;
    spreads.reserve(static_cast<std::size_t>(std::count_if(
        in.begin(), in.begin() + program_.inputs(),
        [](const Input& one) { return one.kind == Input::Kind::spread; })));
    for (std::size_t k = 0; k < inputs(); ++k) {
      if (in[k].kind != Input::Kind::spread) continue;
      spreads.emplace_back().input = k;
      walk<2>({out.dims(), in[k].dims}, spreads.back().walk);
    }
    const auto buffers = static_cast<std::int64_t>(spreads.size()) + program_.buffers();
    const std::int64_t bytes = program_.buffer_bytes();
    const std::int64_t fits = buffers == 0 ? kLongest : kRoom / (buffers * bytes) / 64 * 64;
    const std::int64_t tile = std::clamp(fits, kShortest, kLongest);
    const std::int64_t count = out.count();
    auto tiles = [&](std::int64_t first, std::int64_t last) {
      alignas(kAligned) char stack[kMostRoom];
      const auto needed = static_cast<std::size_t>(buffers * tile * bytes);
      std::vector<char> heap(needed > sizeof(stack) ? needed + kAligned : 0);
      void* room = heap.empty() ? stack : heap.data();
      std::size_t size = heap.size();
      if (size != 0) std::align(kAligned, needed, room, size);
      for (std::int64_t k = first; k < last; ++k) {
        const std::int64_t begin = k * tile;
        one_tile(in, spreads, out, static_cast<char*>(room), tile, begin,
                 std::min(tile, count - begin));
      }
    };
    const std::int64_t pieces = (count + tile - 1) / tile;
    if (pieces == 1) return tiles(0, 1);
    parallel(pieces, 1 + tile * program_.cost() / 10, tiles);
  }

  void one_tile(const Inputs& in, const std::vector<Spread>& spreads, const Tensor& out, char* room,
                std::int64_t tile, std::int64_t begin, std::int64_t count) const {
    std::array<const char*, Program::kMostInputs> at;  // NOLINT: filled as far as it is read
    for (std::size_t k = 0; k < inputs(); ++k) {
      at[k] = in[k].data + (in[k].kind == Input::Kind::straight ? begin * in[k].bytes : 0);
    }
    const std::int64_t stride = tile * program_.buffer_bytes();
    char* buffers = room + static_cast<std::int64_t>(spreads.size()) * stride;
    for (std::size_t k = 0; k < spreads.size(); ++k) {
      char* to = room + static_cast<std::int64_t>(k) * stride;
      spread(spreads[k].walk, in[spreads[k].input], to, begin, count);
      at[spreads[k].input] = to;
    }
    const auto source = [&](int k) -> const char* {
      return k < program_.inputs() ? at[static_cast<std::size_t>(k)]
                                   : buffers + (k - program_.inputs()) * stride;
    };
    const auto walks = [&](int k) -> std::int64_t {
      return k < program_.inputs() &&
                     in[static_cast<std::size_t>(k)].kind == Input::Kind::single
                 ? 0
                 : 1;
    };
    char* result = out.write<char>() + begin * program_.output_bytes();
    for (const Step& step : program_.steps()) {
      char* to = step.out == Program::kOutput
                     ? result
                     : buffers + (step.out - program_.inputs()) * stride;
      const auto [a, b, c] = step.in;
      if (step.binary != nullptr) {
        run_binary(*step.binary, to, source(a), source(b), count, walks(a), walks(b));
      } else if (step.unary != nullptr) {
        run_unary(*step.unary, to, source(a), count);
      } else {
        step.select(to, reinterpret_cast<const std::uint8_t*>(source(a)), source(b), source(c), count,
                    walks(a), walks(b), walks(c));
      }
    }
  }

  Program program_;
};

}  // namespace

void add_fused_elementwise() {
  add<FusedElementwise>(
      "Drystone>FusedElementwise",
      {{"T", {TF_FLOAT, TF_DOUBLE, TF_HALF, TF_BFLOAT16, TF_INT32, TF_INT64}}});
}

}  // namespace drystone::cpu
