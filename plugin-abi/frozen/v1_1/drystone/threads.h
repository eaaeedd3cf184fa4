/* The host's threads, for kernels: one pool for the process, which all sessions and plugins share.
 *
 * A kernel that brings threads of its own competes with it for the cores; one that hands its work to
 * DS_ParallelFor does not. Threads that wait look for a tenth of a millisecond, then sleep. A drystone
 * interface: TensorFlow has no such functions. Since 1.0.
 */
#ifndef DRYSTONE_THREADS_H_
#define DRYSTONE_THREADS_H_

#include "drystone/macros.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Work on the items [begin, end). Must not throw. */
typedef void (*DS_RangeBody)(void* argument, int64_t begin, int64_t end);

/* How many threads work on a DS_ParallelFor of this thread at most, the caller among them: at least
 * 1, and 1 inside a body. */
TF_CAPI_EXPORT extern int DS_NumThreads(void);

/* Call `body` for ranges that together are [0, count), each item once, on the caller's thread and
 * others; returns when all are done. `cost`: about how many nanoseconds an item takes (at least 1);
 * work that is too short to share runs on the caller's thread in one piece, and ranges get no shorter
 * than is worth handing on. A body may call DS_ParallelFor, which runs on its own thread then. With
 * count <= 0 nothing happens. Any thread. */
TF_CAPI_EXPORT extern void DS_ParallelFor(int64_t count, int64_t cost, DS_RangeBody body,
                                          void* argument);

/* The same with ranges that begin at multiples of `grain` and are of `grain` items each (the last may
 * be shorter): for work that is already cut into pieces. */
TF_CAPI_EXPORT extern void DS_ParallelForGrain(int64_t count, int64_t grain, DS_RangeBody body,
                                               void* argument);

/* The same in two halves, for a library whose compiler calls the caller's share itself, as OpenMP's do:
 * from Begin on, others may run `body` for the items [1, count), one each; the caller does item 0 itself,
 * then calls End, which runs what has not begun and waits for the rest. Both on one thread, on which
 * loops in between run alone. `storage` is the caller's, for as long. */
typedef struct DS_ParallelStorage {
  void* words[24];
} DS_ParallelStorage;
TF_CAPI_EXPORT extern void DS_BeginParallel(DS_ParallelStorage* storage, int64_t count, DS_RangeBody body,
                                            void* argument);
TF_CAPI_EXPORT extern void DS_EndParallel(DS_ParallelStorage* storage);

/* Not 0 when the run that this thread's kernel works for is over: it was cancelled, interrupted, or its
 * time has passed. A kernel that may take longer than a tenth of a second looks from time to time, some
 * hundred times a second, also in bodies, and then returns with a failure of its choice (CANCELLED):
 * its outputs are dropped, and the run says what has ended it. A kernel that does not look is left
 * behind: its thread goes on, and the session refuses the node until it has returned. It costs a load,
 * and now and then a question to the embedder. 0 outside of kernels. */
TF_CAPI_EXPORT extern int DS_ShouldStop(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_THREADS_H_ */
