// What asynchronous kernels call when they are done.
#ifndef DRYSTONE_HOST_KERNELS_CALLBACKS_H_
#define DRYSTONE_HOST_KERNELS_CALLBACKS_H_

#include <mutex>

#include "drystone/kernels.h"

// Of one call at a time; never freed, so that a plugin that calls twice does no harm.
struct TF_AsyncOpKernelDoneCallback {
  std::mutex mutex;
  TF_OpKernelContext* ctx = nullptr;  // NULL: called already
};

namespace drystone::host::kernels {

// A callback for the context: a new one, or the one that has rested longest.
TF_AsyncOpKernelDoneCallback* take_callback(TF_OpKernelContext* ctx);

// It has been called. Before it is taken again a thousand others are.
void rest_callback(TF_AsyncOpKernelDoneCallback* callback) noexcept;

}  // namespace drystone::host::kernels

#endif  // DRYSTONE_HOST_KERNELS_CALLBACKS_H_
