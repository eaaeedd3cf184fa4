// Done callbacks: see kernels/callbacks.h.
#include "kernels/callbacks.h"

#include <deque>
#include <memory>

#include "core/failure.h"

namespace drystone::host::kernels {
namespace {

constexpr std::size_t kResting = 1024;

struct Pool {
  std::mutex mutex;
  std::deque<TF_AsyncOpKernelDoneCallback*> rested;
};

Pool& pool() {
  static auto* only = new Pool();
  return *only;
}

TF_AsyncOpKernelDoneCallback* longest_rested() {
  const std::lock_guard lock(pool().mutex);
  if (pool().rested.size() <= kResting) return nullptr;
  TF_AsyncOpKernelDoneCallback* out = pool().rested.front();
  pool().rested.pop_front();
  return out;
}

}  // namespace

TF_AsyncOpKernelDoneCallback* take_callback(TF_OpKernelContext* ctx) {
  TF_AsyncOpKernelDoneCallback* callback = longest_rested();
  if (callback == nullptr) callback = new TF_AsyncOpKernelDoneCallback();
  const std::lock_guard lock(callback->mutex);
  callback->ctx = ctx;
  return callback;
}

void rest_callback(TF_AsyncOpKernelDoneCallback* callback) noexcept {
  answered(0, [&] {
    const std::lock_guard lock(pool().mutex);
    pool().rested.push_back(callback);
    return 0;
  });
}

}  // namespace drystone::host::kernels
