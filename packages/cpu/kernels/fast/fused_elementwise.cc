// Element-wise ops that were fused into one node: tile by tile, so that what one op gives is still
// in the cache when the next one reads it.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "fast/fused_affine.h"

namespace drystone::cpu {
namespace {

constexpr std::size_t kAligned = 64;
constexpr std::int64_t kRoom = 32 << 10;      // bytes of buffers that a tile should fit
constexpr std::int64_t kMostRoom = 64 << 10;  // bytes on the stack
constexpr std::int64_t kShortest = 64;        // elements of a tile
constexpr std::int64_t kLongest = 2048;

class FusedElementwise {
 public:
  explicit FusedElementwise(const Node& node) : program_(node), affine_(Affine::of(node)) {}

  void compute(Call& call) const {
    Inputs in(inputs());
    require(call.inputs() == program_.parts(), "there must be as many inputs as Targs has types");
    Joined joins;
    int at = 0;
    for (int k = 0; k < program_.inputs(); at += program_.parts(k), ++k) {
      Input& one = in[static_cast<std::size_t>(k)];
      const Tensor x = call.input(at);
      check_type(x, k);
      if (program_.parts(k) > 1) {
        for (int part = at + 1; part < at + program_.parts(k); ++part) {
          check_type(call.input(part), k);
        }
        one = joins.join(call, program_, at, program_.parts(k), program_.input_bytes(k));
        continue;
      }
      if (const Slice slice = program_.slice(at); !slice.is_all()) {
        one = joins.slice(x, slice, program_.input_bytes(k));
        continue;
      }
      one = {static_cast<const char*>(x.data()), x.dims(), x.count(), program_.input_bytes(k),
             Input::Kind::straight, {}};
    }
    FewDims joined;
    const DimsView dims = shape(in, joined);
    const int from = settle(call, in, dims, joins);
    const Tensor out = call.output(0, dims, from);
    if (out.count() == 0) return;
    const auto affine = affine_ ? affine_->placed(in) : std::nullopt;
    if (affine) affine->run(in, out);
    else run(in, out);
  }

 private:
  void check_type(const Tensor& x, int operand) const {
    require(x.dtype() == program_.input_type(operand), "inputs must have the types of Targs");
  }

  std::size_t inputs() const { return static_cast<std::size_t>(program_.inputs()); }

  // The output's dims: those of the largest input where the others fit it at a glance.
  DimsView shape(const Inputs& in, FewDims& joined) const {
    const Input* largest = in.begin();
    for (std::size_t k = 1; k < inputs(); ++k) {
      const bool larger = in[k].count > largest->count ||
                          (in[k].count == largest->count && in[k].dims.size() > largest->dims.size());
      if (larger) largest = &in[k];
    }
    const bool fit = std::all_of(in.begin(), in.end(), [&](const Input& one) {
      return one.dims.size() <= largest->dims.size() &&
             (one.count == 1 || std::ranges::equal(one.dims, largest->dims.last(one.dims.size())));
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

  // How each operand is walked; the input whose memory the output may take over, or -1.
  int settle(const Call& call, Inputs& in, DimsView dims, Joined& joins) const {
    const std::int64_t count = product(dims);
    int from = -1;
    bool singles = false;
    for (int k = 0, at = 0; k < program_.inputs(); at += program_.parts(k), ++k) {
      Input& one = in[static_cast<std::size_t>(k)];
      const bool same = std::ranges::equal(one.dims, dims);
      if (one.kind == Input::Kind::joined) {
        if (same) continue;
        joins.settle(one);
      }
      one.kind = kind_of(one, dims, count);
      singles = singles || one.kind == Input::Kind::single;
      const bool fits = program_.parts(k) == 1 && program_.input_type(k) == program_.output_type();
      if (from < 0 && same && fits && !is_sliced(call, at)) from = at;
    }
    if (singles) spread_where_needed(in);
    return from;
  }

  // Whether the node reads a slice of what input `at` is.
  bool is_sliced(const Call& call, int at) const {
    if (!program_.has_slices()) return false;
    const void* data = call.input(at).data();
    for (int k = 0; k < program_.parts(); ++k) {
      if (!program_.slice(k).is_all() && call.input(k).data() == data) return true;
    }
    return false;
  }

  static Input::Kind kind_of(const Input& one, DimsView dims, std::int64_t count) {
    if (one.count == count) return Input::Kind::straight;
    if (one.count == 1) return Input::Kind::single;
    const bool repeats = one.count == one.dims.back() && one.count == dims.back() &&
                         one.count <= kLongest && one.dims.size() <= dims.size();
    return repeats ? Input::Kind::repeated : Input::Kind::spread;
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

  std::vector<Buffered> buffered(const Inputs& in, const Tensor& out) const {
    std::vector<Buffered> found;
    const auto is_buffered = [](const Input& one) { return one.is_buffered(); };
    found.reserve(static_cast<std::size_t>(std::count_if(in.begin(), in.end(), is_buffered)));
    for (std::size_t k = 0; k < inputs(); ++k) {
      if (!in[k].is_buffered()) continue;
      found.push_back({k, nullptr});
      if (in[k].kind != Input::Kind::spread) continue;
      found.back().walk = std::make_unique<Walk<2>>();
      walk<2>({out.dims(), in[k].dims}, *found.back().walk);
    }
    return found;
  }

  // Elements of a tile: whole rows where an operand comes in rows.
  std::int64_t tile_of(const Inputs& in, const Tensor& out, std::int64_t buffers) const {
    const std::int64_t fits =
        buffers == 0 ? kLongest : kRoom / (buffers * program_.buffer_bytes()) / 64 * 64;
    const std::int64_t tile = std::clamp(fits, kShortest, kLongest);
    const bool by_rows =
        std::any_of(in.begin(), in.end(), [](const Input& one) { return one.is_by_rows(); });
    if (!by_rows) return tile;
    const std::int64_t width = out.dims().back();
    return std::max<std::int64_t>(1, tile / width) * width;
  }

  void run(const Inputs& in, const Tensor& out) const {
    const std::vector<Buffered> inputs = buffered(in, out);
    const auto buffers = static_cast<std::int64_t>(inputs.size()) + program_.buffers();
    const std::int64_t bytes = program_.buffer_bytes();
    const std::int64_t tile = tile_of(in, out, buffers);
    const std::int64_t count = out.count();
    auto tiles = [&](std::int64_t first, std::int64_t last) {
      alignas(kAligned) char stack[kMostRoom];
      const auto needed = static_cast<std::size_t>(buffers * tile * bytes);
      std::vector<char> heap(needed > sizeof(stack) ? needed + kAligned : 0);
      void* room = heap.empty() ? stack : heap.data();
      std::size_t size = heap.size();
      if (size != 0) std::align(kAligned, needed, room, size);
      for (const Buffered& one : inputs) {
        if (in[one.input].kind != Input::Kind::repeated) continue;
        one.fill(in[one.input], buffer(room, &one - inputs.data(), tile), 0, std::min(tile, count));
      }
      for (std::int64_t k = first; k < last; ++k) {
        const std::int64_t begin = k * tile;
        one_tile(in, inputs, out, static_cast<char*>(room), tile, begin,
                 std::min(tile, count - begin));
      }
    };
    const std::int64_t pieces = (count + tile - 1) / tile;
    if (pieces == 1) return tiles(0, 1);
    parallel(pieces, 1 + tile * program_.cost() / 10, tiles);
  }

  char* buffer(void* room, std::int64_t number, std::int64_t tile) const {
    return static_cast<char*>(room) + number * tile * program_.buffer_bytes();
  }

  void one_tile(const Inputs& in, const std::vector<Buffered>& buffered, const Tensor& out,
                char* room, std::int64_t tile, std::int64_t begin, std::int64_t count) const {
    std::array<const char*, Program::kMostInputs> at;  // NOLINT: filled as far as it is read
    for (std::size_t k = 0; k < inputs(); ++k) {
      at[k] = in[k].data + (in[k].kind == Input::Kind::straight ? begin * in[k].bytes : 0);
    }
    const std::int64_t stride = tile * program_.buffer_bytes();
    char* buffers = buffer(room, static_cast<std::int64_t>(buffered.size()), tile);
    char* to = room;
    for (const Buffered& one : buffered) {
      if (in[one.input].kind != Input::Kind::repeated) one.fill(in[one.input], to, begin, count);
      at[one.input] = to;
      to += stride;
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
  std::optional<Affine> affine_;
};

}  // namespace

void add_fused_elementwise() {
  add<FusedElementwise>(
      "Drystone>FusedElementwise",
      {{"T", {TF_FLOAT, TF_DOUBLE, TF_HALF, TF_BFLOAT16, TF_INT32, TF_INT64}}});
}

}  // namespace drystone::cpu
