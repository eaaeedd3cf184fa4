// Runs on a thread of their own, which their callers can leave.
//
// A kernel cannot be stopped from outside. A run that must end in time is given to another thread, and its
// caller waits for it no longer than that: it asks the run to stop, gives it a moment, and goes on without
// it if a kernel does not return. The thread keeps all that it needs (plan, session, feeds) until the kernel
// returns, and frees it then; until that time the session refuses the node (docs/explanation/decisions/0070).
#ifndef DRYSTONE_HOST_EXECUTOR_DETACHED_RUN_H_
#define DRYSTONE_HOST_EXECUTOR_DETACHED_RUN_H_

#include "executor/run.h"

namespace drystone::host::executor {

// Whether the run should be one: it has a deadline or may be cancelled, or its caller must be asked from
// time to time and it may take long. Not inside another run, nor where the embedder would be called on a
// thread that it does not expect.
bool runs_detached(const DS_Plan& plan, const DS_RunOptions& options, TF_Tensor* const* feeds);

// DS_RunPlan with checked arguments. False where there is no thread: nothing has run then. `record`: filled
// with a record of the run, unless NULL. Throws Failure.
bool run_detached(DS_Plan& plan, const DS_RunOptions& options, std::string* record,
               TF_Tensor* const* feeds, TF_Tensor** fetches);

// What DS_RunPlan does. Throws Failure.
void run_checked(DS_Plan* plan, const DS_RunOptions* options, TF_Tensor* const* feeds, int num_feeds,
                 TF_Tensor** fetches, int num_fetches);

// Runs a plan on this thread. `stop`: of a run whose caller waits elsewhere, else NULL.
void run_here(DS_Plan& plan, const DS_RunOptions& options, std::string* record,
              TF_Tensor* const* feeds, TF_Tensor** fetches, RunStop* stop);

}  // namespace drystone::host::executor

#endif  // DRYSTONE_HOST_EXECUTOR_DETACHED_RUN_H_
