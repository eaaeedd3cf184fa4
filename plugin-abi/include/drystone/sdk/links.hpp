// Fan-outs that change: for every node a list of its readers, in constant time per change.
//
// Since ABI 1.0. Internal to GraphEdit. An edge keeps its number for life; removing it unhooks it.
#ifndef DRYSTONE_SDK_LINKS_HPP_
#define DRYSTONE_SDK_LINKS_HPP_

#include <cstdint>
#include <vector>

#include "drystone/sdk/node.hpp"

namespace drystone::sdk {

class Links {
 public:
  void add_node() { heads_.emplace_back(); }
  std::size_t nodes() const { return heads_.size(); }

  // Hook a new edge to the end of `producer`'s list; its number.
  std::int32_t attach(std::int32_t producer, Edge edge) {
    Head& head = heads_[static_cast<std::size_t>(producer)];
    const auto number = static_cast<std::int32_t>(links_.size());
    links_.push_back({edge, head.last, -1});
    (head.last < 0 ? head.first : links_[static_cast<std::size_t>(head.last)].next) = number;
    head.last = number;
    ++head.count;
    return number;
  }

  void detach(std::int32_t producer, std::int32_t number) {
    Head& head = heads_[static_cast<std::size_t>(producer)];
    const Link link = links_[static_cast<std::size_t>(number)];
    (link.previous < 0 ? head.first : at(link.previous).next) = link.next;
    (link.next < 0 ? head.last : at(link.next).previous) = link.previous;
    --head.count;
  }

  std::size_t count(std::int32_t producer) const {
    return heads_[static_cast<std::size_t>(producer)].count;
  }

  std::vector<Edge> edges(std::int32_t producer) const {
    const Head& head = heads_[static_cast<std::size_t>(producer)];
    std::vector<Edge> out;
    out.reserve(head.count);
    for (std::int32_t number = head.first; number >= 0;) {
      const Link& link = links_[static_cast<std::size_t>(number)];
      out.push_back(link.edge);
      number = link.next;
    }
    return out;
  }

 private:
  struct Link {
    Edge edge;
    std::int32_t previous = -1;
    std::int32_t next = -1;
  };
  struct Head {
    std::int32_t first = -1;
    std::int32_t last = -1;
    std::uint32_t count = 0;
  };

  Link& at(std::int32_t number) { return links_[static_cast<std::size_t>(number)]; }

  std::vector<Head> heads_;
  std::vector<Link> links_;
};

}  // namespace drystone::sdk

#endif  // DRYSTONE_SDK_LINKS_HPP_
