#include "layers.h"

#include <array>
#include <map>

#include "dnn.h"
#include "lt.h"
#include "moves.h"
#include "pointwise.h"
#include "tiles.h"

namespace drystone::gpu {
namespace {

constexpr std::size_t kWorkspace = std::size_t{64} << 20;
constexpr std::uint32_t kMostTiles = 1024, kUnknown = ~0u;

// What a window's algorithm depends on.
using Key = std::array<std::int32_t, 16>;
Key key_of(const Window& w) {
  return {w.batch,    w.height,   w.width,    w.channels,   w.out_height, w.out_width, w.out_channels,
          w.filter_h, w.filter_w, w.stride_h, w.stride_w,   w.dilation_h, w.dilation_w, w.top,
          w.left,     w.tf32 ? 1 : 0};
}

// A product that computes the convolution: 1x1, every place.
bool is_product(const Window& w, std::int32_t groups) {
  return groups == 1 && w.filter_h == 1 && w.filter_w == 1 && w.stride_h == 1 && w.stride_w == 1 &&
         w.top == 0 && w.left == 0 && w.height == w.out_height && w.width == w.out_width;
}

Product product_of(const Window& w, Type type) {
  Product p = {};
  p.batch = 1;
  p.rows = std::int64_t{w.batch} * w.out_height * w.out_width;
  p.columns = w.out_channels;
  p.inner = std::int64_t{w.filter_h} * w.filter_w * w.channels;
  p.type = type;
  p.tf32 = w.tf32;
  return p;
}

// Whether as much is padded on either side, as cuDNN has it.
bool is_even(const Window& w) {
  const auto fits = [](std::int32_t size, std::int32_t filter, std::int32_t stride,
                       std::int32_t dilation, std::int32_t before, std::int32_t out) {
    const std::int32_t reach = (filter - 1) * dilation + 1;
    return (size + 2 * before - reach) / stride + 1 == out;
  };
  return fits(w.height, w.filter_h, w.stride_h, w.dilation_h, w.top, w.out_height) &&
         fits(w.width, w.filter_w, w.stride_w, w.dilation_w, w.left, w.out_width);
}

Work then(Work first, Work second) {
  if (!second) return first;
  return [first = std::move(first), second = std::move(second)] {
    first();
    second();
  };
}

}  // namespace

// Each library is opened with the first layer that is for it.
struct Layers::Parts {
  explicit Parts(Stream& stream) : stream(stream) {}

  Stream& stream;
  void* workspace = nullptr;
  std::unique_ptr<Lt> lt;
  std::unique_ptr<Dnn> dnn;
  bool lt_tried = false, dnn_tried = false;
  using Widened = std::array<std::int32_t, 11>;
  std::map<Widened, bool> widened;      // which way was quicker
  std::map<Key, std::uint32_t> splits;  // of windows that were tried: 0 where a library is quicker
  std::uint32_t* arrived = nullptr;     // of tilings

  void* memory() {
    if (workspace == nullptr) workspace = stream.allocate(kWorkspace);
    return workspace;
  }

  std::uint32_t* zeros() {
    if (arrived == nullptr) {
      constexpr std::size_t kBytes = kMostTiles * sizeof *arrived;
      arrived = static_cast<std::uint32_t*>(stream.allocate(kBytes));
      stream.clear(arrived, kBytes);
    }
    return arrived;
  }
};

Layers::Layers(Stream& stream) : stream_(stream), parts_(std::make_shared<Parts>(stream)) {}

Layers::Layers(Stream& stream, const Layers& kept) : stream_(stream), parts_(kept.parts_) {}

Lt* Layers::lt() {
  if (!parts_->lt_tried && !stream_.is_host()) {
    parts_->lt_tried = true;
    parts_->lt = Lt::open(parts_->stream, parts_->memory(), kWorkspace);
  }
  return parts_->lt.get();
}

Dnn* Layers::dnn() {
  if (!parts_->dnn_tried && !stream_.is_host()) {
    parts_->dnn_tried = true;
    parts_->dnn = Dnn::open(parts_->stream, parts_->memory(), kWorkspace);
  }
  return parts_->dnn.get();
}

Layers::~Layers() = default;

// What a library did not do, in place.
Work Layers::finishing(const After& after, Type type, std::int64_t count, std::int64_t channels,
                       void* at) const {
  Program p = {};
  const auto total = static_cast<std::uint32_t>(count);
  const auto add = [&](const void* data, std::uint32_t period) {
    const Walk walk = period == total ? Walk::along : Walk::line;
    p.operands[p.operand_count++] = {data, type, walk, Divider(1), Divider(period), {}};
  };
  add(at, total);
  if (after.bias != nullptr) add(after.bias, static_cast<std::uint32_t>(channels));
  if (after.residual != nullptr) add(after.residual, total);
  const int operands = p.operand_count;
  int last = 0;
  for (int k = 1; k < operands; ++k) {
    p.instructions[p.instruction_count++] = {Code::add, static_cast<std::uint8_t>(last),
                                             static_cast<std::uint8_t>(k), 0, 0.0f};
    last = operands + p.instruction_count - 1;
  }
  if (after.activation != Activation::none) {
    const Code code = after.activation == Activation::relu ? Code::relu : Code::relu6;
    p.instructions[p.instruction_count++] = {code, static_cast<std::uint8_t>(last), 0, 0, 0.0f};
  }
  if (p.instruction_count == 0) return nullptr;
  p.out = at;
  p.out_type = type;
  p.count = total;
  return [stream = &stream_, p] { run_program(*stream, p); };
}

Work Layers::product(const Product& given, const void* a, const void* b, const After& after,
                     void* to) {
  Product p = given;
  if (p.b_step == 0 && !p.transpose_a && p.batch > 1) {  // one long matrix instead of many
    p.rows *= p.batch;
    p.batch = 1;
  }
  if (lt() != nullptr && is_float(p.type) && p.inner > 0) {
    const bool relu = after.activation == Activation::relu;
    const bool other = after.activation == Activation::relu6;
    if (Work work = lt()->product(p, a, b, after, relu, to)) {
      After rest;
      if (other) rest.activation = after.activation;
      return then(std::move(work),
                  finishing(rest, p.type, p.batch * p.rows * p.columns, p.columns, to));
    }
    const After plain;
    if (Work work = lt()->product(p, a, b, plain, false, to)) {
      return then(std::move(work),
                  finishing(after, p.type, p.batch * p.rows * p.columns, p.columns, to));
    }
  }
  return [stream = &stream_, p, a, b, after, to] { run_product(*stream, p, a, b, after, to); };
}

Work Layers::convolution(const Window& w, std::int32_t groups, Type type, const void* from,
                         const void* filter, const After& after, void* to, Work* pack) {
  if (stream_.is_host()) {
    return [=, stream = &stream_] {
      run_convolution(*stream, w, groups, type, from, filter, after, to);
    };
  }
  std::uint32_t* splits = nullptr;
  if (type == Type::f32 && groups == 1 && can_tile(w) && tile_count(w) <= kMostTiles) {
    splits = &parts_->splits.try_emplace(key_of(w), kUnknown).first->second;
  }
  if (splits != nullptr && *splits != kUnknown && *splits != 0) {
    return tiles(w, *splits, from, filter, after, to);
  }
  Work library_pack;
  Work found = by_libraries(w, groups, type, from, filter, after, to,
                            pack == nullptr ? nullptr : &library_pack);
  if (splits != nullptr && *splits == kUnknown) {
    *splits = quickest_splits(w, from, filter, after, to, stream_.time(found));
    if (*splits != 0) return tiles(w, *splits, from, filter, after, to);
  }
  if (pack != nullptr) *pack = std::move(library_pack);
  return found;
}

// Sums that several blocks share.
Work Layers::tiles(const Window& w, std::uint32_t splits, const void* from, const void* filter,
                   const After& after, void* to) {
  const Tiling tiling = {splits, static_cast<float*>(parts_->memory()), parts_->zeros()};
  return [=, stream = &stream_] { run_tiles(*stream, w, tiling, from, filter, after, to); };
}

// How many blocks share a tile's sums where that takes less than so many seconds; else 0.
std::uint32_t Layers::quickest_splits(const Window& w, const void* from, const void* filter,
                                      const After& after, void* to, double seconds) {
  constexpr std::uint32_t kMostBlocks = 2048;
  const std::size_t result = static_cast<std::size_t>(w.batch) * w.out_height * w.out_width *
                             w.out_channels * sizeof(float);
  std::uint32_t best = 0;
  for (std::uint32_t splits : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) {
    if (splits > most_splits(w) || splits * tile_count(w) > kMostBlocks) break;
    if (splits * result > kWorkspace) break;
    const double taken = stream_.time(tiles(w, splits, from, filter, after, to));
    if (taken >= seconds) continue;
    seconds = taken;
    best = splits;
  }
  return best;
}

Work Layers::by_libraries(const Window& w, std::int32_t groups, Type type, const void* from,
                          const void* filter, const After& after, void* to, Work* pack) {
  if (is_product(w, groups)) return product(product_of(w, type), from, filter, after, to);
  // In float16 and without an activation, cuDNN 9 gives the largest number where infinity is right.
  const bool saturates = type == Type::f16 && after.activation != Activation::relu;
  if (is_even(w) && !saturates && dnn() != nullptr) {
    Work packing;
    Work work = quickest_of_dnn(w, groups, type, from, filter, after, to, &packing);
    if (work && pack == nullptr) return then(std::move(packing), std::move(work));
    if (work) {
      *pack = std::move(packing);
      return work;
    }
  }
  if (groups != 1 || lt() == nullptr) {
    return [=, stream = &stream_] {
      run_convolution(*stream, w, groups, type, from, filter, after, to);
    };
  }
  const Product p = product_of(w, type);
  void* patches = scratch(static_cast<std::size_t>(p.rows * p.inner) * size_of(type));
  const Work work = product(p, patches, filter, after, to);
  return [=, stream = &stream_] {
    run_patches(*stream, w, type, from, patches);
    work();
  };
}

// With channels as they are, or with more of them.
Work Layers::quickest_of_dnn(const Window& w, std::int32_t groups, Type type, const void* from,
                             const void* filter, const After& after, void* to, Work* pack) {
  const Parts::Widened key = {w.batch,    w.height,   w.width,  w.channels, w.out_channels, w.filter_h,
                              w.filter_w, w.stride_h, w.stride_w, static_cast<std::int32_t>(type),
                              w.tf32 ? 1 : 0};
  const auto known = parts_->widened.find(key);
  if (known != parts_->widened.end()) {
    return by_dnn(w, groups, type, known->second, from, filter, after, to, pack);
  }
  Work other_pack;
  Work work = by_dnn(w, groups, type, false, from, filter, after, to, pack);
  Work wide = by_dnn(w, groups, type, true, from, filter, after, to, &other_pack);
  const bool widens = wide && (!work || stream_.time(wide) < stream_.time(work));
  parts_->widened.emplace(key, widens);
  if (!widens) return work;
  *pack = std::move(other_pack);
  return wide;
}

// cuDNN wants filters by channel of the result; `pack` brings them there. If it `widens`, few
// channels become as many as its matrix units take at once, with zeros for those that there are
// not; null where there are enough.
Work Layers::by_dnn(const Window& w, std::int32_t groups, Type type, bool widens, const void* from,
                    const void* filter, const After& after, void* to, Work* pack) {
  const std::int32_t unit = type == Type::f32 ? 4 : 8;
  const std::int32_t depth = w.channels / groups, taps = w.filter_h * w.filter_w;
  if (widens && (groups != 1 || depth >= unit)) return nullptr;
  Window wide = w;
  if (widens) wide.channels = unit;
  const std::int32_t held = widens ? unit : depth;
  const std::size_t size = size_of(type);
  void* packed = cleared(static_cast<std::size_t>(taps) * held * w.out_channels * size);
  Move turn;
  turn.rank = 3;
  const std::int32_t dims[] = {w.out_channels, taps, depth};
  const std::int32_t walk[] = {1, depth * w.out_channels, w.out_channels};
  const std::int32_t steps[] = {taps * held, held, 1};
  for (int k = 0; k < 3; ++k) {
    turn.dims[k] = static_cast<std::uint32_t>(dims[k]);
    turn.from[k] = walk[k];
    turn.to[k] = steps[k];
  }
  const Work packing = [=, stream = &stream_] { run_move(*stream, turn, size, filter, packed); };
  Work widening;
  const void* given = from;
  if (widens) {
    const std::int64_t places = std::int64_t{w.batch} * w.height * w.width;
    void* spread = cleared(static_cast<std::size_t>(places) * unit * size);
    Move move;
    move.rank = 2;
    move.dims[0] = static_cast<std::uint32_t>(places);
    move.dims[1] = static_cast<std::uint32_t>(depth);
    move.from[0] = depth;
    move.to[0] = unit;
    move.from[1] = move.to[1] = 1;
    widening = [=, stream = &stream_] { run_move(*stream, move, size, from, spread); };
    given = spread;
  }
  const std::int64_t count = std::int64_t{w.batch} * w.out_height * w.out_width * w.out_channels;
  const bool relu = after.activation == Activation::relu;
  After rest;
  if (!relu) rest.activation = after.activation;
  Work work = dnn()->convolution(wide, groups, type, given, packed, after, relu, to);
  if (!work) {
    rest = after;
    work = dnn()->convolution(wide, groups, type, given, packed, After(), false, to);
  }
  if (!work) return nullptr;
  *pack = packing;
  work = then(std::move(work), finishing(rest, type, count, w.out_channels, to));
  return widening ? then(std::move(widening), std::move(work)) : work;
}

void* Layers::cleared(std::size_t bytes) {
  void* made = stream_.allocate(bytes);
  stream_.clear(made, bytes);
  return made;
}

// Memory that layers use one after another.
void* Layers::scratch(std::size_t bytes) {
  if (bytes > scratch_bytes_) {
    scratch_ = stream_.allocate(bytes);
    scratch_bytes_ = bytes;
  }
  return scratch_;
}

}  // namespace drystone::gpu
