/* C11's mutexes as those of pthreads, which they are in glibc: ThreadSanitizer sees only the latter. */
#ifndef MUTEXES_OF_PTHREADS_H
#define MUTEXES_OF_PTHREADS_H

#include <pthread.h>
#include <threads.h>

#define mtx_lock(mutex) pthread_mutex_lock((pthread_mutex_t*)(mutex))
#define mtx_unlock(mutex) pthread_mutex_unlock((pthread_mutex_t*)(mutex))

#endif
