// The OpenMP that oneDNN's library gets: as much of GNU's interface as it calls, on the host's threads.
//
// GNU's own has threads that no other code can use: one that a busy machine has taken off its core is waited
// for, a process that gets no thread is ended, a forked child waits for ever. Here each thread of a team is a
// piece of a loop of the host's: the thread that comes takes the next one, so that all get done without any helper
// (decision 0071). The library's names are changed when it is put beside ours (rename_omp.py), so that
// it never meets another OpenMP of the process.
#ifndef DRYSTONE_CPU_OMP_OMP_H_
#define DRYSTONE_CPU_OMP_OMP_H_

extern "C" {

// How many threads this thread's teams have.
void drystone_omp_set_threads(int count);
int drystone_omp_threads(void);

// Teams of this thread, from now on: pieces that anyone may take one after another (0), or threads that wait
// for one another (1), which some of oneDNN's primitives need.
void drystone_omp_set_gang(int is_gang);
// Whether there are the threads for such a team; they stay.
int drystone_omp_has_gang(int count);

// Whether it is watched, from now on, if this thread and its teams raise the processor's flag of invalid
// operations: each thread has its own, and any may take a piece.
void drystone_omp_watch(int is_on);
// Whether one did, since it was asked last. Processors without such a flag: yes.
int drystone_omp_saw_invalid(void);

}  // extern "C"

#endif  // DRYSTONE_CPU_OMP_OMP_H_
