// Nodes that have not returned: see executor/stuck.h.
#include "executor/stuck.h"

#include <algorithm>

#include "core/failure.h"

namespace drystone::host::executor {

void Stuck::add(const void* who, const Instruction& in) {
  const std::lock_guard lock(mutex_);
  nodes_.push_back({who, in.node, in.op, std::chrono::steady_clock::now()});
  count_.store(static_cast<int>(nodes_.size()), std::memory_order_relaxed);
}

void Stuck::remove(const void* who) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(nodes_, [&](const Node& node) { return node.who == who; });
  count_.store(static_cast<int>(nodes_.size()), std::memory_order_relaxed);
}

void Stuck::refuse(const Program& program) {
  const std::lock_guard lock(mutex_);
  for (const Node& stuck : nodes_) {
    for (const Block& block : program.blocks) {
      const bool needs = std::ranges::any_of(block.instructions, [&](const Instruction& in) {
        return in.node == stuck.name && in.op == stuck.op;
      });
      if (!needs) continue;
      const auto since = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - stuck.since);
      const std::string found = "the kernel of " + Subject{.node = stuck.name, .op = stuck.op}.title() +
                                " has not returned to a run that was abandoned " + std::to_string(since.count()) + " s ago";
      fail(TF_UNAVAILABLE, "the session is stuck: " + found,
           {{DS_PAYLOAD_CODE, "session-stuck"}, {DS_PAYLOAD_FOUND, found},
            {DS_PAYLOAD_NODE, stuck.name}, {DS_PAYLOAD_OP, stuck.op}, {DS_PAYLOAD_AWAITED, "return"}});
    }
  }
}

}  // namespace drystone::host::executor
