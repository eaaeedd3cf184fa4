// What functions of drystone/kernel_views.h and its kin have in common.
#ifndef DRYSTONE_HOST_KERNELS_VIEWS_H_
#define DRYSTONE_HOST_KERNELS_VIEWS_H_

#include <new>
#include <utility>

#include "core/memory_limit.h"
#include "drystone/kernel_views.h"
#include "kernels/context.h"

namespace drystone::host::kernels {

// Where the elements are; not NULL without elements, but NULL where they are in a file.
void* data_of(const TF_Tensor& tensor);

// Writes what the caller's struct is long enough for; NULL is accepted.
void show(const TF_Tensor& tensor, DS_View* view);

// Whether the caller gives the input up and no other code has its memory.
bool is_given_up(const TF_OpKernelContext& ctx, std::size_t in);

// Runs the body; what it throws becomes the call's failure.
template <class Body>
TF_Bool tried(TF_OpKernelContext* ctx, Body&& body) noexcept {
  if (ctx == nullptr) return 0;
  try {
    std::forward<Body>(body)();
    return 1;
  } catch (const Failure& failure) {
    ctx->fail_call(failure);
  } catch (const std::bad_alloc&) {
    answered(0, [&] { return ctx->fail_call(no_memory()), 0; });
  } catch (...) {
    ctx->fail_call({TF_INTERNAL, "an exception of unknown type was thrown"});
  }
  return 0;
}

}  // namespace drystone::host::kernels

#endif  // DRYSTONE_HOST_KERNELS_VIEWS_H_
