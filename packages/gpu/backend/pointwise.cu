#include "pointwise.h"

#include <cmath>

namespace drystone::gpu {
namespace {

constexpr int kSlots = kOperands + kInstructions;

DS_BOTH float sigmoid_of(float x) { return 1.0f / (1.0f + expf(-x)); }
// A NaN among the two is the result.
DS_BOTH float larger(float a, float b) { return a > b || a != a ? a : b; }
DS_BOTH float smaller(float a, float b) { return a < b || a != a ? a : b; }
DS_BOTH float softplus_of(float x) {
  return x > 15.0f ? x : x < -15.0f ? expf(x) : log1pf(expf(x));
}
DS_BOTH float floor_mod_of(float a, float b) {
  const float rest = fmodf(a, b);
  return rest != 0.0f && (rest < 0.0f) != (b < 0.0f) ? rest + b : rest;
}

// Without the bits that a shorter type has no room for.
DS_BOTH float cut(float a, std::uint32_t bits) {
  return a != a ? a : float_of_bits(bits_of_float(a) & ~bits);
}

// a / 2 * (1 + erf(a / sqrt 2)) by Abramowitz and Stegun's 7.1.26, which is off by less than 2e-7: a
// few instructions, where erff takes dozens.
DS_BOTH float gelu_of(float a) {
  const float x = fabsf(a) * 0.70710678118654752f;
#if defined(__CUDA_ARCH__)
  const float t = __fdividef(1.0f, 1.0f + 0.3275911f * x), power = __expf(-x * x);
#else
  const float t = 1.0f / (1.0f + 0.3275911f * x), power = expf(-x * x);
#endif
  float sum = 1.061405429f;
  sum = sum * t - 1.453152027f;
  sum = sum * t + 1.421413741f;
  sum = sum * t - 0.284496736f;
  sum = sum * t + 0.254829592f;
  const float rest = 0.5f * sum * t * power;  // half of 1 - erf(x)
  return a * (a < 0.0f ? rest : 1.0f - rest);
}

DS_BOTH float apply(const Instruction& step, float a, float b, float c) {
  switch (step.code) {
    case Code::constant: return step.number;
    case Code::add: return a + b;
    case Code::sub: return a - b;
    case Code::mul: return a * b;
    case Code::div: return a / b;
    case Code::div_no_nan: return b == 0.0f ? 0.0f : a / b;
    case Code::maximum: return larger(a, b);
    case Code::minimum: return smaller(a, b);
    case Code::pow: return powf(a, b);
    case Code::squared_difference: return (a - b) * (a - b);
    case Code::floor_div: return floorf(a / b);
    case Code::floor_mod: return floor_mod_of(a, b);
    case Code::equal: return a == b;
    case Code::not_equal: return a != b;
    case Code::less: return a < b;
    case Code::less_equal: return a <= b;
    case Code::greater: return a > b;
    case Code::greater_equal: return a >= b;
    case Code::logical_and: return a != 0.0f && b != 0.0f;
    case Code::logical_or: return a != 0.0f || b != 0.0f;
    case Code::neg: return -a;
    case Code::abs: return fabsf(a);
    case Code::sign: return a > 0.0f ? 1.0f : a < 0.0f ? -1.0f : a;
    case Code::square: return a * a;
    case Code::sqrt: return sqrtf(a);
    case Code::rsqrt: return 1.0f / sqrtf(a);
    case Code::reciprocal: return 1.0f / a;
    case Code::exp: return expf(a);
    case Code::expm1: return expm1f(a);
    case Code::log: return logf(a);
    case Code::log1p: return log1pf(a);
    case Code::sin: return sinf(a);
    case Code::cos: return cosf(a);
    case Code::tanh: return tanhf(a);
    case Code::sigmoid: return sigmoid_of(a);
    case Code::erf: return erff(a);
    case Code::relu: return larger(a, 0.0f);
    case Code::relu6: return smaller(larger(a, 0.0f), 6.0f);
    case Code::leaky_relu: return a > 0.0f || a != a ? a : a * step.number;
    case Code::elu: return a < 0.0f ? expm1f(a) : a;
    case Code::selu: return 1.0507009873554805f * (a < 0.0f ? 1.6732632423543772f * expm1f(a) : a);
    case Code::softplus: return softplus_of(a);
    case Code::softsign: return a / (1.0f + fabsf(a));
    case Code::floor: return floorf(a);
    case Code::ceil: return ceilf(a);
    case Code::rint: return rintf(a);
    case Code::logical_not: return a == 0.0f;
    case Code::is_nan: return a != a;
    case Code::is_finite: return fabsf(a) <= 3.402823466e+38f;
    case Code::gelu_erf: return 0.5f * a * (1.0f + erff(a * 0.70710678118654752f));
    case Code::gelu_rounded: return gelu_of(a);
    case Code::select: return a != 0.0f ? b : c;
    case Code::to_whole: return truncf(a);
    case Code::to_bool: return a != 0.0f;
    case Code::round_bf16: return from_bf16(to_bf16(a));
    case Code::round_f16: return from_f16(to_f16(a));
    case Code::cut_bf16: return cut(a, 0xFFFFu);
    case Code::cut_f16: return from_f16(to_f16(cut(a, 0x1FFFu)));
    default: return a;
  }
}

DS_BOTH std::int64_t apply(const Instruction& step, std::int64_t a, std::int64_t b,
                           std::int64_t c) {
  switch (step.code) {
    case Code::constant: return static_cast<std::int64_t>(step.number);
    case Code::add: return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + b);
    case Code::sub: return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - b);
    case Code::mul: return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * b);
    case Code::maximum: return a > b ? a : b;
    case Code::minimum: return a < b ? a : b;
    case Code::squared_difference:
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(a - b) * (a - b));
    case Code::equal: return a == b;
    case Code::not_equal: return a != b;
    case Code::less: return a < b;
    case Code::less_equal: return a <= b;
    case Code::greater: return a > b;
    case Code::greater_equal: return a >= b;
    case Code::logical_and: return a != 0 && b != 0;
    case Code::logical_or: return a != 0 || b != 0;
    case Code::neg: return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
    case Code::abs: return a < 0 ? static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a)) : a;
    case Code::sign: return (a > 0) - (a < 0);
    case Code::square: return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * a);
    case Code::relu: return a > 0 ? a : 0;
    case Code::relu6: return a < 0 ? 0 : a > 6 ? 6 : a;
    case Code::logical_not: return a == 0;
    case Code::select: return a != 0 ? b : c;
    case Code::to_bool: return a != 0;
    case Code::wrap32: return static_cast<std::int32_t>(a);
    case Code::wrap8: return static_cast<std::uint8_t>(a);
    default: return a;
  }
}

DS_BOTH std::uint32_t place(const Program& program, const Operand& operand, std::uint32_t i) {
  switch (operand.walk) {
    case Walk::along: return i;
    case Walk::still: return 0;
    case Walk::line: return operand.period.rest(i);
    case Walk::blocks: return operand.period.rest(operand.inner.quotient(i));
    default: break;
  }
  std::uint32_t at = 0;
  for (int k = program.rank - 1; k >= 0; --k) {
    std::uint32_t rest = i;
    i = program.dims[k].split(&rest);
    at += rest * operand.strides[k];
  }
  return at;
}

// What an operand has for Width elements in a row.
template <class Lane, int Width>
DS_BOTH void fill(const Program& program, const Operand& operand, std::uint32_t first, Lane* to) {
  const bool whole = first + Width <= program.count;
  // Of strides: whether these elements are of one last dimension, and what it goes along.
  const bool one_line =
      operand.walk == Walk::strided && whole && program.dims[program.rank - 1].by() % Width == 0;
  const bool stays = one_line && operand.strides[program.rank - 1] == 0;
  if (operand.walk == Walk::still || stays ||
      (operand.walk == Walk::blocks && operand.inner.by() % Width == 0)) {
    const Lane value = load<Lane>(operand.data, operand.type, place(program, operand, first));
    for (int j = 0; j < Width; ++j) to[j] = value;
  } else if (whole && (operand.walk == Walk::along || one_line)) {
    load_row<Lane, Width>(operand.data, operand.type, place(program, operand, first), to);
  } else if (operand.walk == Walk::line && operand.period.by() % Width == 0) {
    load_row<Lane, Width>(operand.data, operand.type, operand.period.rest(first), to);
  } else {
    for (int j = 0; j < Width; ++j) {
      const std::uint32_t i = first + j < program.count ? first + j : program.count - 1;
      to[j] = load<Lane>(operand.data, operand.type, place(program, operand, i));
    }
  }
}

template <class Lane, int Width>
DS_BOTH void write(const Program& program, std::uint32_t first, const Lane* from) {
  if (first + Width <= program.count) {
    store_row<Lane, Width>(program.out, program.out_type, first, from);
    return;
  }
  for (int j = 0; j < Width && first + j < program.count; ++j) {
    store(program.out, program.out_type, first + j, from[j]);
  }
}

// Width elements in a row by one thread: each instruction is decoded once for all of them.
template <class Lane, int Width>
struct Run {
  Program program;

  DS_BOTH void operator()(std::uint32_t block) const {
    Lane slots[kSlots][Width];
    const std::uint32_t first = block * Width;
    for (int k = 0; k < program.operand_count; ++k)
      fill<Lane, Width>(program, program.operands[k], first, slots[k]);
    for (int k = 0; k < program.instruction_count; ++k) {
      const Instruction& step = program.instructions[k];
      Lane* to = slots[program.operand_count + k];
      for (int j = 0; j < Width; ++j) {
        to[j] = apply(step, slots[step.a][j], slots[step.b][j], slots[step.c][j]);
      }
    }
    write<Lane, Width>(program, first,
                       slots[program.operand_count + program.instruction_count - 1]);
  }
};

// One instruction that is known when the kernel is compiled: all stays in registers.
template <Code code, int Count, int Width>
struct RunOne {
  Program program;

  DS_BOTH void operator()(std::uint32_t block) const {
    const std::uint32_t first = block * Width;
    float a[Width], b[Width] = {};
    fill<float, Width>(program, program.operands[0], first, a);
    if constexpr (Count > 1) fill<float, Width>(program, program.operands[1], first, b);
    const Instruction step{code, 0, 1, 0, program.instructions[0].number};
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int j = 0; j < Width; ++j) a[j] = apply(step, a[j], b[j], 0.0f);
    write<float, Width>(program, first, a);
  }
};

DS_BOTH bool is_half(Type type) { return type == Type::bf16 || type == Type::f16; }

// The same of one operand that goes along, where both are floating-point numbers; Width 8 where both
// have 16 bits and all is whole rows. What cannot be is no part of the kernel.
template <Code code, int Width>
struct RunAlong {
  const void* from;
  void* to;
  Type type, out_type;
  std::uint32_t count;

  DS_BOTH static void expect(Type given) {
    if (!is_half(given) && (Width == 8 || given != Type::f32)) __builtin_unreachable();
  }

  DS_BOTH static float applied(float a) { return apply(Instruction{code, 0, 0, 0, 0.0f}, a, a, a); }

  DS_BOTH void operator()(std::uint32_t block) const {
    expect(type);
    expect(out_type);
    const std::uint32_t first = block * Width;
    if constexpr (Width < 8) {
      if (first + Width > count) return last(first);
    }
    float values[Width];
    load_row<float, Width>(from, type, first, values);
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int j = 0; j < Width; ++j) values[j] = applied(values[j]);
    store_row<float, Width>(to, out_type, first, values);
  }

  DS_BOTH void last(std::uint32_t first) const {
    for (std::uint32_t i = first; i < count; ++i) {
      store(to, out_type, i, applied(load<float>(from, type, i)));
    }
  }
};

// The processor takes rows wherever there are some, so that tests have them.
bool is_short(const Stream& stream, const Program& program) {
  return program.count < (stream.is_host() ? 4 : 65536);
}

std::int64_t rows_of(const Program& program, int width) {
  return (std::int64_t{program.count} + width - 1) / width;
}

template <Code code, int Width>
bool run_along(const Stream& stream, const Program& program) {
  const Operand& operand = program.operands[0];
  each(stream, rows_of(program, Width),
       RunAlong<code, Width>{operand.data, program.out, operand.type, program.out_type,
                             program.count});
  return true;
}

template <Code code>
bool run_along(const Stream& stream, const Program& program) {
  const Operand& operand = program.operands[0];
  if (operand.walk != Walk::along || !is_float(operand.type) || !is_float(program.out_type)) {
    return false;
  }
  if (is_short(stream, program)) return run_along<code, 1>(stream, program);
  const bool halves = is_half(operand.type) && is_half(program.out_type);
  if (halves && program.count % 8 == 0) return run_along<code, 8>(stream, program);
  return run_along<code, 4>(stream, program);
}

template <Code code, int Count>
bool run_one(const Stream& stream, const Program& program) {
  if (is_short(stream, program)) {
    each(stream, program.count, RunOne<code, Count, 1>{program});
  } else {
    each(stream, rows_of(program, 4), RunOne<code, Count, 4>{program});
  }
  return true;
}

// The instructions that follow layers most often have kernels of their own.
bool run_frequent(const Stream& stream, const Program& program) {
  const Instruction& step = program.instructions[0];
  if (program.instruction_count != 1 || program.whole || step.a != 0) return false;
  if (program.operand_count == 2 && step.b == 1) {
    switch (step.code) {
      case Code::add: return run_one<Code::add, 2>(stream, program);
      case Code::mul: return run_one<Code::mul, 2>(stream, program);
      default: return false;
    }
  }
  if (program.operand_count != 1) return false;
  switch (step.code) {
    case Code::same:
      return run_along<Code::same>(stream, program) || run_one<Code::same, 1>(stream, program);
    case Code::round_bf16: return run_along<Code::round_bf16>(stream, program);
    case Code::round_f16: return run_along<Code::round_f16>(stream, program);
    case Code::relu: return run_along<Code::relu>(stream, program);
    case Code::relu6: return run_along<Code::relu6>(stream, program);
    case Code::gelu_erf:
      if (program.out_type != Type::f32) return run_along<Code::gelu_rounded>(stream, program);
      return run_along<Code::gelu_erf>(stream, program);
    case Code::sigmoid: return run_along<Code::sigmoid>(stream, program);
    case Code::tanh: return run_along<Code::tanh>(stream, program);
    default: return false;
  }
}

template <class Lane>
void run_lanes(const Stream& stream, const Program& program) {
  if (is_short(stream, program)) {
    each(stream, program.count, Run<Lane, 1>{program});
  } else {
    each(stream, rows_of(program, 4), Run<Lane, 4>{program});
  }
}

}  // namespace

void run_program(const Stream& stream, const Program& program) {
  if (program.count == 0 || run_frequent(stream, program)) return;
  if (program.whole) {
    run_lanes<std::int64_t>(stream, program);
  } else {
    run_lanes<float>(stream, program);
  }
}

}  // namespace drystone::gpu
