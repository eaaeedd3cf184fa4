// Reading a program from a node's attributes: see fused_program.h.
#include "fast/fused_program.h"

#include <algorithm>
#include <string>

namespace drystone::cpu {
namespace {

std::int64_t bytes_of(TF_DataType type) {
  switch (type) {
    case TF_HALF:
    case TF_BFLOAT16: return 2;
    case TF_FLOAT:
    case TF_INT32: return 4;
    default: return 8;  // TF_DOUBLE and TF_INT64: the kernel is registered for no others
  }
}

constexpr int kSelectCost = 3;

// How many operands each op takes, and what makes its loop.
struct Operation {
  Loops loops;
  bool is_select;
  std::size_t operands;
};

Operation operation(const std::string& op, TF_DataType type) {
  if (op == "SelectV2") return {{}, true, 3};
  const Loops loops = loops_of(op, type);
  if (loops.binary == nullptr && loops.unary == nullptr) {
    fail(TF_INVALID_ARGUMENT, "ops must be element-wise ops that can be fused, found " + op);
  }
  return {loops, false, loops.binary != nullptr ? 2U : 1U};
}

}  // namespace

Program::Program(const Node& node) : type_(node.type("T")), bytes_(bytes_of(type_)) {
  parse(node);
  place();
}

void Program::parse_inputs(const Node& node) {
  const std::vector<TF_DataType> types = node.types("Targs");
  const auto count = static_cast<std::int64_t>(types.size());
  require(count > 0 && count <= kMostInputs, "there must be 1 to 256 inputs");
  std::vector<std::int64_t> joins;
  if (node.has("joins")) joins = node.integers("joins");
  if (joins.empty()) joins.assign(types.size(), 1);
  else parts_.assign(joins.begin(), joins.end());
  std::int64_t at = 0;
  for (const std::int64_t join : joins) {
    require(join > 0 && join <= count - at, "joins must be positive, and add up to the inputs");
    const TF_DataType type = types[static_cast<std::size_t>(at)];
    require(type == type_ || type == TF_BOOL, "inputs must be of the type T or bool");
    for (const std::int64_t end = at + join; at < end; ++at) {
      require(types[static_cast<std::size_t>(at)] == type, "joined inputs must be of one type");
    }
    is_bool_.push_back(type == TF_BOOL);
  }
  require(at == count, "joins must be positive, and add up to the inputs");
  all_parts_ = static_cast<int>(count);
  inputs_ = static_cast<int>(is_bool_.size());
  if (node.has("slices")) parse_slices(node);
}

void Program::parse_slices(const Node& node) {
  const std::vector<std::int64_t> given = node.integers("slices");
  if (given.empty()) return;
  require(given.size() == 2 * static_cast<std::size_t>(all_parts_),
          "slices must have two numbers for each input");
  for (std::size_t k = 0; k < given.size(); k += 2) {
    const Slice slice{given[k], given[k + 1]};
    require(slice.first >= 0 && slice.count >= Slice::kAll && (slice.first == 0 || !slice.is_all()),
            "slices must begin at 0 or later, and have -1 elements, for all from 0 on, or more");
    slices_.push_back(slice);
  }
}

void Program::parse(const Node& node) {
  parse_inputs(node);
  const std::vector<std::int64_t> operands = node.integers("operands");
  std::size_t at = 0;
  for (const std::string& op : node.strings("ops")) add(node, op, operands, at);
  require(!steps_.empty(), "there must be an op");
  require(at == operands.size(), "there must be as many operands as the ops take");
  for (std::int64_t k = 0; k < inputs_; ++k) {
    require(std::find(operands.begin(), operands.end(), k) != operands.end(),
            "every input must be read");
  }
  require(node.type("Tout") == output_type(), "Tout must be the type of the last op's result");
}

// Until place(), operands are numbers of values: inputs, then results.
void Program::add(const Node& node, const std::string& op, const std::vector<std::int64_t>& operands,
                  std::size_t& at) {
  const Operation found = operation(op, type_);
  require(at + found.operands <= operands.size(), "there must be as many operands as the ops take");
  Step step;
  for (std::size_t k = 0; k < found.operands; ++k) {
    const std::int64_t value = operands[at++];
    require(value >= 0 && value < static_cast<std::int64_t>(is_bool_.size()),
            "an operand must be an input or an earlier result");
    step.in[k] = static_cast<int>(value);
  }
  const auto is_bool = [&](std::size_t k) { return is_bool_[static_cast<std::size_t>(step.in[k])]; };
  if (found.is_select) {
    require(is_bool(0) && is_bool(1) == is_bool(2), "a select takes a bool and two of one type");
    step.select = select_run_of(is_bool(1) ? 1 : static_cast<std::size_t>(bytes_));
    is_bool_.push_back(is_bool(1));
    cost_ += kSelectCost;
    steps_.push_back(step);
    return;
  }
  // Ops without a type are those of logic: all others take elements of T.
  const bool of_logic = op.starts_with("Logical");
  for (std::size_t k = 0; k < found.operands; ++k) {
    require(is_bool(k) == of_logic, "operands must have the type that their op takes");
  }
  bool gives_bool = false;
  if (found.operands == 2) {
    step.binary = static_cast<const BinarySpec*>(found.loops.binary(node.construction()));
    require(step.binary != nullptr && step.binary->check == nullptr &&
                step.binary->shapes == Shapes::broadcast,
            "ops must be element-wise ops that can be fused");
    cost_ += step.binary->cost;
    gives_bool = step.binary->result == 1;
  } else {
    step.unary = static_cast<const UnarySpec*>(found.loops.unary(node.construction()));
    require(step.unary != nullptr, "ops must be element-wise ops that can be fused");
    cost_ += step.unary->cost;
    gives_bool = step.unary->result == 1;
  }
  is_bool_.push_back(gives_bool);
  steps_.push_back(step);
}

// Gives each result a buffer, and operands their sources.
void Program::place() {
  const auto inputs = static_cast<std::size_t>(inputs_);
  std::vector<std::size_t> last(is_bool_.size(), 0);  // the step that reads a value last
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    for (const int value : steps_[k].in) last[static_cast<std::size_t>(value)] = k;
  }
  std::vector<int> source(is_bool_.size());
  for (std::size_t v = 0; v < inputs; ++v) source[v] = static_cast<int>(v);
  std::vector<int> free;
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    Step& step = steps_[k];
    const std::size_t operands = step.select != nullptr ? 3 : step.binary != nullptr ? 2 : 1;
    const bool is_last = k + 1 == steps_.size();
    require(is_last || last[inputs + k] > k, "the result of every op but the last must be read");
    step.out = is_last ? kOutput : result_buffer(k, last, source, free);
    if (step.out == inputs_ + buffers_) ++buffers_;
    require(buffers_ <= kMostBuffers, "there must be no more than 64 results in use at once");
    source[inputs + k] = step.out;
    const std::array<int, 3> values = step.in;
    for (std::size_t i = 0; i < operands; ++i) {
      const auto value = static_cast<std::size_t>(values[i]);
      step.in[i] = source[value];
      const bool again = std::find(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(i),
                                   values[i]) != values.begin() + static_cast<std::ptrdiff_t>(i);
      if (value >= inputs && last[value] == k && source[value] != step.out && !again) {
        free.push_back(source[value]);
      }
    }
  }
}

// An operand's buffer where this step reads it last and elements have one size; else a free one, or
// the next.
int Program::result_buffer(std::size_t step, const std::vector<std::size_t>& last,
                           const std::vector<int>& source, std::vector<int>& free) const {
  const Step& one = steps_[step];
  const auto inputs = static_cast<std::size_t>(inputs_);
  const std::size_t first = one.select != nullptr ? 1 : 0;
  const std::size_t end = one.select != nullptr ? 3 : one.binary != nullptr ? 2 : 1;
  for (std::size_t i = first; i < end; ++i) {
    const auto value = static_cast<std::size_t>(one.in[i]);
    const bool ends = value >= inputs && last[value] == step;
    if (ends && is_bool_[value] == is_bool_[inputs + step]) return source[value];
  }
  if (free.empty()) return inputs_ + buffers_;
  const int out = free.back();
  free.pop_back();
  return out;
}

}  // namespace drystone::cpu
