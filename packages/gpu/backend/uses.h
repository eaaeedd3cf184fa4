// Who writes each memory of a graph, and how many operations and results read it.
#pragma once

#include <algorithm>
#include <vector>

#include "program.h"

namespace drystone::gpu {

class Uses {
 public:
  Uses(const Graph& graph, const std::vector<int>& results)
      : graph_(graph), writer_(graph.values.size(), -1), count_(graph.values.size(), 0) {
    for (std::size_t k = 0; k < graph.operations.size(); ++k) {
      const Operation& op = graph.operations[k];
      if (op.out < 0) continue;
      writer_[at(op.out)] = static_cast<int>(k);
      std::vector<int> read;
      for (int v : op.in) read.push_back(graph.root(v));
      std::sort(read.begin(), read.end());
      read.erase(std::unique(read.begin(), read.end()), read.end());
      for (int v : read) ++count_[at(v)];
    }
    for (int v : results) count_[at(graph.root(v))] += 2;  // never within one operation alone
  }

  // The operation that computes just this value for one reader, or -1.
  int only(int value) const {
    if (graph_.at(value).root >= 0 || count_[at(value)] != 1) return -1;
    return writer_[at(value)];
  }
  // The operation that computes a value's memory, or -1.
  int writer(int value) const { return writer_[at(graph_.root(value))]; }
  int count(int value) const { return count_[at(graph_.root(value))]; }

 private:
  static std::size_t at(int value) { return static_cast<std::size_t>(value); }
  const Graph& graph_;
  std::vector<int> writer_, count_;
};

}  // namespace drystone::gpu
