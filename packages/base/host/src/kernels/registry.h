// Registered kernels.
#ifndef DRYSTONE_HOST_KERNELS_REGISTRY_H_
#define DRYSTONE_HOST_KERNELS_REGISTRY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/memory_guards.h"
#include "drystone/kernels.h"
#include "kernels/definition.h"

namespace drystone::host::kernels {

using Create = void* (*)(TF_OpKernelConstruction*);
using Compute = void (*)(void*, TF_OpKernelContext*);
using ComputeAsync = void (*)(void*, TF_OpKernelContext*, TF_AsyncOpKernelDoneCallback*);
using Delete = void (*)(void*);

struct Registered {
  std::int64_t id = -1;
  Definition definition;
  std::string name;
  std::string library;             // path, or "the host program"
  Create create = nullptr;         // may be NULL
  Compute compute = nullptr;       // exactly one of these two is set
  ComputeAsync compute_async = nullptr;
  Delete destroy = nullptr;        // may be NULL
  bool is_watched = false;         // a plugin's, which may do what a kernel must not
  GuardOwner owner;                // of memory that it is given, where it is watched
  // As atomics: a create, and a compute, left the host's state as it was.
  mutable bool is_clean = false;
  mutable bool computes_clean = false;

  // Whether a call needs nothing around it: a trusted kernel, or one that has left the state as it was.
  bool runs_freely() const { return std::atomic_ref(computes_clean).load(std::memory_order_relaxed) && !is_watched; }
  const GuardOwner* guards() const { return is_watched ? &owner : nullptr; }
};

using RegisteredPtr = std::shared_ptr<const Registered>;

// Adds it under a new id; fails with ALREADY_EXISTS naming both libraries when one is registered
// that no node can tell apart.
RegisteredPtr add(Registered kernel);

// The kernel, or NULL.
RegisteredPtr find(std::int64_t id);

// In order of registration; of one op, or of all.
std::vector<RegisteredPtr> kernels_of(std::string_view op);
std::vector<RegisteredPtr> all_kernels();

// Removes what `library` registered since there were `before` ids: its entry function failed.
void forget_since(std::int64_t before, std::string_view library);
std::int64_t next_id();

// A serialized KernelList of one op's kernels, or of all with NULL.
std::string kernel_list(const char* op);

}  // namespace drystone::host::kernels

#endif  // DRYSTONE_HOST_KERNELS_REGISTRY_H_
