// Feeds as kernels take them: what was lent is copied first (DS_NewFeed), and what lies on a device where the host needs it.
#ifndef DRYSTONE_HOST_EXECUTOR_OWN_FEEDS_H_
#define DRYSTONE_HOST_EXECUTOR_OWN_FEEDS_H_

#include <vector>

#include "executor/plan.h"
#include "executor/run_stop.h"
#include "executor/value.h"

namespace drystone::host::executor {

// For the scope of a run. A feed of a gigabyte takes a second to copy, so that is part of the run, which has a
// deadline, and not of what its caller does before.
class OwnFeeds {
 public:
  // Fails with what ends the run, while it copies. `stop`: NULL where nothing ends it.
  OwnFeeds(TF_Tensor* const* feeds, const Block& block, RunStop* stop) : feeds_(feeds) {
    for (std::int32_t k = 0; k < block.feeds; ++k) {
      if (!feeds[k]->memory->lent && feeds[k]->memory->device == 0) [[likely]] continue;
      copy(block, stop);
      break;
    }
  }
  ~OwnFeeds() {
    if (!own_.empty()) [[unlikely]] drop_own();
  }
  OwnFeeds(const OwnFeeds&) = delete;
  OwnFeeds& operator=(const OwnFeeds&) = delete;

  TF_Tensor* const* data() const { return feeds_; }

 private:
  void copy(const Block& block, RunStop* stop);
  void drop_own() noexcept;

  TF_Tensor* const* feeds_;
  std::vector<TF_Tensor*> own_;
};

}  // namespace drystone::host::executor

#endif  // DRYSTONE_HOST_EXECUTOR_OWN_FEEDS_H_
