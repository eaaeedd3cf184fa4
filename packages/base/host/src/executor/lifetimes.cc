// Where values of a block die: see executor/plan.h.
#include <algorithm>
#include <limits>

#include "executor/plan.h"

namespace drystone::host::executor {

void plan_lifetimes(Block& block) {
  constexpr std::int32_t kForever = std::numeric_limits<std::int32_t>::max();
  const auto values = static_cast<std::size_t>(block.values());
  std::vector<std::int32_t> last(values, -1);
  const auto count = static_cast<std::int32_t>(block.instructions.size());
  for (std::int32_t k = 0; k < count; ++k) {
    const Instruction& in = block.instructions[static_cast<std::size_t>(k)];
    for (std::int32_t& maker : in.outputs.of(last)) maker = k;
    for (const std::int32_t value : block.inputs_of(in)) last[static_cast<std::size_t>(value)] = k;
  }
  for (const std::int32_t value : block.fetches) last[static_cast<std::size_t>(value)] = kForever;
  for (std::size_t v = 0; v < values; ++v) {
    if (block.initial[v] != nullptr) last[v] = kForever;
  }
  block.feed_is_used.resize(static_cast<std::size_t>(block.feeds));
  for (std::size_t v = 0; v < block.feed_is_used.size(); ++v) {
    block.feed_is_used[v] = last[v] >= 0;
    if (static_cast<std::int32_t>(v) >= block.lent_from) last[v] = kForever;
  }
  std::vector<std::vector<std::int32_t>> ends(block.instructions.size());
  for (std::size_t v = static_cast<std::size_t>(block.feeds); v < values; ++v) {
    if (last[v] >= 0 && last[v] != kForever) ends[static_cast<std::size_t>(last[v])].push_back(static_cast<std::int32_t>(v));
  }
  for (std::size_t v = 0; v < static_cast<std::size_t>(block.feeds); ++v) {
    if (last[v] >= 0 && last[v] != kForever) ends[static_cast<std::size_t>(last[v])].push_back(static_cast<std::int32_t>(v));
  }
  block.given_up.assign(block.inputs.size(), 0);
  for (std::int32_t k = 0; k < count; ++k) {
    Instruction& in = block.instructions[static_cast<std::size_t>(k)];
    const auto& ended = ends[static_cast<std::size_t>(k)];
    in.dead_after = {static_cast<std::int32_t>(block.dead_after.size()), static_cast<std::int32_t>(ended.size())};
    block.dead_after.insert(block.dead_after.end(), ended.begin(), ended.end());
    const auto inputs = block.inputs_of(in);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const bool once = std::count(inputs.begin(), inputs.end(), inputs[i]) == 1;
      const bool given = once && last[static_cast<std::size_t>(inputs[i])] == k;
      block.given_up[static_cast<std::size_t>(in.inputs.start) + i] = given ? 1 : 0;
      in.gives_up = in.gives_up || given;
    }
  }
  std::vector<bool> fetched(values, false);
  block.fetch_moves.resize(block.fetches.size());
  for (std::size_t k = block.fetches.size(); k-- > 0;) {  // the last of several takes it
    const auto v = static_cast<std::size_t>(block.fetches[k]);
    const std::int32_t number = block.fetches[k];
    const bool is_borrowed = number >= block.lent_from && number < block.feeds;
    block.fetch_moves[k] = !fetched[v] && block.initial[v] == nullptr && !is_borrowed;
    fetched[v] = true;
  }
}

}  // namespace drystone::host::executor
