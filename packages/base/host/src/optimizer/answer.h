// What the embedder's inference says about one graph.
#ifndef DRYSTONE_HOST_OPTIMIZER_ANSWER_H_
#define DRYSTONE_HOST_OPTIMIZER_ANSWER_H_

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace drystone::host {

struct ItemState;

// Serialised OpInfo.TensorProperties by node. Views are of `bytes`, which never changes.
struct Answer {
  struct Node {
    std::vector<std::string_view> inputs;
    std::vector<std::string_view> outputs;
  };
  std::string bytes;
  std::unordered_map<std::string_view, Node> nodes;
};

// Ask the embedder about an item's graph. Fails (UNAVAILABLE) without one, and (INTERNAL) where its
// answer is malformed.
std::shared_ptr<const Answer> infer(const ItemState& item, int flags);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_OPTIMIZER_ANSWER_H_
