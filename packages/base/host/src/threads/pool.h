// The process's worker threads: see drystone/threads.h.
#ifndef DRYSTONE_HOST_THREADS_POOL_H_
#define DRYSTONE_HOST_THREADS_POOL_H_

#include <cstdint>

#include "drystone/threads.h"

namespace drystone::host {

// How many threads a loop of this thread could have, were there no ThreadLimit; 1 inside a body.
int free_threads();

// How many of them this thread may use, for a scope.
class ThreadLimit {
 public:
  explicit ThreadLimit(int count) noexcept;  // 0: all
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  int before_;
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_THREADS_POOL_H_
