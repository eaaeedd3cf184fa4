// Feeds as kernels take them: what was lent is copied first (DS_NewFeed).
#ifndef DRYSTONE_HOST_EXECUTOR_OWN_FEEDS_H_
#define DRYSTONE_HOST_EXECUTOR_OWN_FEEDS_H_

#include <vector>

#include "executor/run_stop.h"
#include "executor/value.h"

namespace drystone::host::executor {

// For the scope of a run. A feed of a gigabyte takes a second to copy, so that is part of the run, which has a
// deadline, and not of what its caller does before.
class OwnFeeds {
 public:
  // Fails with what ends the run, while it copies. `stop`: NULL where nothing ends it.
  OwnFeeds(TF_Tensor* const* feeds, std::int32_t count, RunStop* stop) : feeds_(feeds) {
    for (std::int32_t k = 0; k < count; ++k) {
      if (!feeds[k]->memory->lent) [[likely]] continue;
      copy(count, stop);
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
  void copy(std::int32_t count, RunStop* stop);
  void drop_own() noexcept;

  TF_Tensor* const* feeds_;
  std::vector<TF_Tensor*> own_;
};

}  // namespace drystone::host::executor

#endif  // DRYSTONE_HOST_EXECUTOR_OWN_FEEDS_H_
