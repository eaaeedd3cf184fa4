// Element-wise programs: a few operands, a list of instructions, one result an element.
#pragma once

#include <cstdint>

#include "divider.h"
#include "launch.h"

namespace drystone::gpu {

enum class Code : std::uint8_t {
  constant,  // the instruction's own number
  same,
  add,
  sub,
  mul,
  div,
  div_no_nan,
  maximum,
  minimum,
  pow,
  squared_difference,
  floor_div,
  floor_mod,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  logical_and,
  logical_or,
  neg,
  abs,
  sign,
  square,
  sqrt,
  rsqrt,
  reciprocal,
  exp,
  expm1,
  log,
  log1p,
  sin,
  cos,
  tanh,
  sigmoid,
  erf,
  relu,
  relu6,
  leaky_relu,
  elu,
  selu,
  softplus,
  softsign,
  floor,
  ceil,
  rint,
  logical_not,
  is_nan,
  is_finite,
  gelu_erf,
  gelu_rounded,  // for a result of 16 bits
  select,    // a != 0 ? b : c
  to_whole,  // a float towards zero
  to_bool,   // whether it is not zero
  round_bf16,
  round_f16,
  cut_bf16,  // towards zero
  cut_f16,
  wrap32,
  wrap8
};

// Slots: operands first, then results of the instructions in their order.
struct Instruction {
  Code code;
  std::uint8_t a, b, c;
  float number;  // of constant, and alpha of leaky_relu
};

constexpr int kOperands = 8, kInstructions = 24, kRank = 6;

// Which of an operand's elements element i of the result reads: i, the only one, i % period,
// i / inner % period, or what strides say.
enum class Walk : std::uint8_t { along, still, line, blocks, strided };

struct Operand {
  const void* data;
  Type type;
  Walk walk;
  Divider inner, period;
  std::uint32_t strides[kRank];
};

struct Program {
  Operand operands[kOperands];
  Instruction instructions[kInstructions];
  void* out;
  std::uint32_t count;
  Divider dims[kRank];
  int operand_count, instruction_count, rank;
  Type out_type;
  bool whole;  // lanes are int64
};

void run_program(const Stream& stream, const Program& program);

}  // namespace drystone::gpu
