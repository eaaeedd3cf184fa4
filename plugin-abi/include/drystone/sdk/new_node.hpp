// A node to be: what GraphEdit::add and GraphEdit::replace take.
//
// Since ABI 1.0. Owns its strings. Chain the calls:
//
//   graph.add(NewNode("sum", "AddV2").on(device).reads({a, 0}).reads({b, 0}).attr("T", type))
#ifndef DRYSTONE_SDK_NEW_NODE_HPP_
#define DRYSTONE_SDK_NEW_NODE_HPP_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drystone/sdk/node.hpp"

namespace drystone::sdk {

class NewNode {
 public:
  // GraphEdit::replace keeps the old node's name, whatever is given here.
  NewNode(std::string_view name, std::string_view op) : name_(name), op_(op) {}

  // On which device; "" leaves the choice to the host.
  NewNode& on(std::string_view device) {
    device_ = device;
    return *this;
  }
  // The next fan-in. Data first, then control.
  NewNode& reads(TensorId source) {
    inputs_.push_back(source);
    return *this;
  }
  NewNode& reads(Span<const TensorId> sources) {
    inputs_.insert(inputs_.end(), sources.begin(), sources.end());
    return *this;
  }
  NewNode& after(int node) { return reads(TensorId{node, kControl}); }
  // `value`: the bytes of an AttrValue, from namespace attr or AttrView::bytes().
  NewNode& attr(std::string_view name, std::string_view value) {
    attrs_.emplace_back(name, value);
    return *this;
  }
  // The same attribute as `other` has; nothing when `other` is not present().
  NewNode& attr(std::string_view name, const AttrView& other) {
    return other.present() ? attr(name, other.bytes()) : *this;
  }

  const std::string& name() const { return name_; }
  const std::string& op() const { return op_; }
  const std::string& device() const { return device_; }
  const std::vector<TensorId>& inputs() const { return inputs_; }
  const std::vector<std::pair<std::string, std::string>>& attrs() const { return attrs_; }

 private:
  std::string name_;
  std::string op_;
  std::string device_;
  std::vector<TensorId> inputs_;
  std::vector<std::pair<std::string, std::string>> attrs_;
};

}  // namespace drystone::sdk

#endif  // DRYSTONE_SDK_NEW_NODE_HPP_
