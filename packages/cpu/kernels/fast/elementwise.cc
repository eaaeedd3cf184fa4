// What element-wise kernels share: shapes, threads, 16-bit floats.
#include "fast/elementwise.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "core/broadcast.h"
#include "core/family.h"

namespace drystone::cpu {
namespace {

constexpr std::int64_t kTile = 256;    // elements that are converted at once
constexpr std::int64_t kBlock = 1024;  // elements that are handed to a thread at once

template <class T>
void widen_as(float* out, const char* from, std::int64_t count) {
  const T* x = reinterpret_cast<const T*>(from);
#pragma GCC ivdep
  for (std::int64_t k = 0; k < count; ++k) out[k] = to_float(x[k]);
}

template <class T>
void narrow_as(char* to, const float* x, std::int64_t count) {
  T* out = reinterpret_cast<T*>(to);
#pragma GCC ivdep
  for (std::int64_t k = 0; k < count; ++k) out[k] = from_float<T>(x[k]);
}

void widen(Narrow kind, float* out, const char* from, std::int64_t count) {
  kind == Narrow::half ? widen_as<Half>(out, from, count) : widen_as<BFloat16>(out, from, count);
}

void narrow(Narrow kind, char* to, const float* x, std::int64_t count) {
  kind == Narrow::half ? narrow_as<Half>(to, x, count) : narrow_as<BFloat16>(to, x, count);
}

void narrow_binary(const BinarySpec& spec, char* out, const char* a, const char* b,
                   std::int64_t count, std::int64_t a_step, std::int64_t b_step) {
  float left[kTile];
  float right[kTile];
  const std::int64_t result = spec.result == 4 ? 2 : spec.result;
  for (std::int64_t k = 0; k < count; k += kTile) {
    const std::int64_t some = std::min(kTile, count - k);
    widen(spec.narrow, left, a + 2 * k * a_step, a_step != 0 ? some : 1);
    widen(spec.narrow, right, b + 2 * k * b_step, b_step != 0 ? some : 1);
    if (spec.result != 4) {
      spec.run(out + k * result, left, right, some, a_step, b_step);
      continue;
    }
    float found[kTile];
    spec.run(found, left, right, some, a_step, b_step);
    narrow(spec.narrow, out + k * result, found, some);
  }
}

void narrow_unary(const UnarySpec& spec, char* out, const char* x, std::int64_t count) {
  float wide[kTile];
  const std::int64_t result = spec.result == 4 ? 2 : spec.result;
  for (std::int64_t k = 0; k < count; k += kTile) {
    const std::int64_t some = std::min(kTile, count - k);
    widen(spec.narrow, wide, x + 2 * k, some);
    if (spec.result != 4) {
      spec.run(out + k * result, wide, some);
      continue;
    }
    spec.run(wide, wide, some);
    narrow(spec.narrow, out + k * result, wide, some);
  }
}

bool equal(DimsView a, DimsView b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

std::int64_t block_cost(int cost) { return kBlock * cost / 10; }

// As `parallel` for elements: what is short costs no call.
template <class Body>
void over_elements(std::int64_t count, int cost, Body&& body) {
  if (count <= 4 * kBlock) return body(0, count);
  const std::int64_t blocks = (count + kBlock - 1) / kBlock;
  parallel(blocks, block_cost(cost), [&](std::int64_t first, std::int64_t last) {
    body(first * kBlock, std::min(last * kBlock, count));
  });
}

struct Sizes {
  explicit Sizes(const BinarySpec& spec)
      : in(spec.narrow == Narrow::no ? spec.bytes : 2),
        out(spec.narrow == Narrow::no || spec.result != 4 ? spec.result : 2) {}
  std::int64_t in;
  std::int64_t out;
};

// Both walk through one run.
void straight(const BinarySpec& spec, const Call& call, const Tensor& a, const Tensor& b,
              DimsView dims, bool a_stays, bool b_stays) {
  const Sizes bytes(spec);
  const int from = bytes.in != bytes.out ? -1 : a_stays ? 1 : 0;
  const Tensor out = call.output(0, dims, from);
  char* to = out.write<char>();
  const std::int64_t a_step = a_stays ? 0 : 1;
  const std::int64_t b_step = b_stays ? 0 : 1;
  over_elements(out.count(), spec.cost, [&](std::int64_t begin, std::int64_t end) {
    if (begin == end) return;
    run_binary(spec, to + begin * bytes.out, a.as<char>() + begin * bytes.in * a_step,
               b.as<char>() + begin * bytes.in * b_step, end - begin, a_step, b_step);
  });
}

// Rows that are too short for a loop each: of one input that is walked through, and another that is
// the same in all rows, or one element for a row.
struct ShortRows {
  bool first;   // the one that is walked through is the first input
  bool column;  // the other has one element for a row
  std::int64_t rows;
  std::int64_t width;
};

std::optional<ShortRows> short_rows(const Walk<2>& shape) {
  constexpr std::int64_t kLong = 64;
  const std::int64_t width = shape.width();
  if (shape.dims.size() != 2 || width > kLong || shape.dims[0] < 8) return std::nullopt;
  const auto walks = [&](std::size_t i) {
    return shape.stride[i][0] == width && shape.step(i) == 1;
  };
  if (!walks(0) && !walks(1)) return std::nullopt;
  const std::size_t other = walks(0) ? 1 : 0;
  return ShortRows{walks(0), shape.step(other) == 0, shape.dims[0], width};
}

template <class Bits>
void spread(void* to, const char* from, std::int64_t rows, std::int64_t width) {
  Bits* out = static_cast<Bits*>(to);
  for (std::int64_t r = 0; r < rows; ++r, from += sizeof(Bits)) {
    Bits each;
    std::memcpy(&each, from, sizeof(each));
    for (std::int64_t k = 0; k < width; ++k) *out++ = each;
  }
}

// Each element of a column as often as a row is wide.
void spread_column(void* to, const char* from, std::int64_t rows, std::int64_t width,
                   std::int64_t bytes) {
  switch (bytes) {
    case 1: return spread<std::uint8_t>(to, from, rows, width);
    case 2: return spread<std::uint16_t>(to, from, rows, width);
    case 4: return spread<std::uint32_t>(to, from, rows, width);
    case 8: return spread<std::uint64_t>(to, from, rows, width);
    default: return spread<std::array<std::uint64_t, 2>>(to, from, rows, width);
  }
}

// The other input is written out for as many rows as fit, so that one loop does them all.
void run_short_rows(const BinarySpec& spec, const ShortRows& shape, const Tensor& out,
                    const Tensor& a, const Tensor& b) {
  constexpr std::int64_t kRoom = 4096;
  const Sizes bytes(spec);
  const char* walked = (shape.first ? a : b).as<char>();
  const char* other = (shape.first ? b : a).as<char>();
  const std::int64_t width = shape.width;
  const std::int64_t fit = kRoom / (width * bytes.in);
  const std::int64_t cost = 1 + width * spec.cost / 10;
  parallel(shape.rows, cost, [&](std::int64_t first, std::int64_t last) {
    alignas(64) char room[kRoom];
    for (std::int64_t k = 0; !shape.column && k < fit; ++k) {
      std::memcpy(room + k * width * bytes.in, other, static_cast<std::size_t>(width * bytes.in));
    }
    for (std::int64_t row = first; row < last; row += fit) {
      const std::int64_t rows = std::min(fit, last - row);
      if (shape.column) spread_column(room, other + row * bytes.in, rows, width, bytes.in);
      const char* through = walked + row * width * bytes.in;
      run_binary(spec, out.write<char>() + row * width * bytes.out, shape.first ? through : room,
                 shape.first ? room : through, rows * width, 1, 1);
    }
  });
}

}  // namespace

void broadcast_binary(const BinarySpec& spec, const Call& call, const Tensor& a, const Tensor& b,
                      DimsView b_dims) {
  const Sizes bytes(spec);
  Walk<2> shape;
  walk<2>({a.dims(), b_dims}, shape);
  const bool reuses = bytes.in == bytes.out;
  const int from = !reuses                      ? -1
                   : equal(a.dims(), shape.out) ? 0
                   : equal(b.dims(), shape.out) ? 1
                                                : -1;
  const Tensor out = call.output(0, shape.out, from);
  if (out.count() == 0) return;
  const std::int64_t width = shape.width();
  if (const auto rows = short_rows(shape)) return run_short_rows(spec, *rows, out, a, b);
  const std::int64_t cost = std::min<std::int64_t>(3 + width * spec.cost / 10, 1 << 20);
  parallel(out.count() / width, cost, [&](std::int64_t first, std::int64_t last) {
    for_each_row(shape, first, last, [&](std::int64_t at, const std::array<std::int64_t, 2>& in) {
      run_binary(spec, out.write<char>() + at * bytes.out, a.as<char>() + in[0] * bytes.in,
                 b.as<char>() + in[1] * bytes.in, width, shape.step(0), shape.step(1));
    });
  });
}

namespace {

void fill_binary(const BinarySpec& spec, const Call& call) {
  const Tensor a = call.input(0);
  const Tensor b = call.input(1);
  if (spec.check != nullptr) spec.check(a.data(), b.data(), a.count(), b.count());
  if (equal(a.dims(), b.dims())) return straight(spec, call, a, b, a.dims(), false, false);
  if (spec.shapes == Shapes::equal ||
      (spec.shapes == Shapes::equal_count && a.count() != b.count())) {
    fail(TF_INVALID_ARGUMENT,
         "Inputs must have the same shape: " + text(a.dims()) + " vs. " + text(b.dims()));
  }
  if (spec.shapes == Shapes::equal_count) return straight(spec, call, a, b, a.dims(), false, false);
  if (b.count() == 1 && b.rank() <= a.rank())
    return straight(spec, call, a, b, a.dims(), false, true);
  if (a.count() == 1 && a.rank() <= b.rank())
    return straight(spec, call, a, b, b.dims(), true, false);
  if (spec.shapes == Shapes::lenient && !go_together(a.dims(), b.dims())) {
    *call.output(0, {}).write<bool>() = spec.unequal;
    return;
  }
  broadcast_binary(spec, call, a, b, b.dims());
}

// A failure does not pass through the host's code.
template <class Function>
void guarded(TF_OpKernelContext* context, Function&& function) noexcept {
  try {
    function(Call(context));
  } catch (const AlreadyFailed&) {  // NOLINT(bugprone-empty-catch): the host knows
  } catch (const std::exception& error) {
    report(context, &error);
  } catch (...) {
    report(context, nullptr);
  }
}

void keep(void*) {}  // specs are constants

}  // namespace

void run_binary(const BinarySpec& spec, char* out, const char* a, const char* b, std::int64_t count,
                std::int64_t a_step, std::int64_t b_step) {
  if (a_step == 0 && b_step == 0) a_step = b_step = 1;  // count is 1
  if (spec.narrow != Narrow::no) return narrow_binary(spec, out, a, b, count, a_step, b_step);
  spec.run(out, a, b, count, a_step, b_step);
}

void run_unary(const UnarySpec& spec, char* out, const char* x, std::int64_t count) {
  if (spec.narrow != Narrow::no) return narrow_unary(spec, out, x, count);
  spec.run(out, x, count);
}

namespace {

void fill_unary(const UnarySpec& spec, const Call& call) {
  const Tensor x = call.input(0);
  const std::int64_t in = spec.narrow == Narrow::no ? spec.bytes : 2;
  const std::int64_t result = spec.narrow == Narrow::no || spec.result != 4 ? spec.result : 2;
  const Tensor out = call.output(0, x.dims(), in == result ? 0 : -1);
  over_elements(x.count(), spec.cost, [&](std::int64_t begin, std::int64_t end) {
    run_unary(spec, out.write<char>() + begin * result, x.as<char>() + begin * in, end - begin);
  });
}

}  // namespace

void compute_binary(void* spec, TF_OpKernelContext* context) {
  guarded(context,
          [spec](const Call& call) { fill_binary(*static_cast<BinarySpec*>(spec), call); });
}

void compute_unary(void* spec, TF_OpKernelContext* context) {
  guarded(context, [spec](const Call& call) { fill_unary(*static_cast<UnarySpec*>(spec), call); });
}

namespace {

using Known = std::map<std::pair<std::string_view, TF_DataType>, Loops>;  // names are literals

Known& known() {
  static Known out;
  return out;
}

constexpr auto kAnyType = static_cast<TF_DataType>(0);  // of ops without a type

}  // namespace

Loops loops_of(std::string_view op, TF_DataType type) {
  for (const TF_DataType key : {type, kAnyType}) {
    const auto found = known().find({op, key});
    if (found != known().end()) return found->second;
  }
  return {};
}

void add_binary(const char* op, TF_DataType type, Create give) {
  add_binary(op, std::vector<TF_DataType>{type}, give);
}

void add_unary(const char* op, TF_DataType type, Create give) {
  add_unary(op, std::vector<TF_DataType>{type}, give);
}

void add_binary(const char* op, const std::vector<TF_DataType>& types, Create give) {
  for (const TF_DataType type : types) known()[{op, type}].binary = give;
  add_kernel(op, {{"T", types}}, give, compute_binary, keep);
}

void add_unary(const char* op, const std::vector<TF_DataType>& types, Create give) {
  for (const TF_DataType type : types) known()[{op, type}].unary = give;
  add_kernel(op, {{"T", types}}, give, compute_unary, keep);
}

TF_DataType type_of(TF_OpKernelConstruction* construction) noexcept {
  try {
    return Node(construction).type("T");
  } catch (const std::exception& error) {
    report(construction, &error);
    return kAnyType;
  }
}

void add_plain_binary(const char* op, Create give) {
  known()[{op, kAnyType}].binary = give;
  add_kernel(op, {}, give, compute_binary, keep);
}

void add_plain_unary(const char* op, Create give) {
  known()[{op, kAnyType}].unary = give;
  add_kernel(op, {}, give, compute_unary, keep);
}

const Family registered([] {
  add_arithmetic();
  add_division();
  add_comparison();
  add_bitwise();
  add_power();
  add_rounding();
  add_exponential();
  add_trigonometric();
  add_activation();
  add_gradients();
  add_select();
  add_cast();
  add_filling();
  add_sums();
  add_complex_numbers();
  add_fused_elementwise();
});

}  // namespace drystone::cpu
