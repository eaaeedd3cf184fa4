// What a fused node computes: element-wise ops in turn, each on inputs and earlier results.
#ifndef DRYSTONE_CPU_FAST_FUSED_PROGRAM_H_
#define DRYSTONE_CPU_FAST_FUSED_PROGRAM_H_

#include <array>
#include <cstdint>
#include <vector>

#include "fast/elementwise.h"
#include "fast/select.h"

namespace drystone::cpu {

// One op of the program. Sources are numbered: inputs of the node first, then buffers.
struct Step {
  const UnarySpec* unary = nullptr;
  const BinarySpec* binary = nullptr;
  SelectRun select = nullptr;
  std::array<int, 3> in{};
  int out = 0;  // a buffer's source, or kOutput
};

// A part of a tensor's last dim: `count` elements from `first` on. All of it where `count` is kAll.
struct Slice {
  static constexpr std::int64_t kAll = -1;
  std::int64_t first = 0;
  std::int64_t count = kAll;
  bool is_all() const { return count == kAll; }
};

// Results stay in buffers of one tile each; a buffer is taken again when nothing reads it any more.
class Program {
 public:
  static constexpr int kOutput = -1;
  static constexpr int kMostInputs = 256;
  static constexpr int kMostBuffers = 64;

  // Fails with INVALID_ARGUMENT for attributes that make no program of known ops.
  explicit Program(const Node& node);

  // Operands: the node's inputs, of which some may be joined along the last dim to be one.
  int inputs() const { return inputs_; }
  // How many of the node's inputs operand `k` is joined of.
  int parts(int k) const { return parts_.empty() ? 1 : parts_[static_cast<std::size_t>(k)]; }
  int parts() const { return all_parts_; }
  // What of the node's input `k` is read.
  Slice slice(int k) const { return slices_.empty() ? Slice() : slices_[static_cast<std::size_t>(k)]; }
  bool has_slices() const { return !slices_.empty(); }
  int buffers() const { return buffers_; }
  const std::vector<Step>& steps() const { return steps_; }
  // Bytes of an element of an input, of a buffer (as much as any of its results) or the output.
  std::int64_t input_bytes(int k) const { return is_bool_[static_cast<std::size_t>(k)] ? 1 : bytes_; }
  std::int64_t buffer_bytes() const { return bytes_; }
  std::int64_t output_bytes() const { return is_bool_.back() ? 1 : bytes_; }
  TF_DataType input_type(int k) const { return is_bool_[static_cast<std::size_t>(k)] ? TF_BOOL : type_; }
  TF_DataType output_type() const { return is_bool_.back() ? TF_BOOL : type_; }
  int cost() const { return cost_; }  // tenths of a nanosecond an element

 private:
  void parse(const Node& node);
  void parse_inputs(const Node& node);
  void parse_slices(const Node& node);
  void add(const Node& node, const std::string& op, const std::vector<std::int64_t>& operands,
           std::size_t& at);
  void place();
  int result_buffer(std::size_t step, const std::vector<std::size_t>& last,
                    const std::vector<int>& source, std::vector<int>& free) const;

  TF_DataType type_;
  std::int64_t bytes_;
  int inputs_ = 0;
  int all_parts_ = 0;
  std::vector<int> parts_;  // of each operand; empty where each is one input
  std::vector<Slice> slices_;  // of each input; empty where all are read whole
  int buffers_ = 0;
  int cost_ = 0;
  std::vector<Step> steps_;
  std::vector<bool> is_bool_;  // of each value: inputs, then results
};

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_FAST_FUSED_PROGRAM_H_
