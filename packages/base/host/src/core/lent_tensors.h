// Tensors that a plugin has for a call, and must not delete.
#ifndef DRYSTONE_HOST_CORE_LENT_TENSORS_H_
#define DRYSTONE_HOST_CORE_LENT_TENSORS_H_

#include <algorithm>
#include <cstddef>

#include "drystone/tensor.h"

namespace drystone::host {

class LentTensors {
 public:
  LentTensors(TF_Tensor* const* tensors, std::size_t count) noexcept
      : tensors_(tensors), count_(count), outer_(innermost) {
    innermost = this;
  }
  ~LentTensors() { innermost = outer_; }
  LentTensors(const LentTensors&) = delete;
  LentTensors& operator=(const LentTensors&) = delete;

  // Whether it is one of those on this thread.
  static bool hold(const TF_Tensor* tensor) noexcept {
    for (const LentTensors* at = innermost; at != nullptr; at = at->outer_) {
      if (std::find(at->tensors_, at->tensors_ + at->count_, tensor) != at->tensors_ + at->count_) return true;
    }
    return false;
  }

 private:
  TF_Tensor* const* const tensors_;
  const std::size_t count_;
  const LentTensors* const outer_;

  static constinit thread_local const LentTensors* innermost __attribute__((tls_model("initial-exec")));
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_LENT_TENSORS_H_
