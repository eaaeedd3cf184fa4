// The values of a plan's first block, whose feeds stay the embedder's.
#ifndef DRYSTONE_HOST_EXECUTOR_ROOT_VALUES_H_
#define DRYSTONE_HOST_EXECUTOR_ROOT_VALUES_H_

#include <algorithm>

#include "executor/run.h"

namespace drystone::host::executor {

class RootValues {
 public:
  RootValues(Stack& stack, const Block& block, TF_Tensor* const* feeds)
      : values_(stack, static_cast<std::size_t>(block.values())), feeds_(block.feeds) {
    std::copy_n(feeds, feeds_, values_.data());
  }
  ~RootValues() { std::fill_n(values_.data(), feeds_, nullptr); }
  RootValues(const RootValues&) = delete;
  RootValues& operator=(const RootValues&) = delete;
  TF_Tensor** data() { return values_.data(); }

 private:
  Values values_;
  std::int32_t feeds_;
};

}  // namespace drystone::host::executor

#endif  // DRYSTONE_HOST_EXECUTOR_ROOT_VALUES_H_
