/* The host's threads, for kernels: one pool for the process, which all sessions and plugins share.
 *
 * A kernel that brings threads of its own competes with it for the cores; one that hands its work to
 * DS_ParallelFor does not. Threads that wait sleep. A drystone interface: TensorFlow has no such
 * functions. Since 1.0.
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

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_THREADS_H_ */
