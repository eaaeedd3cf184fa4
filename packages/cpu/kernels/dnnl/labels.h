// Einsum's equations: labels of dimensions, and views of tensors by label.
#ifndef DRYSTONE_CPU_DNNL_LABELS_H_
#define DRYSTONE_CPU_DNNL_LABELS_H_

#include <map>
#include <string>
#include <vector>

#include "core/kernel.h"

namespace drystone::cpu::dnnl_part {

// A letter, or kDots + the number of a dimension under "...", counted from the right.
using Label = int;
using Labels = std::vector<Label>;
inline constexpr Label kDots = 1000;

class Equation {
 public:
  // What is wrong with it is said by expand().
  Equation(std::string equation, std::size_t operands);

  // Labels of each operand, and then of the output. Fails with INVALID_ARGUMENT.
  std::vector<Labels> expand(const std::vector<Tensor>& operands) const;

 private:
  bool parse(std::size_t operands);

  std::string text_;
  std::vector<std::string> terms_;  // of the operands, then of the output
  bool is_sound_;
};

// The size that each label stands for. Fails with INVALID_ARGUMENT.
std::map<Label, std::int64_t> label_sizes(const std::vector<Labels>& terms,
                                          const std::vector<Tensor>& operands);

// How far a step along each label moves in a tensor. A label that is there twice walks the
// diagonal; one whose dimension is 1 where the label's size is not stays.
std::map<Label, std::int64_t> label_steps(const Labels& labels, DimsView dims,
                                          const std::map<Label, std::int64_t>& sizes);

// Copies elements from one order of labels to another: `to` is walked in order. Labels with a step
// of 0 in `to` are summed; they come last.
struct Walk {
  Dims dims;
  Dims from;
  Dims to;
  void add(std::int64_t dim, std::int64_t from_step, std::int64_t to_step);
  void run(const float* x, float* y) const;

 private:
  void row(const float* x, float* y) const;
};

}  // namespace drystone::cpu::dnnl_part

#endif  // DRYSTONE_CPU_DNNL_LABELS_H_
