#include "arena.h"

#include <algorithm>

namespace drystone::gpu {

Arena::Arena(const Graph& graph, const std::vector<int>& results, const std::set<int>& elsewhere) {
  std::vector<std::size_t> last(graph.values.size(), 0);
  const std::size_t count = graph.operations.size();
  for (std::size_t k = 0; k < count; ++k) {
    for (int v : graph.operations[k].in) last[static_cast<std::size_t>(graph.root(v))] = k;
  }
  for (int v : results) last[static_cast<std::size_t>(graph.root(v))] = count;
  for (std::size_t k = 0; k < count; ++k) {
    const int out = graph.operations[k].out;
    const Value& value = graph.at(out);
    if (value.invariant || elsewhere.count(out) != 0) continue;
    std::erase_if(held_, [k](const Held& one) { return one.until < k; });
    constexpr std::size_t kAlignment = 256;
    const std::size_t exact = static_cast<std::size_t>(count_of(value.dims)) * size_of(value.type);
    const std::size_t bytes =
        std::max((exact + kAlignment - 1) / kAlignment * kAlignment, kAlignment);
    const std::size_t offset = room(bytes);
    const Held made{offset, bytes, std::max(last[static_cast<std::size_t>(out)], k)};
    held_.insert(std::upper_bound(held_.begin(), held_.end(), made,
                                  [](const Held& a, const Held& b) { return a.offset < b.offset; }),
                 made);
    offsets_[out] = offset;
    size_ = std::max(size_, offset + bytes);
  }
}

// The first gap that is large enough.
std::size_t Arena::room(std::size_t bytes) const {
  std::size_t from = 0;
  for (const Held& one : held_) {
    if (one.offset - from >= bytes) return from;
    from = one.offset + one.bytes;
  }
  return from;
}

}  // namespace drystone::gpu
