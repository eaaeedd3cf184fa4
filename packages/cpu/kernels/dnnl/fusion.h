// What a fused node does after its product: bias, sum, factor, batch normalization, activations.
#ifndef DRYSTONE_CPU_DNNL_FUSION_H_
#define DRYSTONE_CPU_DNNL_FUSION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "dnnl/planes.h"
#include "dnnl/primitive.h"

namespace drystone::cpu::dnnl_part {

// A product's result: [outer, channels, inner] in memory.
struct Placed {
  std::int64_t outer;
  std::int64_t channels;
  std::int64_t inner;
};

class Fusion {
 public:
  // Whether a bias that comes first is an argument of the primitive's own, or a step like others.
  enum class Bias { own, step };

  // Of a node with `fused_ops`, or of one without.
  explicit Fusion(const Node& node, Bias bias = Bias::step);

  // The fusion's inputs from input `first` on, held against the result's dims. Fails with
  // INVALID_ARGUMENT.
  std::vector<Tensor> inputs(const Call& call, int first, DimsView result,
                             const Placed& placed) const;

  // The node's input that is added to the product first, counted like `first`; -1: none is. The
  // result may take over its memory: then oneDNN adds `in_place`, to what is there.
  int first_added(int first) const;
  // The first `done` of the steps that oneDNN does itself: into `attributes`, and into `operands`.
  // `channel` are the dims of the result with all but the channels 1; `whole` is the result.
  void attach(dnnl::primitive_attr& attributes, std::vector<std::pair<int, Desc>>& operands,
              const Shape& channel, const Desc& whole, std::size_t done,
              bool in_place = false) const;
  // Where those operands are, for the result's elements from `first` on.
  std::vector<Operand> operands(const Call& call, const std::vector<Tensor>& inputs,
                                std::size_t done, bool in_place = false,
                                std::int64_t first = 0) const;
  // The first steps that are a bias and Relu or Relu6, and how many they are: for what makes them itself.
  std::size_t clamp(const std::vector<Tensor>& inputs, Clamp* out) const;
  // Steps among those that lose NaN: see dnnl/nan_watch.h.
  const std::vector<std::size_t>& hiding() const { return hiding_; }

  // The steps that come after those that are done.
  void finish(const Call& call, const std::vector<Tensor>& inputs, const Tensor& y,
              const Placed& placed, std::size_t done) const;

  // How many steps oneDNN does, from the first on.
  std::size_t attached() const { return attached_; }
  bool attaches_all() const { return attached_ == steps_.size(); }
  std::size_t size() const { return steps_.size(); }
  bool empty() const { return steps_.empty(); }
  // Whether finish() takes about as long as a primitive's call for so many channels: there is but a
  // bias, first, and activations that are few comparisons or of few elements.
  bool is_light(std::int64_t channels) const { return channels <= most_light_; }
  bool starts_with_bias() const { return !steps_.empty() && steps_[0].kind == Kind::bias; }
  // Whether that is an argument of the primitive's own.
  bool has_own_bias() const { return has_own_bias_; }

 private:
  enum class Kind { bias, add, multiply, slopes, norm, activation };
  struct Step {
    Kind kind;
    std::string name;
    std::size_t first;  // of its inputs
  };
  static Kind kind_of(const std::string& name);
  static std::size_t inputs_of(Kind kind);
  bool attaches(Kind kind, const std::string& name) const;
  void append(dnnl::post_ops& post, const std::string& activation) const;
  std::int64_t most_light_channels() const;
  void norm(const Call& call, const std::vector<Tensor>& inputs, const Step& step, float* factor,
            float* shift) const;
  void apply(const Call& call, const Step& step, const std::vector<Tensor>& inputs, float* y,
             const Placed& placed) const;

  std::vector<Step> steps_;
  bool is_coarse_ = false;  // elements have 16 bits: rounding them hides how exact a function is
  bool has_own_bias_ = false;
  bool ends_in_swish_ = false;  // the one step that is left to us, see dnnl/swish.h
  std::size_t attached_ = 0;
  std::vector<std::size_t> hiding_;
  std::size_t needed_ = 0;    // inputs
  std::int64_t most_light_ = INT64_MAX;  // channels, see is_light()
  float epsilon_ = 0;
  float alpha_ = 0;
  float factor_ = 1;
};

// Bytes of a tensor of floats.
std::int64_t bytes_of(const Tensor& y);
// Makes all elements zero.
void clear(const Tensor& y);

}  // namespace drystone::cpu::dnnl_part

#endif  // DRYSTONE_CPU_DNNL_FUSION_H_
