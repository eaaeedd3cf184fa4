// Where values lie that are computed in each run: one block, places used again and again.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "program.h"

namespace drystone::gpu {

class Arena {
 public:
  // `elsewhere`: values whose memory is the caller's.
  Arena(const Graph& graph, const std::vector<int>& results, const std::set<int>& elsewhere = {});

  std::size_t size() const { return size_; }
  const std::map<int, std::size_t>& offsets() const { return offsets_; }

 private:
  struct Held {
    std::size_t offset, bytes, until;  // the operation that reads it last
  };
  std::size_t room(std::size_t bytes) const;

  std::vector<Held> held_;  // by offset
  std::map<int, std::size_t> offsets_;
  std::size_t size_ = 0;
};

}  // namespace drystone::gpu
